"""Contract 6 and note 40: parameters, placeholders, and how a plan becomes a template and back."""

import re
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chief_project.shared.errors import ValidationFailed
from workflows.domain.plan import Criterion, Field, Group, InstanceParam, Plan, Step
from workflows.domain.templates import (
    MAX_FILLED,
    Content,
    Parameter,
    ensure_filled,
    ensure_template,
    extract,
    fill,
    is_name,
    pieces,
    placeholders,
    preview_extracted,
    preview_filled,
    same_content,
    values_for,
)


def task(step_id: str, goal: str = "done", **more: Any) -> Step:
    return Step(id=step_id, type="task", goal=goal, **more)


def parallel(step_id: str, *body: str, params: tuple[str, ...] = (), **more: Any) -> Step:
    keys: dict[str, Any] = {"goal": "spread", "on_instance_failure": "fail_fast"} | more
    return Step(
        id=step_id, type="parallel", body=body, instance_params=tuple(map(InstanceParam, params)), **keys
    )


def content(*steps: Step, title: str = "A title", params: tuple[str | Parameter, ...] = ()) -> Content:
    parameters = tuple(Parameter(each) if isinstance(each, str) else each for each in params)
    return Content(title=title, description="", parameters=parameters, plan=Plan(steps))


def refusal_of(given_content: Content) -> ValidationFailed:
    with pytest.raises(ValidationFailed) as caught:
        ensure_template(given_content)
    return caught.value


EVERYWHERE = Step(
    id="l",
    type="loop",
    goal="goal {{ x }}",
    harness="harness {{x}}",
    body=("b",),
    on_instance_failure="fail_fast",
    exit_when="exit {{ x }}",
    inputs={"key {{ x }}": ["text {{ x }}", {"deep": {"er": "{{  x  }}"}}, 1, None, True]},
)
BODY = task("b", criteria=(Criterion("c1", "criterion {{ x }}"),))

# -- Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "a1", "paper_title", "z_"])
def test_a_parameter_is_named_in_small_letters(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "A", "1a", "_a", "a-b", "a b", "a.b", "ä", "a\n", "{{ a }}"])
def test_another_name_is_refused_saying_which(name: str) -> None:
    assert not is_name(name)
    refused = refusal_of(content(task("a"), params=(name,)))
    assert "can't name a parameter" in refused.message
    assert refused.details["pointer"] == "/parameters/0/name"


def test_the_same_parameter_twice_is_refused() -> None:
    refused = refusal_of(content(task("a"), params=("x", "y", "x")))
    assert "same parameter twice" in refused.message
    assert "'x'" in refused.message
    assert refused.details["pointer"] == "/parameters/2/name"


# -- Placeholders of a template ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ a }} and {{b}} and {{a}}", ["a", "b", "a"]),
        ("{{\n a \t}}", ["a"]),
        ("{{{ a }}}", ["a"]),
        ("{ a } {{ }} {{ a b }} {{ a.b }} {{ 1 }} { { a } } {{ a }", []),
        ("{{ Typo }} {{ my-name }} {{ größe }}", ["Typo", "my-name", "größe"]),
    ],
)
def test_a_placeholder_is_a_word_in_double_braces(text: str, names: list[str]) -> None:
    assert placeholders(text) == names


def test_declared_placeholders_may_stand_in_every_text_that_counts() -> None:
    ensure_template(content(EVERYWHERE, BODY, title="title {{ x }}", params=("x",)))


def test_each_undeclared_placeholder_is_named_with_its_place() -> None:
    refused = refusal_of(content(EVERYWHERE, BODY, title="title {{ x }} {{ y }}"))
    assert "undeclared placeholder" in refused.message
    assert refused.details["undeclared"] == ["x", "y"]
    assert [each["pointer"] for each in refused.details["errors"]] == [
        "/title",
        "/title",
        "/steps/0/goal",
        "/steps/0/harness",
        "/steps/0/exit_when",
        "/steps/0/inputs/key {{ x }}/0",
        "/steps/0/inputs/key {{ x }}/1/deep/er",
        "/steps/1/criteria/0",
    ]


