"""A difference, field by field, in the words that every page uses."""

from dataclasses import replace
from typing import Any

from chief_project.web.change_words import codes, listed, phrases, what_changed
from chief_project.web.differences import (
    Entry,
    Line,
    changed_label,
    changed_rows,
    entries_of,
    step_rows,
    text_of,
)
from workflows.domain.changes import KINDS
from workflows.domain.diff import plan_diff, step_document
from workflows.domain.plan import Criterion, Field, Group, InstanceParam, Plan, Step

A = Step("a", "task", "Do a", "x", criteria=(Criterion("c1", "It is fast"), Criterion("c2", "It is small")))


def changed(**changes: Any) -> dict[str, Any]:
    """The fields of ``a`` that differ when it becomes so."""
    fields: dict[str, Any] = plan_diff(Plan((A,)), Plan((replace(A, **changes),)))["changed"][0]["fields"]
    return fields


def lines(**changes: Any) -> list[Line]:
    return [line for row in changed_rows(changed(**changes)) for line in row.lines]


def entries(before: list[Step], after: list[Step], **keys: Any) -> list[Entry]:
    titles = {name: keys.pop(name) for name in ("title_before", "title_after") if name in keys}
    return entries_of(plan_diff(Plan(tuple(before)), Plan(tuple(after)), **titles), **keys)


def test_every_kind_of_change_has_its_words_for_one_and_for_many() -> None:
    one = [each.text for each in phrases(dict.fromkeys(KINDS, 1))]
    many = [each.text for each in phrases(dict.fromkeys(KINDS, 2))]
    assert len(set(one)) == len(set(many)) == len(KINDS)
    assert one[0] == "1 step added"
    assert many[1] == "2 steps removed"
    assert [each.look for each in phrases({"steps_added": 1, "steps_removed": 1, "goals": 1})] == [
        "add",
        "del",
        "",
    ]


def test_a_text_changes_word_by_word() -> None:
    (line,) = lines(goal="Do a well")
    assert (line.mark, line.words) == ("~", [["=", "Do a"], ["+", " well"]])


def test_ids_come_go_and_stay() -> None:
    found = lines(depends_on=("b",))
    assert [(each.mark, each.ids) for each in found] == [("+", ("b",))]
    before = replace(A, depends_on=("b", "c"))
    fields = plan_diff(Plan((before,)), Plan((replace(A, depends_on=("c", "d")),)))["changed"][0]["fields"]
    told = [(each.mark, each.ids) for row in changed_rows(fields) for each in row.lines]
    assert told == [("=", ("c",)), ("-", ("b",)), ("+", ("d",))]


def test_many_ids_that_stay_are_counted() -> None:
    ids = tuple(f"s{number}" for number in range(12))
    fields = plan_diff(Plan((replace(A, depends_on=ids),)), Plan((replace(A, depends_on=(*ids, "new")),)))[
        "changed"
    ][0]["fields"]
    stays = changed_rows(fields)[0].lines[0]
    assert (len(stays.ids), stays.text) == (8, "and 4 more")


def test_criteria_are_told_one_by_one() -> None:
    found = lines(
        criteria=(Criterion("c1", "It is fast"), Criterion("c2", "It is tiny"), Criterion("c3", "It lasts"))
    )
    assert [(each.mark, each.name, each.text) for each in found] == [
        ("=", "", "c1 stays as it was"),
        ("~", "c2", ""),
        ("+", "c3", "It lasts"),
    ]


def test_criteria_in_another_order_are_told_as_such() -> None:
    (line,) = lines(criteria=(Criterion("c1", "It is small"), Criterion("c2", "It is fast")))
    assert line.text == "c1, c2 are the same in another order"


def test_inputs_are_told_key_by_key() -> None:
    before = replace(A, inputs={"keep": 1, "turn": "old words", "go": [1]})
    after = replace(A, inputs={"keep": 1, "turn": "new words", "come": True})
    fields = plan_diff(Plan((before,)), Plan((after,)))["changed"][0]["fields"]
    (row,) = changed_rows(fields)
    assert [(each.mark, each.name, each.text) for each in row.lines] == [
        ("~", "turn", ""),
        ("+", "come", "true"),
        ("-", "go", "[1]"),
        ("=", "", "1 other stays as it was"),
    ]
    assert text_of("as it is") == "as it is"


def test_fields_and_parameters_are_told_by_name() -> None:
    (line,) = lines(fields=(Field("why", "Why", "In a sentence", required=False),))
    assert (line.mark, line.name, line.text) == ("+", "why", "Why · In a sentence · optional")
    (line,) = lines(instance_params=(InstanceParam("region", "Where"),))
    assert (line.name, line.text) == ("region", "Where")


def test_a_change_is_called_by_what_changed() -> None:
    assert changed_label(changed(goal="More")) == "Goal reworded"
    assert changed_label(changed(depends_on=("b",))) == "Rewired"
    assert changed_label(changed(goal="More", depends_on=("b",))) == "Goal, dependencies changed"
    assert changed_label(changed(criteria=A.criteria[:1])) == "Criterion removed"
    assert (
        changed_label(changed(criteria=(*A.criteria, Criterion("c3", "x"), Criterion("c4", "y"))))
        == "Criteria added"
    )
    assert changed_label(changed(goal="x", harness="y", group="z", exit_when="w")) == "Step changed"


def test_a_new_step_tells_everything_it_says() -> None:
    step = Step(
        "l", "loop", "Again", "x", depends_on=("a",), body=("b",), on_instance_failure="continue",
        exit_when="done", inputs={"k": "v"}, group="g",
    )  # fmt: skip
    told = {
        str(row.label): [line.text or ", ".join(line.ids) for line in row.lines]
        for row in step_rows(step_document(step), "+", then=("z",))
    }
    assert told == {
        "Goal": ["Again"],
        "Type": ["Loop"],
        "Waits for": ["a"],
        "Then": ["z"],
        "Done by": ["x"],
        "Again until": ["done"],
        "If one fails": ["the others go on"],
        "Group": ["g"],
        "Body": ["b"],
        "Inputs": ["v"],
    }
    assert step_rows(step_document(A), "+", then=())[1].lines[0].text == "nothing waits for it"


def test_places_come_with_links_and_with_what_was_said() -> None:
    note = {"body": "Why?"}
    found = entries(
        [A, Step("gone", "task", "Go")],
        [replace(A, goal="More"), Step("new", "task", "Come")],
        title_before="Old",
        title_after="New",
        link=lambda step_id: f"/{step_id}",
        notes={"a": [note], "gone": [note]},
    )
    assert [(each.look, each.step_id, each.href, len(each.notes)) for each in found] == [
        ("mod", "", "", 0),
        ("mod", "a", "/a", 1),
        ("add", "new", "/new", 0),
        ("del", "gone", "", 1),
    ]


def test_groups_are_one_place() -> None:
    diff = plan_diff(
        Plan((A,), (Group("g", "One"), Group("h"))), Plan((A,), (Group("g", "Two"), Group("i", "I")))
    )
    (entry,) = entries_of(diff)
    assert [(line.mark, line.name) for line in entry.rows[0].lines] == [("+", "i"), ("~", "g"), ("-", "h")]


def test_lists_in_sentences_escape_what_is_not_safe() -> None:
    assert listed([]) == ""
    assert listed(["<b>"]) == "&lt;b&gt;"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert codes(["a", "b"]) == '<code class="id">a</code> and <code class="id">b</code>'
    assert what_changed(["goal", "criteria"]) == "the goal and the criteria"
