"""A plan as a form: nothing is lost on the way, nothing is left out, and buttons do what they say."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chief_project.shared.errors import TooLarge, ValidationFailed
from chief_project.web import plan_form as forms
from chief_project.web.plan_form import Document
from tests.plans import checkpoint, loop, parallel, task
from tests.web.plan_documents import TEXT, plans, sent
from workflows.documents import WorkflowCreate
from workflows.domain.plan import Plan
from workflows.domain.rules import Problem, problems

INPUTS = Path(__file__).parents[3] / "shared" / "inputs"
REAL = sorted(INPUTS.glob("*.plan.json"))


RANDOM = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def doc(*steps: dict[str, Any], **keys: Any) -> Document:
    return {"title": "A plan", "steps": list(steps), "groups": []} | keys


def read(document: dict[str, Any]) -> tuple[str, Plan]:
    body = WorkflowCreate.model_validate({"source": "human"} | document)
    return body.title, body.plan()


def ids(document: Document) -> list[str]:
    return [line.id for line in forms.lines(document)]


def edited(document: Document, place: int = 0, **typed: str) -> Document:
    """The document after someone typed into the open step's fields; ``_`` in names stands for the dots."""
    data = sent(forms.step_form(document, place)) | {
        f"s.{name.replace('__', '.')}": text for name, text in typed.items()
    }
    return forms.read_step(document, place, data)


# -- Nothing is lost -------------------------------------------------------------------------------


@RANDOM
@given(plans())
def test_a_form_that_nobody_touched_changes_nothing(plan: dict[str, Any]) -> None:
    assert not problems(read(plan)[1])
    document = forms.document_of(plan)
    assert read(document) == read(plan), "bare, it says the same"
    for place in range(len(document["steps"])):
        assert forms.read_step(document, place, sent(forms.step_form(document, place))) == document
    assert forms.read_plan(document, sent(forms.plan_form(document))) == document


@RANDOM
@given(plans())
def test_whatever_a_plan_can_say_can_be_typed(plan: dict[str, Any]) -> None:
    """Into blank forms; a browser makes all line ends alike."""
    wanted = json.loads(json.dumps(forms.document_of(plan)).replace("\\r\\n", "\\n").replace("\\r", "\\n"))
    blank = doc(*({"id": step["id"], "type": "task", "goal": "?"} for step in wanted["steps"]))
    typed = blank
    for place, step in enumerate(wanted["steps"]):
        for name in (*forms.ROWS, *forms.OBJECTS):
            for _ in step.get(name, []):
                typed = forms.add_row(typed, place, name)
        data = sent(forms.step_form(wanted, place))
        data.pop("s.inside")
        typed = forms.read_step(typed, place, data)
    for _ in wanted["groups"]:
        typed = forms.add_row(typed, None, "groups")
    typed = forms.read_plan(typed, sent(forms.plan_form(wanted)))
    title, made = read(typed)
    expected_title, expected = read(wanted)
    assert title == expected_title
    assert _blank_is_nothing(made) == _blank_is_nothing(expected)


def _blank_is_nothing(plan: Plan) -> str:
    """A form can't tell a blank text from none where none is allowed; nothing else may differ."""
    return repr(plan).replace("=''", "=None")


@RANDOM
@given(plans())
def test_forms_and_json_turn_into_each_other(plan: dict[str, Any]) -> None:
    document = forms.document_of(plan)
    for indent in (2, None):
        again = forms.read_json(forms.json_text(document, indent=indent))
        assert again == document
        assert repr(again) == repr(document), "1 is not 1.0, and keys keep their order"


@pytest.mark.skipif(not REAL, reason="the real plans are not here")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_plans_pass_through_forms_unharmed(path: Path) -> None:
    given = json.loads(path.read_bytes())
    document = {"title": given["title"], "steps": given["steps"], "groups": given.get("groups", [])}
    for place in range(0, len(document["steps"]), 50):
        form = forms.step_form(document, place)
        assert len(list(form.data())) < 200
        assert forms.read_step(document, place, sent(form)) == document
    assert sorted(line.place for line in forms.lines(document)) == list(range(len(document["steps"])))
    assert forms.read_json(forms.json_text(document)) == document


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b", "c"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "text", "id", "x"]), inner)
    ),
    max_leaves=4,
)
KEYS = [
    "id",
    "type",
    "goal",
    "depends_on",
    "inputs",
    "criteria",
    "body",
    "fields",
    "instance_params",
    "group",
    "foo",
]