def test_a_misspelt_placeholder_is_undeclared_not_text() -> None:
    assert refusal_of(content(task("a", "{{ Topic }}"), params=("topic",))).details["undeclared"] == ["Topic"]


def test_braces_elsewhere_are_ordinary_characters() -> None:
    ensure_template(
        content(
            task("a", inputs={"{{ key }}": 1}, outputs={"o": "{{ out }}"}, group="{{ group }}"),
            Step(id="c", type="checkpoint", goal="g", harness="human", fields=(Field("f", "{{ label }}"),)),
            parallel("p", "b"),
            task("b"),
        )
    )


def test_a_parameter_need_not_be_used() -> None:
    ensure_template(content(task("a"), params=("spare",)))


# -- Instance parameters (note 40) -------------------------------------------------------------------


def test_a_construct_s_own_parameter_is_left_for_its_body() -> None:
    ensure_template(content(parallel("p", "b", params=("paper",)), task("b", "read {{ paper }}")))


def test_it_reaches_bodies_at_any_depth() -> None:
    ensure_template(
        content(
            task("deep", "{{ paper }} {{ page }} {{ word }}"),
            parallel("inner", "deep", params=("word",)),
            parallel("p", "middle", params=("paper",)),
            parallel("middle", "inner", params=("page",), goal="spread over {{ paper }}"),
        )
    )


@pytest.mark.parametrize(
    ("steps", "pointer"),
    [
        ([parallel("p", "b", params=("paper",)), task("b"), task("a", "cite {{ paper }}")], "/steps/2/goal"),
        ([parallel("p", "b", params=("paper",), goal="spread over {{ paper }}"), task("b")], "/steps/0/goal"),
        (
            [
                parallel("p", "b", params=("paper",)),
                task("b"),
                parallel("q", "c"),
                task("c", "cite {{ paper }}"),
            ],
            "/steps/3/goal",
        ),
        (
            [
                parallel("p", "q", params=("x",)),
                parallel("q", "b", params=("paper",), goal="{{ paper }}"),
                task("b"),
            ],
            "/steps/1/goal",
        ),
    ],
    ids=["a step beside it", "the construct itself", "another construct's body", "an outer body"],
)
def test_it_reaches_nothing_outside_its_body(steps: list[Step], pointer: str) -> None:
    refused = refusal_of(content(*steps))
    assert refused.details["undeclared"] == ["paper"]
    assert refused.details["pointer"] == pointer


def test_it_never_reaches_the_title() -> None:
    refused = refusal_of(content(parallel("p", "b", params=("x",)), task("b"), title="{{ x }}"))
    assert refused.details["pointer"] == "/title"


def test_a_name_cannot_mean_both() -> None:
    refused = refusal_of(content(task("a"), parallel("p", "b", params=("y", "x")), task("b"), params=("x",)))
    assert "cannot mean both" in refused.message
    assert refused.details["both"] == ["x"]
    assert refused.details["pointer"] == "/steps/1/instance_params/1/name"


# -- Values ------------------------------------------------------------------------------------------


def test_values_are_the_given_ones_then_defaults_then_nothing() -> None:
    parameters = (
        Parameter("given"),
        Parameter("defaulted", default="d"),
        Parameter("overridden", default="d"),
        Parameter("free", required=False),
        Parameter("emptied", required=False, default="d"),
    )
    given_values = {"given": "g", "overridden": "o", "emptied": ""}
    assert values_for(parameters, given_values) == {
        "given": "g",
        "defaulted": "d",
        "overridden": "o",
        "free": "",
        "emptied": "",
    }


