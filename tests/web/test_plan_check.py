"""Problems of a plan that is still being written."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.serializers import parse_document
from chief_project.web import plan_form
from chief_project.web.plan_check import check
from tests.plans import checkpoint, loop, task
from tests.web.plan_documents import plans
from workflows.documents import WorkflowRevise
from workflows.domain.plan import Plan
from workflows.domain.rules import ensure_valid


def told(*steps: dict[str, Any], **keys: Any) -> list[tuple[str, str]]:
    document = {"title": "A plan", "steps": list(steps), "groups": []} | keys
    return [(each.pointer, each.message) for each in check(document, WorkflowRevise)]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_what_keeps_the_rules_has_no_problem(plan: dict[str, Any]) -> None:
    assert not check(plan_form.document_of(plan), WorkflowRevise)


def test_it_says_what_rest_says() -> None:
    document = {
        "title": "A plan",
        "steps": [task("a", depends_on=["nowhere"]), checkpoint("c", harness="codex"), task("a")],
    }
    body = parse_document(WorkflowRevise, document)
    try:
        ensure_valid(Plan(body.step_values()))
    except ValidationFailed as refused:
        said = refused.details["errors"]
    assert [{"pointer": at, "message": message} for at, message in told(*document["steps"])] == said


def test_a_blank_field_does_not_hide_what_else_is_wrong() -> None:
    found = told(task("a", goal=""), task("b", depends_on=["nowhere"]), title=" ")
    assert [at for at, _ in found] == ["/title", "/steps/0/goal", "/steps/1/depends_on/0"]


def test_a_field_that_is_no_good_is_told_once() -> None:
    assert [at for at, _ in told(task("a", depends_on=[5]))] == ["/steps/0/depends_on/0"]
    assert [at for at, _ in told(task("a b"), task("c", depends_on=["a b"]))] == ["/steps/0/id"]
    assert [at for at, _ in told({"id": "l", "type": "lop", "goal": "g", "body": ["b"]}, task("b"))] == [
        "/steps/0/type"
    ]
    assert [at for at, _ in told(task("a"), groups=[{"path": ""}, {"path": "x"}, 5])] == ["/groups/2"]


def test_a_text_that_should_be_json_is_told_where_it_goes_wrong() -> None:
    (found,) = told(task("a", inputs='{"x": 1,\n}'))
    assert found[0] == "/steps/0/inputs"
    assert "line 2" in found[1]
    assert told(task("a", inputs='"x"')) == [("/steps/0/inputs", "must be an object or an array")]


def test_inputs_that_are_rows_still_are_told_at_their_rows_and_hide_nothing_else() -> None:
    rows = [
        {"name": "x", "kind": "text", "value": "1"},
        {"name": "", "kind": "text", "value": ""},
        {"name": "x", "kind": "json", "value": "{"},
    ]
    found = told(task("a", inputs=rows), task("b", depends_on=["nowhere"]))
    assert [at for at, _ in found] == [
        "/steps/0/inputs/2/name",
        "/steps/0/inputs/2/value",
        "/steps/1/depends_on/0",
    ]
    assert not told(task("a", inputs=rows[:2]))
    assert [at for at, _ in told(task("a", inputs=[{"name": "x"}]))] == ["/steps/0/inputs"], (
        "these are no rows"
    )


def test_rows_that_say_nothing_are_no_problem() -> None:
    assert not told(
        task("a", criteria=["it holds", ""]), checkpoint("c", fields=[{"name": ""}]), groups=[{"path": ""}]
    )
    found = told(checkpoint("c", fields=[{"name": "", "hint": "a date"}]))
    assert [at for at, _ in found] == ["/steps/0/fields/0/name"]


def test_what_no_document_may_hold_is_told() -> None:
    (found,) = told(task("a", goal="nul \0"))
    assert found[0] == "/steps/0/goal"
    assert "NUL" in found[1]


def test_what_is_no_document_says_so() -> None:
    assert [each.message for each in check([], WorkflowRevise)] == ["must be an object"]
    assert [each.pointer for each in check({"title": "x", "steps": [5]}, WorkflowRevise)] == ["/steps/0"]
    assert told() == [("/steps", "a plan needs at least one step")]
    assert [at for at, _ in told(task("a"), foo=1)] == ["/foo"]


def test_a_plan_of_a_thousand_steps_is_checked_while_one_types() -> None:
    steps = [task(f"s{at}", depends_on=[f"s{at - 1}"] if at else []) for at in range(1_000)]
    assert not told(*steps, loop("l", ["x"]), task("x"))