@RANDOM
@given(
    st.lists(
        st.dictionaries(st.sampled_from(KEYS), ANYTHING | st.sampled_from(["loop", "task"])),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_what_is_no_plan_is_shown_and_kept_all_the_same(
    steps: list[dict[str, Any]], data: st.DataObject
) -> None:
    document = doc(*steps)
    assert forms.obstacle(document) is None
    place = data.draw(st.sampled_from(range(len(steps))))
    assert forms.read_step(document, place, sent(forms.step_form(document, place))) == document
    assert sorted(line.place for line in forms.lines(document)) == list(range(len(steps)))
    for above in (True, False):
        made, at = forms.add_step(document, place, above=above)
        assert made["steps"][at]["goal"] == ""
        moved, to = forms.move_step(document, place, up=above)
        assert len(moved["steps"]) == len(steps)
        assert 0 <= to < len(steps)
    rest, _ = forms.remove_step(document, place)
    assert len(rest["steps"]) == len(steps) - 1
    forms.choices(document, place)
    forms.dependents(document, place)
    forms.without_blank_rows(document)


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ("x", ""),
        ({"steps": 5}, "/steps"),
        ({"steps": [{}, 5]}, "/steps/1"),
        ({"groups": "x"}, "/groups"),
    ],
)
def test_what_forms_cannot_show_says_where(document: Any, pointer: str) -> None:
    found = forms.obstacle(document)
    assert found is not None
    assert found.pointer == pointer


# -- Typing ----------------------------------------------------------------------------------------


def test_a_text_that_should_be_json_stays_as_it_was_typed() -> None:
    typed = edited(doc(task("a", inputs="no object")), inputs__json='{"x": 1,')
    assert typed["steps"][0]["inputs"] == '{"x": 1,'
    shown = forms.step_form(typed, 0).lists["inputs"].json
    assert shown is not None
    assert shown.value == '{"x": 1,'
    assert edited(typed, inputs__json='{"x": 1, "y": [true]}')["steps"][0]["inputs"] == {"x": 1, "y": [True]}
    assert "inputs" not in edited(typed, inputs__json="  ")["steps"][0]
    twice = edited(typed, inputs__json='{"x": 1, "x": 2}')
    assert twice["steps"][0]["inputs"] == '{"x": 1, "x": 2}', "a key that stands twice is not swallowed"


# -- Inputs and outputs ----------------------------------------------------------------------------


def rows(document: Document, name: str = "inputs") -> list[tuple[str, str, str]]:
    """What a step's form shows of an object: name, kind and value of each row."""
    shown = forms.step_form(document, 0).lists[name]
    assert shown.json is None
    return [(row["name"].value, row["kind"].value, row["value"].value) for row in shown.rows]


def entry(kind: str, value: str, name: str = "x", document: Document | None = None) -> Any:
    """What becomes of a row that is added and filled in."""
    added = forms.add_row(document or doc(task("a")), 0, "inputs")
    last = len(added["steps"][0]["inputs"]) - 1
    cells = {"name": name, "kind": kind, "value": value}
    typed = edited(added, **{f"inputs__{last}__{column}": text for column, text in cells.items()})
    return typed["steps"][0]["inputs"]


def said_of(inputs: Any) -> list[tuple[str, str]]:
    found = forms.row_problems(doc(task("a", inputs=inputs)))
    return [(each.pointer.removeprefix("/steps/0/inputs/"), each.message) for each in found]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "1.0",
        "true",
        "null",
        '"x"',
        "[1]",
        '{"a": 1}',
        " around ",
        "two\nlines",
        "Größe 🙂",
        "{{ x }}",
    ],
)
def test_a_text_is_what_is_written_whatever_it_looks_like(text: str) -> None:
    assert entry("text", text) == {"x": text}
    assert rows(doc(task("a", inputs={"x": text}))) == [("x", "text", text)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5), ("1.0", 1.0), ("1e22", 1e22), (str(10**30), 10**30), ("-0.0", -0.0), ("true", True), ("false", False),
        ("null", None), ("[]", []), ("{}", {}), ('""', ""), ('"text"', "text"), (' [1, {"a": [null]}]\n', [1, {"a": [None]}]),
        ('{"__proto__": {"x": 1}}', {"__proto__": {"x": 1}}), ('"old\\r\\nends"', "old\r\nends"),
    ],
)  # fmt: skip
def test_all_else_is_json(written: str, value: Any) -> None:
    assert repr(entry("json", written)) == repr({"x": value})