def test_missing_and_unknown_parameters_are_named_together() -> None:
    parameters = (Parameter("a"), Parameter("b", default="  "), Parameter("c", default="x"), Parameter("d"))
    with pytest.raises(ValidationFailed) as caught:
        values_for(parameters, {"c": " \n", "e": "1", "d": "ok"})
    assert caught.value.details["missing"] == ["a", "b", "c"]
    assert caught.value.details["unknown"] == ["e"]
    assert "'a' is required and missing" in caught.value.message
    assert {each["pointer"] for each in caught.value.details["errors"]} == {
        f"/parameters/{name}" for name in "abce"
    }


def test_only_what_is_wrong_is_in_the_details() -> None:
    with pytest.raises(ValidationFailed) as caught:
        values_for((), {"x": "1"})
    assert "missing" not in caught.value.details
    assert "takes none" in caught.value.message


# -- Filling -----------------------------------------------------------------------------------------


def test_every_text_that_counts_is_filled_and_nothing_else() -> None:
    plan = Plan(
        (EVERYWHERE, BODY, task("o", outputs={"o": "{{ x }}"}, group="{{ x }}")),
        (Group("{{ x }}", "{{ x }}"),),
    )
    title, filled = fill("title {{ x }}", plan, {"x": "V"})
    loop, body, other = filled.steps
    assert title == "title V"
    assert (loop.goal, loop.harness, loop.exit_when) == ("goal V", "harness V", "exit V")
    assert loop.inputs == {"key {{ x }}": ["text V", {"deep": {"er": "V"}}, 1, None, True]}
    assert body.criteria == (Criterion("c1", "criterion V"),)
    assert other == plan.steps[2]
    assert filled.groups == plan.groups


def test_unknown_placeholders_stand() -> None:
    _, filled = fill("t", Plan((task("a", "{{ x }} of {{paper}}"),)), {"x": "V"})
    assert filled.steps[0].goal == "V of {{paper}}"


def test_a_value_is_plain_text() -> None:
    values = {"x": r"{{ y }} \1 \g<name> {{ x }}", "y": "Y"}
    title, _ = fill("{{ x }}|{{ y }}", Plan((task("a"),)), values)
    assert title == r"{{ y }} \1 \g<name> {{ x }}|Y"


