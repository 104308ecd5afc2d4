"""Lists of rules: what may be written, and which rule decides (contract 5)."""

from typing import Any

import pytest

from amendments.domain.policy import AMENDMENT_POLICY, AmendmentFacts, decide_amendment
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.expressions.rules import MAX_RULES, read_rules
from workflows.domain.policy import WORKFLOW_POLICY, WorkflowFacts, decide_workflow

FORWARD = "amendment.kind == 'forward'"


def rule(match: str, *, approve: bool = True, **keys: Any) -> dict[str, Any]:
    return {"match": match, "auto_approve": approve} | keys


def refused(rules: object, kind: Any = AMENDMENT_POLICY) -> ValidationFailed:
    with pytest.raises(ValidationFailed) as caught:
        read_rules(rules, kind)
    return caught.value


def amendment(**facts: Any) -> AmendmentFacts:
    known = {
        "kind": "forward",
        "proposed_by": "planner",
        "actor": "ci-token",
        "run_id": "run_1",
        "workflow_id": "wf_1",
        "ops": frozenset({"insert_after"}),
    }
    return AmendmentFacts(**(known | facts))


def workflow(**facts: Any) -> WorkflowFacts:
    known = {"template_id": "tpl_1", "source": "import", "generated_by": "template:tpl_1", "title": "Nightly"}
    return WorkflowFacts(**(known | facts))


# -- What may be written ------------------------------------------------------------------------------


def test_ids_are_kept_or_minted_by_position() -> None:
    kept = read_rules([rule(FORWARD), rule(FORWARD, id="mine"), rule(FORWARD)], AMENDMENT_POLICY)
    assert [each["id"] for each in kept] == ["rule_1", "mine", "rule_3"]
    assert kept[0] == {"id": "rule_1", "match": FORWARD, "auto_approve": True}
    assert read_rules(kept, AMENDMENT_POLICY) == kept


def test_a_minted_id_gives_way_to_a_given_one() -> None:
    kept = read_rules(
        [rule(FORWARD, id="rule_2"), rule(FORWARD), rule(FORWARD, id="rule_3"), rule(FORWARD)],
        AMENDMENT_POLICY,
    )
    ids = [each["id"] for each in kept]
    assert ids[0] == "rule_2"
    assert ids[2] == "rule_3"
    assert len(set(ids)) == 4


def test_a_policy_may_be_empty() -> None:
    assert read_rules([], AMENDMENT_POLICY) == []


@pytest.mark.parametrize(
    ("rules", "where", "said"),
    [
        ({"match": "true"}, "/rules", "must be a list"),
        (["true"], "/rules/0", "must be an object"),
        ([{"match": FORWARD, "auto_approve": True, "name": "x"}], "/rules/0/name", "unknown field 'name'"),
        ([{"auto_approve": True}], "/rules/0/match", "must be a text"),
        ([{"match": True, "auto_approve": True}], "/rules/0/match", "must be a text"),
        ([{"match": FORWARD}], "/rules/0/auto_approve", "true or false"),
        ([{"match": FORWARD, "auto_approve": "true"}], "/rules/0/auto_approve", "true or false"),
        ([rule(FORWARD, id="a b")], "/rules/0/id", "is not an id"),
        ([rule(FORWARD, id=None)], "/rules/0/id", "is not an id"),
        ([rule(FORWARD, id="a"), rule(FORWARD, id="a")], "/rules/1/id", "already"),
        ([rule(FORWARD), rule(f"{FORWARD} and true")], "/rules/1/match", "at character 28"),
        ([rule(" ")], "/rules/0/match", "empty"),
        ([rule(FORWARD)] * (MAX_RULES + 1), "/rules", "at most 200 rules"),
    ],
)
def test_a_malformed_policy_is_refused_with_its_place(rules: object, where: str, said: str) -> None:
    error = refused(rules)
    assert error.details["pointer"] == where
    assert said in error.message


def test_every_problem_comes_back_at_once() -> None:
    error = refused([rule("true"), rule("(", approve=False), rule(FORWARD, colour="red")])
    assert [each["pointer"] for each in error.details["errors"]] == [
        "/rules/0/match",
        "/rules/1/match",
        "/rules/2/colour",
    ]
    assert "(and 2 more)" in error.message


def test_a_syntax_error_points_at_the_span() -> None:
    details = refused([rule("amendment.kind = 'forward'")]).details
    assert (details["offset"], details["end"], details["found"]) == (15, 16, "'='")
    assert "'=='" in details["expected"]
    assert details["pointed"].splitlines()[1] == " " * 15 + "^"


@pytest.mark.parametrize(
    "match",
    [
        "true",
        "amendment.kind == 'history_edit'",
        "amendment.kind != 'forward'",
        "amendment.kind in ['forward', 'history_edit']",
        "amendment.proposed_by == 'planner'",
        "amendment.ops subset_of ['insert_after', 'insert_before']",
        "amendment.kind == 'forward' || amendment.proposed_by == 'planner'",
        "!(amendment.kind == 'forward' && amendment.proposed_by == 'planner')",
    ],
)
def test_a_rule_that_could_approve_a_history_edit_is_refused_saying_what_to_add(match: str) -> None:
    error = refused([rule(match)])
    assert error.details["pointer"] == "/rules/0/match"
    assert "could approve a history_edit, which is a human decision" in error.message
    assert "add `amendment.kind == 'forward' &&` in front" in error.message
    read_rules([rule(f"{FORWARD} && ({match})")], AMENDMENT_POLICY)
    read_rules([rule(match, approve=False)], AMENDMENT_POLICY)