@pytest.mark.parametrize("name", ["__proto__", "constructor", " spaced ", "Ä/ö~1.0-x", "a.b", "0", "5", "🙂"])
def test_any_name_will_do(name: str) -> None:
    assert entry("text", "said", name) == {name: "said"}
    assert rows(doc(task("a", inputs={name: [1]}))) == [(name, "json", "[1]")]


def test_entries_keep_their_order_and_what_was_not_touched_its_exact_value() -> None:
    inputs = {"z": 1.0, "b": "old\r\nends", "a": 10**30, "c": 1e22, "": {"": ""}}
    document = doc(task("a", inputs=inputs))
    typed = edited(document, inputs__2__name="renamed", outputs="")["steps"][0]["inputs"]
    assert repr(typed) == repr({"z": 1.0, "b": "old\r\nends", "renamed": 10**30, "c": 1e22, "": {"": ""}}), (
        "the first and the last among them"
    )
    typed = edited(document, inputs__0__value="1")["steps"][0]["inputs"]
    assert repr(typed["z"]) == "1", "1 is not 1.0"
    typed = edited(doc(task("a", inputs={"x": 1})), inputs__0__value="true")["steps"][0]["inputs"]
    assert typed["x"] is True


def test_a_value_changes_its_kind() -> None:
    document = doc(task("a", inputs={"n": 5, "t": "[1]"}))
    typed = edited(document, inputs__0__kind="text", inputs__1__kind="json")
    assert typed["steps"][0]["inputs"] == {"n": "5", "t": [1]}


def test_a_name_that_stands_twice_is_kept_and_refused_at_its_row() -> None:
    inputs = entry("text", "again", document=doc(task("a", inputs={"x": "first", "y": 2})))
    assert said_of(inputs) == [("2/name", "the name 'x' stands twice: keep one")]
    document = doc(task("a", inputs=inputs))
    assert rows(document) == [("x", "text", "first"), ("y", "json", "2"), ("x", "text", "again")]
    mended = edited(document, inputs__2__name="z")["steps"][0]["inputs"]
    assert mended == {"x": "first", "y": 2, "z": "again"}
    assert list(mended) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("words", "not JSON"), ("{'a': 1}", "not JSON"), ("[1,]", "not JSON"), ("NaN", "not JSON"), ("1e999", "too large"),
        ('{"a": 1, "a": 2}', "stands twice"), ('"\\u0000"', "NUL"), ('"\\ud800"', "surrogate"), ("[" * 70, "nested"),
        ("[" * 61 + "]" * 61, "nested"), ("9" * 5000, "too many digits"), ("", "must not be blank"), (" ", "must not be blank"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_kept_and_refused_at_its_row(written: str, told: str) -> None:
    inputs = entry("json", written)
    ((where, message),) = said_of(inputs)
    assert where == "0/value"
    assert told in message
    document = doc(task("a", inputs=inputs))
    assert rows(document) == [("x", "json", written)]
    assert edited(document, inputs__0__kind="text")["steps"][0]["inputs"] == {"x": written}


def test_a_value_as_deep_as_a_body_may_be_is_taken() -> None:
    document = doc(task("a", inputs=entry("json", "[" * 60 + "]" * 60)))
    assert forms.unpacked(forms.packed(document)) == document


def test_a_text_needs_a_name_and_an_empty_one_is_meant_where_it_has_json() -> None:
    assert said_of(entry("text", "said", "")) == [("0/name", "must not be blank: give it a name")]
    assert entry("json", '"said"', "") == {"": "said"}
    assert rows(doc(task("a", inputs={"": "said"}))) == [("", "json", '"said"')]


def test_blank_rows_and_dropped_ones_leave_an_object() -> None:
    document = forms.add_row(doc(task("a", inputs={"x": 1})), 0, "inputs")
    assert not said_of(document["steps"][0]["inputs"]), "a row that nobody filled in yet is no problem"
    assert forms.without_blank_rows(document) == doc(task("a", inputs={"x": 1}))
    assert forms.drop_row(document, 0, "inputs", 1) == doc(task("a", inputs={"x": 1}))
    emptied = edited(forms.drop_row(doc(task("a", inputs={"x": 1})), 0, "inputs", 0))
    assert not emptied["steps"][0].get("inputs")
    assert not forms.without_blank_rows(forms.add_row(doc(task("a")), 0, "outputs"))["steps"][0]["outputs"]


def test_what_is_no_object_or_too_large_for_rows_is_shown_as_json() -> None:
    large = {f"n{at}": at for at in range(forms.MOST_ENTRIES + 1)}
    for value in (large, "text", 5, [], [1], [{"name": "x", "kind": "other", "value": ""}]):
        document = doc(task("a", outputs=value))
        shown = forms.step_form(document, 0).lists["outputs"]
        assert shown.json is not None
        assert edited(document) == document
        assert edited(document, outputs__json='{"x": "y"}')["steps"][0]["outputs"] == {"x": "y"}
    full = doc(task("a", outputs=dict(list(large.items())[:-1])))
    assert forms.step_form(full, 0).lists["outputs"].full


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(TEXT | st.sampled_from(["__proto__", "0", "a.b", "a/b", "a-b"]), ANY_JSON, max_size=6))
def test_any_object_passes_through_rows_unharmed(inputs: dict[str, Any]) -> None:
    document = doc(task("a", inputs=inputs))
    assert repr(edited(document)) == repr(document), "nobody touched it"
    again = forms.unpacked(forms.packed(document))
    assert repr(again) == repr(document)
    renamed = edited(document, inputs__0__name="another")["steps"][0].get("inputs", {})
    if inputs and isinstance(renamed, dict):  # two alike stay rows
        assert repr(list(renamed.values())) == repr(list(inputs.values())), (
            "an edited row leaves the others alone"
        )


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(TEXT.filter(lambda name: "\r" not in name), ANY_JSON, max_size=6))
def test_any_object_can_be_typed(inputs: dict[str, Any]) -> None:
    """Row by row; a text that a browser would change (it makes all line ends alike) is typed as JSON."""
    document = doc(task("a"))
    for name, value in inputs.items():
        plain = isinstance(value, str) and name and "\r" not in value
        kind, written = ("text", value) if plain else ("json", forms.json_text(value))
        typed = entry(kind, written.replace("\n", "\r\n"), name, document)
        assert not said_of(typed)
        document = doc(task("a", inputs=typed))
    assert repr(document["steps"][0].get("inputs", {})) == repr(inputs)