def test_a_short_template_does_not_become_a_huge_plan() -> None:
    steps = tuple(task(f"s{place}", "{{ x }}" * 100) for place in range(100))
    with pytest.raises(ValidationFailed, match="fill in more than") as caught:
        fill("t", Plan(steps), {"x": "v" * (MAX_FILLED // 10_000 + 1)})
    assert caught.value.details["pointer"] == "/parameters"


def test_what_values_leave_blank_is_refused_with_its_place() -> None:
    plan = Plan(
        (task("a", "{{ x }}"), task("b", criteria=(Criterion("c1", "fine"), Criterion("c2", " {{ x }}"))))
    )
    title, filled = fill("{{ x }}", plan, {"x": " "})
    with pytest.raises(ValidationFailed, match="would be blank") as caught:
        ensure_filled(title, filled)
    assert [each["pointer"] for each in caught.value.details["errors"]] == [
        "/title",
        "/steps/0/goal",
        "/steps/1/criteria/1",
    ]
    ensure_filled(*fill("{{ x }}", plan, {"x": "text"}))


# -- From a plan -------------------------------------------------------------------------------------


def extracted(text: str, **substitutions: str) -> str:
    title, _, _ = extract(text, Plan((task("a"),)), substitutions={v: k for k, v in substitutions.items()})
    return title


def refused_extraction(
    *steps: Step,
    title: str = "A title",
    substitutions: Mapping[str, str],
    parameters: tuple[Parameter, ...] = (),
) -> ValidationFailed:
    with pytest.raises(ValidationFailed) as caught:
        extract(title, Plan(steps), substitutions=substitutions, parameters=parameters)
    return caught.value


def test_a_literal_becomes_a_parameter_defaulting_to_it_wherever_placeholders_count() -> None:
    plan = Plan(
        (
            parallel("p", "b", goal="for BERT", inputs={"BERT": [{"model": "BERT-base"}, 3]}),
            task("b", harness="BERT", criteria=(Criterion("c1", "BERT runs"),), outputs={"o": "BERT"}),
        ),
        (Group("g", "BERT"),),
    )
    title, made, parameters = extract("On BERT", plan, substitutions={"BERT": "model"})
    assert title == "On {{ model }}"
    assert made.steps[0].goal == "for {{ model }}"
    assert made.steps[0].inputs == {"BERT": [{"model": "{{ model }}-base"}, 3]}
    assert made.steps[1].harness == "{{ model }}"
    assert made.steps[1].criteria == (Criterion("c1", "{{ model }} runs"),)
    assert made.steps[1].outputs == {"o": "BERT"}
    assert made.groups == plan.groups
    assert parameters == (Parameter("model", required=False, default="BERT"),)


def test_the_longest_literal_is_replaced_first() -> None:
    assert extracted("BERT-base and BERT", short="BERT", long="BERT-base") == "{{ long }} and {{ short }}"


def test_what_was_replaced_is_not_replaced_again() -> None:
    assert extracted("alpha beta", beta="alpha", alpha="beta") == "{{ beta }} {{ alpha }}"
    assert extracted("a {", x="a", y="{") == "{{ x }} {{ y }}"


def test_overlapping_literals_are_taken_from_the_left() -> None:
    assert extracted("abcd cde", x="abc", y="cde") == "{{ x }}d {{ y }}"


def test_a_placeholder_that_stands_is_never_cut_open() -> None:
    plan = Plan((parallel("p", "b", params=("paper",)), task("b", "read the paper {{ paper }}")))
    _, made, _ = extract("t paper", plan, substitutions={"paper": "kind"})
    assert made.steps[1].goal == "read the {{ kind }} {{ paper }}"


def test_a_whole_placeholder_can_be_a_literal() -> None:
    title, _, parameters = extract(
        "render {{ user }}!", Plan((task("a"),)), substitutions={"{{ user }}": "who"}
    )
    assert title == "render {{ who }}!"
    assert fill(title, Plan(()), values_for(parameters, {}))[0] == "render {{ user }}!"


def test_text_that_looks_like_a_placeholder_is_refused() -> None:
    refused = refused_extraction(
        task("a", "render {{ user }} {{ x }}"), title="BERT", substitutions={"BERT": "x"}
    )
    assert refused.details["undeclared"] == ["user", "x"]
    assert refused.details["pointer"] == "/steps/0/goal"


def test_it_may_be_declared_instead() -> None:
    declared = Parameter("user", "who it is for")
    title, _, parameters = extract(
        "BERT for {{ user }}", Plan((task("a"),)), substitutions={"BERT": "x"}, parameters=(declared,)
    )
    assert title == "{{ x }} for {{ user }}"
    assert parameters == (Parameter("x", required=False, default="BERT"), declared)


def test_a_parameter_of_a_literal_may_be_described() -> None:
    _, _, parameters = extract(
        "BERT GPT",
        Plan((task("a"),)),
        substitutions={"BERT": "x", "GPT": "y"},
        parameters=(Parameter("y", "the other", default="T5"), Parameter("x", "the model")),
    )
    assert parameters == (
        Parameter("x", "the model", required=True, default="BERT"),
        Parameter("y", "the other", required=True, default="T5"),
    )


def test_literals_that_stand_nowhere_are_named() -> None:
    refused = refused_extraction(
        task("a", "BERT-base", outputs={"o": "T5"}), substitutions={"BERT": "x", "BERT-base": "y", "T5": "z"}
    )
    assert refused.details["unused"] == ["BERT", "T5"]
    assert "unused" in refused.message
    assert "'BERT'" in refused.message
    assert refused.details["pointer"] == "/substitutions/BERT"


@pytest.mark.parametrize("literal", ["", " ", "\n\t"])
def test_a_blank_literal_is_named(literal: str) -> None:
    refused = refused_extraction(task("a", "x y"), substitutions={literal: "x"})
    assert "is blank" in refused.message
    assert repr(literal) in refused.message


def test_a_misnamed_or_repeated_parameter_is_refused() -> None:
    assert (
        "can't name a parameter" in refused_extraction(task("a", "BERT"), substitutions={"BERT": "X"}).message
    )
    refused = refused_extraction(task("a", "BERT GPT"), substitutions={"BERT": "x", "GPT": "x"})
    assert "same parameter twice" in refused.message
    assert refused.details["pointer"] == "/substitutions/GPT"


def test_many_literals_in_a_long_plan_take_no_time() -> None:
    steps = tuple(task(f"s{place}", f"words {'x' * 900} literal{place % 100} end") for place in range(5_000))
    substitutions = {f"literal{place}": f"p{place}" for place in range(100)}
    started = time.process_time()
    extract("t", Plan(steps), substitutions=substitutions)
    assert time.process_time() - started < 5


# -- For all texts -----------------------------------------------------------------------------------

AWKWARD = st.text(alphabet="ab {}_x", max_size=30)
LITERALS = st.lists(
    st.text(alphabet="ab {}_x", min_size=1, max_size=6).filter(str.strip), max_size=4, unique=True
)


@given(AWKWARD, LITERALS)
@example("{{ a }}a", ["a"])
@example("{{a}} b{{a}}", ["b{{a}}", "{{a"])
@example("{{ a b}}", [" b"])
def test_filling_without_values_gives_the_plan_back(text: str, literals: list[str]) -> None:
    substitutions = {literal: f"p{place}" for place, literal in enumerate(literals)}
    plan = Plan((parallel("p", "b", params=("a", "b", "x")), task("b", "g", inputs={"k": [text]})))
    try:
        _, made, parameters = extract("t", plan, substitutions=substitutions)
    except ValidationFailed:
        assume(False)
    ensure_template(Content("t", "", parameters, made))
    assert fill("t", made, values_for(parameters, {}))[1] == plan


@given(AWKWARD, LITERALS)
def test_every_literal_that_is_replaced_can_be_given_another_value(text: str, literals: list[str]) -> None:
    substitutions = {literal: f"p{place}" for place, literal in enumerate(literals)}
    try:
        title, _, parameters = extract(text, Plan(()), substitutions=substitutions)
    except ValidationFailed:
        assume(False)
    assert set(placeholders(title)) == {parameter.name for parameter in parameters}


@given(
    st.lists(st.sampled_from(["{{ x }}", "{{y}}", "{{ z }}", "{", "}", " ", "x", "é"]), max_size=12),
    AWKWARD,
    AWKWARD,
)
def test_filling_is_one_pass(pieces: list[str], x: str, y: str) -> None:
    text = "".join(pieces)
    expected = "".join(
        {"x": x, "y": y}.get(part, "")
        if place % 2 and part in {"x", "y"}
        else f"{{{{ {part} }}}}"
        if place % 2
        else part
        for place, part in enumerate(re.split(r"\{\{\s*(\w+)\s*\}\}", text))
    )
    filled, _ = fill(text, Plan(()), {"x": x, "y": y})
    assert re.sub(r"\{\{\s*z\s*\}\}", "{{ z }}", filled) == re.sub(r"\{\{\s*z\s*\}\}", "{{ z }}", expected)


# -- The same template -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [{"c": None}]}, {"b": [{"c": None}], "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 10**30}, {"a": 1e30}, True),
        ({"a": 10**400}, {"a": 10**400}, True),
        ({"a": 10**400}, {"a": 1.5}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 0}, {"a": False}, False),
        ({"a": 1.0}, {"a": "1.0"}, False),
        ({"a": None}, {}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": [1]}, {"a": [1, 1]}, False),
        ({"a": {}}, {"a": []}, False),
    ],
)
def test_inputs_are_compared_as_json(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert same_content(content(task("a", inputs=one)), content(task("a", inputs=other))) is same
    assert same_content(content(task("a", outputs=other)), content(task("a", outputs=one))) is same


def test_any_other_difference_counts() -> None:
    base = content(task("a"), params=("x",))
    for other in (
        content(task("a"), params=("x",), title="Another"),
        content(task("a")),
        content(task("a", "otherwise"), params=("x",)),
        content(task("a"), task("b"), params=("x",)),
        content(task("a"), params=(Parameter("x", default=""),)),
        Content("A title", "", base.parameters, Plan(base.plan.steps, (Group("g"),))),
        Content("A title", "", base.parameters, base.plan, "project"),
    ):
        assert not same_content(base, other)


@pytest.mark.parametrize("text", ["", "plain", "{{ a }}", "x {{ a }}{{b}} y\n", "{{ 1 }} {{ ä }}"])
def test_a_text_is_cut_at_its_placeholders_and_nothing_is_lost(text: str) -> None:
    cut = pieces(text)
    assert "".join(piece for piece, _ in cut) == text
    assert [name for piece, is_one in cut if is_one for name in placeholders(piece)] == placeholders(text)


# -- Previews: the same, while somebody still writes it ---------------------------------------------


def test_a_preview_leaves_missing_placeholders_standing_and_says_what_is_missing() -> None:
    made = content(
        task("a", "Read {{ topic }} in {{ place }}"),
        params=("topic", "place", Parameter("x", required=False)),
    )
    found = preview_filled(made, {"topic": "whales", "place": " ", "typo": "?"})
    assert found.plan.steps[0].goal == "Read whales in {{ place }}"
    assert [each.pointer for each in found.problems] == ["/parameters/place", "/parameters/typo"]


def test_a_preview_of_good_values_is_what_filling_gives() -> None:
    made = content(
        task("a", "Read {{ topic }}"), title="On {{ topic }}", params=(Parameter("topic", default="ants"),)
    )
    found = preview_filled(made, {})
    assert (found.title, found.plan.steps[0].goal, found.problems) == ("On ants", "Read ants", ())


def test_a_preview_says_which_texts_would_be_blank() -> None:
    made = content(task("a", "{{ topic }}"), params=(Parameter("topic", required=False),))
    assert [each.pointer for each in preview_filled(made, {}).problems] == ["/steps/0/goal"]


def test_a_preview_of_values_that_are_too_long_is_refused_in_words() -> None:
    made = content(task("a", "{{ x }}" * 11), params=("x",))
    found = preview_filled(made, {"x": "y" * (MAX_FILLED // 10)})
    assert "shorten them" in found.problems[0].message
    assert found.plan == made.plan


def test_an_extraction_is_previewed_with_how_often_each_literal_stands() -> None:
    plan = Plan((task("a", "Train BERT, then BERT-large", criteria=(Criterion("c1", "BERT is trained"),)),))
    found = preview_extracted(
        "On BERT", plan, substitutions={"BERT": "model", "GPT": "other", "BERT-large": "big"}
    )
    assert found.found == {"BERT": 3, "GPT": 0, "BERT-large": 1}
    assert found.title == "On {{ model }}"
    assert found.plan.steps[0].goal == "Train {{ model }}, then {{ big }}"
    assert [each.pointer for each in found.problems] == ["/substitutions/GPT"]


def test_a_literal_without_a_good_name_is_left_out_of_the_preview() -> None:
    plan = Plan((task("a", "Train BERT"),))
    found = preview_extracted(
        "T", plan, substitutions={"BERT": "", "Train": "verb"}, instead="Mine {{ verb }}"
    )
    assert (found.title, found.plan.steps[0].goal) == ("Mine {{ verb }}", "{{ verb }} BERT")
    assert [each.pointer for each in found.problems] == ["/substitutions/BERT"]


def test_a_title_that_is_taken_as_it_is_must_declare_what_it_mentions() -> None:
    found = preview_extracted("T", Plan((task("a"),)), substitutions={}, instead="On {{ nothing }}")
    assert [each.pointer for each in found.problems] == ["/title"]