@pytest.mark.parametrize(
    "match",
    [
        "false",
        FORWARD,
        "amendment.kind != 'history_edit'",
        "!(amendment.kind == 'history_edit')",
        f"amendment.ops subset_of ['insert_after'] && {FORWARD}",
        f"{FORWARD} && amendment.proposed_by in ['planner', 'claude_cli']",
    ],
)
def test_a_rule_that_excludes_history_edits_may_approve(match: str) -> None:
    assert read_rules([rule(match)], AMENDMENT_POLICY)[0]["match"] == match


@pytest.mark.parametrize(
    "match",
    [
        "true",
        "workflow.template_id != 'tpl_1'",
        "!(workflow.template_id in ['tpl_1'])",
        "workflow.source == 'import'",
        "workflow.generated_by == 'template:tpl_1'",
        "workflow.template_id == 'tpl_1' || workflow.title == 'x'",
    ],
)
def test_a_rule_that_could_approve_a_workflow_from_no_template_is_refused_saying_what_to_add(
    match: str,
) -> None:
    error = refused([rule(match)], WORKFLOW_POLICY)
    assert "comes from no template" in error.message
    assert "add `workflow.template_id == " in error.message
    read_rules([rule(f"workflow.template_id == 'tpl_1' && ({match})")], WORKFLOW_POLICY)


def test_parentheses_are_asked_for_only_where_they_matter() -> None:
    assert "parentheses" in refused([rule("true || false")]).message
    assert "parentheses" not in refused([rule("true")]).message


def test_each_policy_reads_its_own_namespace_only() -> None:
    assert "unknown namespace 'amendment'" in refused([rule(FORWARD)], WORKFLOW_POLICY).message
    assert "unknown namespace 'workflow'" in refused([rule("workflow.title == 'x'")]).message


# -- Which rule decides -------------------------------------------------------------------------------


def test_the_first_rule_that_matches_decides() -> None:
    rules = read_rules(
        [
            rule(f"{FORWARD} && amendment.proposed_by == 'other'"),
            rule(f"{FORWARD} && amendment.actor == 'ci-token'", id="ours"),
            rule(FORWARD),
        ],
        AMENDMENT_POLICY,
    )
    assert decide_amendment(rules, amendment()) == "ours"
    assert decide_amendment(rules, amendment(actor="another")) == "rule_3"


def test_a_rule_that_matches_and_does_not_approve_leaves_it_to_a_person() -> None:
    rules = read_rules(
        [rule("amendment.run_id == 'run_1'", approve=False), rule(FORWARD, id="rest")], AMENDMENT_POLICY
    )
    assert decide_amendment(rules, amendment()) is None
    assert decide_amendment(rules, amendment(run_id="run_2")) == "rest"


def test_what_no_rule_matches_waits_for_a_person() -> None:
    assert decide_amendment([], amendment()) is None
    rules = read_rules([rule(f"{FORWARD} && amendment.workflow_id == 'wf_2'")], AMENDMENT_POLICY)
    assert decide_amendment(rules, amendment()) is None


def test_the_operations_must_all_be_in_the_list() -> None:
    rules = read_rules(
        [rule(f"{FORWARD} && amendment.ops subset_of ['insert_after']", id="a")], AMENDMENT_POLICY
    )
    assert decide_amendment(rules, amendment()) == "a"
    assert decide_amendment(rules, amendment(ops=frozenset({"insert_after", "remove_step"}))) is None


def test_no_rule_approves_a_history_edit_even_if_one_was_kept_that_could() -> None:
    rules = [{"id": "old", "match": "true", "auto_approve": True}]
    assert decide_amendment(rules, amendment()) == "old"
    assert decide_amendment(rules, amendment(kind="history_edit")) is None


def test_a_kept_rule_that_cant_be_read_any_more_holds_back_the_rules_behind_it() -> None:
    rules = [
        {"id": "old", "match": "amendment.mood == 'bad'", "auto_approve": False},
        {"id": "new", "match": FORWARD, "auto_approve": True},
    ]
    assert decide_amendment(rules, amendment()) is None


def test_a_workflow_from_a_template_is_approved_by_the_rule_that_names_it() -> None:
    rules = read_rules([rule("workflow.template_id in ['tpl_1', 'tpl_2']", id="nightly")], WORKFLOW_POLICY)
    assert decide_workflow(rules, workflow()) == "nightly"
    assert decide_workflow(rules, workflow(template_id="tpl_3")) is None


def test_no_rule_approves_a_workflow_from_no_template_even_if_one_was_kept_that_could() -> None:
    rules = [{"id": "old", "match": "true", "auto_approve": True}]
    assert decide_workflow(rules, workflow()) == "old"
    assert decide_workflow(rules, workflow(template_id=None, generated_by=None)) is None