ROW = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["", "x", "y"]),
        "kind": st.sampled_from(["text", "json"]),
        "value": st.sampled_from(["", "1", "{", "x"]),
    }
)


@RANDOM
@given(st.lists(ROW, min_size=1, max_size=4))
def test_rows_that_are_no_object_yet_stay_as_they_were_typed(typed: list[dict[str, str]]) -> None:
    document = doc(task("a", inputs=typed))
    assert edited(document) == document
    saved = forms.without_blank_rows(document)["steps"][0]["inputs"]
    filled = [row for row in typed if row["name"] or row["value"]]
    if said_of(typed):
        assert saved == filled, "nothing typed is dropped, nothing is made up"
    else:
        assert list(saved) == [row["name"] for row in filled]


def test_a_new_id_is_followed_wherever_the_old_one_was_named() -> None:
    document = doc(task("a"), task("b", depends_on=["a"]), loop("l", ["c"], depends_on=["a"]), task("c"))
    typed = edited(document, id=" first ")
    assert [step.get("depends_on", []) for step in typed["steps"]] == [[], ["first"], ["first"], []]
    assert edited(document, 3, id="inner")["steps"][2]["body"] == ["inner"]


def test_an_id_that_another_step_has_is_not_followed() -> None:
    document = doc(task("a"), task("b", depends_on=["a"]), task("c"))
    assert edited(document, id="c")["steps"][1]["depends_on"] == ["a"]


def test_ids_are_read_one_a_line_or_with_commas_and_one_more_can_be_named() -> None:
    document = doc(task("a"), task("b"), task("c"), task("d"))
    typed = edited(document, 3, depends_on="a, b\r\n\r\n", depends_on__add=" c ")
    assert typed["steps"][3]["depends_on"] == ["a", "b", "c"]
    assert "depends_on" not in edited(typed, 3, depends_on="")["steps"][3]


def test_a_checkpoint_is_for_a_person_and_a_task_has_no_failure_rule() -> None:
    made = edited(doc(task("a", harness="codex")), type="checkpoint")["steps"][0]
    assert made["harness"] == "human"
    made = edited(doc(loop("l", ["a"], on_instance_failure="continue"), task("a")), type="task")["steps"][0]
    assert "on_instance_failure" not in made
    assert made["body"] == ["a"], "what somebody wrote stays, for them to take out"


def test_rows_are_added_filled_in_and_dropped() -> None:
    document = forms.add_row(doc(checkpoint("a", fields=[{"name": "why"}])), 0, "fields")
    typed = edited(document, fields__1__name="when", fields__1__hint="a date", fields__1__required="no")
    assert typed["steps"][0]["fields"] == [
        {"name": "why"},
        {"name": "when", "hint": "a date", "required": False},
    ]
    assert forms.drop_row(typed, 0, "fields", 0)["steps"][0]["fields"][0]["name"] == "when"
    groups = forms.add_row(doc(), None, "groups")
    assert groups["groups"] == [{"path": ""}]


def test_rows_that_were_never_filled_in_are_not_saved() -> None:
    document = forms.add_row(
        forms.add_row(doc(task("a", criteria=["it holds"])), 0, "criteria"), None, "groups"
    )
    assert list(forms.blank_rows(document)) == ["/steps/0/criteria/1", "/groups/0"]
    kept = forms.without_blank_rows(document)
    assert kept["steps"][0]["criteria"] == ["it holds"]
    assert kept["groups"] == []


def test_a_list_longer_than_a_form_should_be_is_shown_as_json() -> None:
    document = doc(task("a", criteria=[f"c {at}" for at in range(forms.MOST_ROWS + 1)]))
    rows = forms.step_form(document, 0).lists["criteria"]
    assert not rows.rows
    assert rows.json is not None
    typed = edited(document, criteria__json='["one"]')
    assert typed["steps"][0]["criteria"] == ["one"]


# -- Buttons ---------------------------------------------------------------------------------------


def test_a_step_is_added_beside_another_in_the_same_body_and_counts_on() -> None:
    document = doc(task("s_01"), loop("l", ["s_02", "s_03"]), task("s_02", harness="codex"), task("s_03"))
    below, at = forms.add_step(document, 2)
    assert below["steps"][at] == {"id": "s_04", "type": "task", "goal": "", "harness": "codex"}
    assert ids(below) == ["s_01", "l", "s_02", "s_04", "s_03"]
    above, at = forms.add_step(document, 0, above=True)
    assert (at, ids(above)[0]) == (0, "s_04")
    _, at = forms.add_step(document, None)
    assert at == 4
    assert forms.add_step(doc(), None) == (doc({"id": "step_01", "type": "task", "goal": ""}), 0)


def test_a_removed_step_leaves_the_order_of_the_rest_as_it_was() -> None:
    document = doc(
        task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b", "a"]), task("d", depends_on=["b"])
    )
    rest, gone = forms.remove_step(document, 1)
    assert [step.get("depends_on", []) for step in rest["steps"]] == [[], ["a"], ["a"]]
    assert gone == forms.Removal("b", ("c", "d"))
    assert not problems(read(rest)[1])


def test_the_body_of_a_removed_construct_stands_where_it_stood() -> None:
    document = doc(loop("l", ["p", "z"]), parallel("p", ["a", "b"]), task("a"), task("b"), task("z"))
    rest, gone = forms.remove_step(document, 1)
    assert rest["steps"][0]["body"] == ["a", "b", "z"]
    assert gone.freed == ("a", "b")
    rest, _ = forms.remove_step(document, 0)
    assert ids(rest) == ["p", "a", "b", "z"]


def test_one_of_two_steps_with_the_same_id_goes_alone() -> None:
    rest, _ = forms.remove_step(doc(task("a"), task("a"), task("b", depends_on=["a"])), 1)
    assert rest["steps"][1]["depends_on"] == ["a"]


def test_steps_move_among_those_of_their_own_body() -> None:
    document = doc(task("a"), loop("l", ["x", "y"]), task("x"), task("y"), task("b"))
    moved, at = forms.move_step(document, 4, up=True)
    assert ids(moved) == ["a", "b", "l", "x", "y"]
    assert moved["steps"][at]["id"] == "b"
    moved, at = forms.move_step(document, 2, up=False)
    assert ids(moved) == ["a", "l", "y", "x", "b"]
    assert at == 2
    assert forms.move_step(document, 0, up=True) == (document, 0)
    assert forms.move_step(document, 4, up=False) == (document, 4)


def test_a_step_is_put_into_a_body_and_taken_out_again() -> None:
    document = doc(task("a"), loop("l", ["x"]), task("x"))
    inside = edited(document, 0, inside="l")
    assert inside["steps"][1]["body"] == ["x", "a"]
    assert edited(inside, 0, inside="") == document


def test_only_what_keeps_the_rules_is_offered() -> None:
    document = doc(
        task("a"),
        task("b", depends_on=["a"]),
        loop("l", ["x", "m"]),
        task("x"),
        loop("m", ["y"]),
        task("y"),
        task("c"),
    )
    told = forms.choices(document, 1)
    assert [step_id for step_id, _ in told.needs] == ["l", "c"]
    assert [step_id for step_id, _ in told.around] == ["l", "m"]
    told = forms.choices(document, 4)
    assert [step_id for step_id, _ in told.needs] == ["x"]
    assert [step_id for step_id, _ in told.members] == ["a", "b", "c"]
    assert [step_id for step_id, _ in told.around] == ["l"]
    assert [step_id for step_id, _ in forms.choices(document, 2).around] == [], (
        "nothing stands inside its own body"
    )
    assert forms.dependents(document, 0) == ["b"]


# -- Long plans ------------------------------------------------------------------------------------


def many(count: int, **keys: Any) -> Document:
    return doc(*(task(f"s{at:04}", **keys) for at in range(count)))


def told_of(document: Document, place: int | None = None, **more: Any) -> Any:
    return forms.listed(forms.lines(document), place, **more)


def test_a_short_list_is_shown_whole() -> None:
    document = many(forms.MOST_LINES)
    shown = told_of(document, 3)
    assert [line.place for line in shown.lines] == list(range(forms.MOST_LINES))
    assert (shown.before, shown.after) == (None, None)


def test_parts_of_a_long_list_are_every_step_once_and_stand_still() -> None:
    document = many(forms.MOST_LINES + 50)
    seen: list[int] = []
    at: int | None = 0
    while at is not None:
        part = told_of(document, begin=at)
        assert len(part.lines) <= forms.PART
        assert (part.begin, part.end) == (at + 1, at + len(part.lines))
        for line in part.lines:
            assert told_of(document, line.place).lines == part.lines, "opening a step of a part moves nothing"
        seen += [line.place for line in part.lines]
        at = part.after
    assert seen == list(range(forms.MOST_LINES + 50))
    assert told_of(document, begin=100).before == 0
    for wrong in (-1, 10**9):
        assert told_of(document, begin=wrong).begin == 1


def test_a_part_begins_with_the_constructs_around_it_and_closes_its_lists() -> None:
    inner = [f"i{at}" for at in range(150)]
    document = doc(
        task("first"),
        loop("outer", ["inner", "last"]),
        parallel("inner", inner),
        *map(task, inner),
        task("last"),
    )
    document["steps"] += [task(f"t{at}") for at in range(100)]
    part = told_of(document, begin=100)
    assert [(line.id, line.depth) for line in part.lines[:3]] == [("outer", 0), ("inner", 1), ("i97", 2)]
    assert [line.id for line in part.lines if line.id.startswith("t")] == [f"t{at}" for at in range(46)]
    for begin in (0, 100, 200):
        shown = told_of(document, begin=begin).lines
        assert sum(line.opens for line in shown) == sum(line.closes for line in shown), "lists are closed"
        assert all(line.opens == (after.depth > line.depth) for line, after in pairwise(shown))


def test_steps_are_found_by_id_and_goal() -> None:
    document = many(300, goal="Align")
    document["steps"][250]["goal"] = "Merge ALL of it"
    assert [line.place for line in told_of(document, sought="all of").lines] == [250]
    assert [line.place for line in told_of(document, sought=" S0007 ").lines] == [7]
    found = told_of(document, sought="align")
    assert (found.found, len(found.lines)) == (299, forms.PART)
    assert told_of(document, sought="nowhere").found == 0


def test_of_many_steps_the_nearest_are_offered() -> None:
    document = many(1_000)
    told = forms.choices(document, 500)
    assert len(told.needs) == forms.MOST_OFFERED
    assert [name for name, _ in told.needs][:2] == ["s0450", "s0451"]
    assert not told.cut
    constructs = [loop(f"l{at}", [f"b{at}"]) for at in range(300)]
    document = doc(*constructs, *(task(f"b{at}") for at in range(300)))
    told = forms.choices(document, 599)
    assert told.cut
    assert len(told.around) == forms.MOST_OFFERED
    assert "l0" in dict(forms.choices(document, 300).around), "where it stands is always among them"


@RANDOM
@given(plans())
def test_a_plan_travels_with_the_page_unharmed(plan: dict[str, Any]) -> None:
    document = forms.document_of(plan)
    assert repr(forms.unpacked(forms.packed(document))) == repr(document)
    assert repr(forms.unpacked(forms.json_text(document))) == repr(document), "as pages sent it before"


@pytest.mark.parametrize(
    "text", ["", "x", "====", "eJw", "bm90IHppcHBlZA==", forms.packed({"a": 1})[:-4], "{"]
)
def test_what_is_no_plan_of_a_page_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        forms.unpacked(text)


def test_what_unpacks_to_more_than_a_body_may_hold_is_refused(settings: Any) -> None:
    packed = forms.packed({"title": "x" * 2_000})
    assert len(packed) < 200
    settings.CHIEF_MAX_BODY_BYTES = 1_000
    with pytest.raises(TooLarge):
        forms.unpacked(packed)


# -- Problems --------------------------------------------------------------------------------------


def test_each_problem_stands_at_its_field_and_the_rest_at_the_top() -> None:
    document = doc(
        task("z"), task("a", criteria=["", "x"], inputs={"x": 1, "deep": {}}), groups=[{"path": "g"}]
    )
    found = [
        Problem("/steps/1/goal", "must not be blank"),
        Problem("/steps/1/criteria/0", "must not be blank"),
        Problem("/steps/1/criteria", "apply only to tasks"),
        Problem("/steps/1/depends_on/3", "unknown step"),
        Problem("/steps/1/inputs/deep/er", "too large"),
        Problem("/steps/1/foo", "unknown field 'foo': leave it out"),
        Problem("/groups/0/path", "is nobody's"),
        Problem("/steps", "at least one"),
        Problem("/title", "must not be blank"),
    ]
    form = forms.step_form(document, 1, [forms.at_rows(document, each) for each in found])
    assert form.boxes["goal"].problems == ("must not be blank",)
    assert form.lists["criteria"].rows[0]["text"].problems == ("must not be blank",)
    assert form.lists["criteria"].problems == ("apply only to tasks",)
    assert form.boxes["depends_on"].problems == ("unknown step",)
    assert form.lists["inputs"].rows[1]["value"].problems == ("too large",)
    assert form.stray == ("foo: unknown field 'foo': leave it out",)
    whole = forms.plan_form(document, found)
    assert whole.boxes["title"].problems == ("must not be blank",)
    assert whole.lists["groups"].rows[0]["path"].problems == ("is nobody's",)
    assert whole.stray == ("steps: at least one",)
    assert [line.problems for line in forms.lines(document, found)] == [0, 6]


def test_every_step_is_listed_even_where_bodies_go_round_in_a_circle() -> None:
    document = doc(loop("l", ["m"]), loop("m", ["l"]), task("a"), task("a"))
    assert ids(document) == ["a", "a", "l", "m"]


@pytest.mark.parametrize(
    ("pointer", "place", "slot"),
    [
        ("/title", None, "title"),
        ("", None, ""),
        ("/groups/2/path", None, "groups-2-path"),
        ("/steps", None, "steps"),
        ("/steps/3", 3, ""),
        ("/steps/3/goal", 3, "goal"),
        ("/steps/3/inputs/2", 3, "inputs-2-name"),
        ("/steps/3/inputs/2/value", 3, "inputs-2-value"),
        ("/steps/3/criteria", 3, "criteria"),
        ("/steps/3/criteria/1", 3, "criteria-1"),
        ("/steps/3/criteria/1/text", 3, "criteria-1"),
        ("/steps/3/fields/0", 3, "fields-0-name"),
        ("/steps/3/fields/0/hint", 3, "fields-0-hint"),
    ],
)
def test_a_problem_leads_to_its_field(pointer: str, place: int | None, slot: str) -> None:
    assert forms.slot_of(pointer) == (place, slot)
