"""What rules would come to, before they are kept: judged, and tried on what there was (contract 5)."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from amendments.selectors.policy import read_approval_policy, try_approval_policy
from amendments.services.reject_amendment import reject_amendment
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden
from chief_project.shared.models import ConfigDocument
from chief_project.shared.policies import TRIED_ON, Trial
from tests.amendments import amend, insert_after, propose, remove, update
from tests.plans import checkpoint, task
from tests.run_calls import answer, asked
from tests.runs import new_run
from tests.services.test_template_creation import body, create
from tests.workflows import new_draft
from workflows.mappers import plan_cache
from workflows.selectors.policy import try_workflow_approval_policy
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.label_workflow import label_workflow

pytestmark = pytest.mark.django_db

FORWARD = "amendment.kind == 'forward'"


def rule(match: str, *, approve: bool = True, **keys: Any) -> dict[str, Any]:
    return {"match": match, "auto_approve": approve} | keys


def tried(caller: Caller, *rules: dict[str, Any]) -> Trial:
    return try_approval_policy(caller=caller, rules=list(rules))


def refuse(caller: Caller, amendment: dict[str, Any]) -> str:
    reject_amendment(caller=caller, amendment_id=amendment["amendment_id"])
    return str(amendment["amendment_id"])


# -- Amendments ------------------------------------------------------------------------------------


def test_it_names_what_a_rule_would_have_approved_and_what_became_of_it(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer)
    inserted = refuse(reviewer, propose(harness, insert_after("a", task("n"))))
    updated = refuse(reviewer, propose(reviewer, update(task("a", goal="Other"))))
    edit = propose(harness, insert_after("a", task("m")), kind="history_edit")["amendment_id"]
    trial = tried(reviewer, rule(f"{FORWARD} && amendment.actor == 'planner'", id="agents"))
    assert trial.considered == 3
    assert [(one["amendment_id"], one["rule"], one["status"]) for one in trial.decided] == [
        (inserted, "agents", "rejected")
    ]
    assert trial.held_back == []
    trial = tried(reviewer, rule(FORWARD))
    assert [one["amendment_id"] for one in trial.decided] == [updated, inserted]
    assert edit not in str(trial)


def test_the_first_rule_that_matches_decides_also_in_a_trial(reviewer: Caller) -> None:
    new_run(reviewer)
    propose(reviewer, insert_after("a", task("n")))
    assert tried(reviewer, rule("amendment.run_id == 'r1'", approve=False), rule(FORWARD)).decided == []


def test_what_touches_a_checkpoint_is_held_back_saying_why(reviewer: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate", depends_on=["a"]), task("b", depends_on=["gate"]))
    made = propose(reviewer, update(task("b", depends_on=["a"])))["amendment_id"]
    trial = tried(reviewer, rule(FORWARD, id="all"))
    assert trial.decided == []
    assert [(one["amendment_id"], one["rule"]) for one in trial.held_back] == [(made, "all")]
    assert trial.held_back[0]["why"] == "it takes checkpoint 'gate' out of the depends_on of 'b'"


def test_a_step_counts_as_blocked_while_its_question_was_open(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b", "c")
    before = refuse(reviewer, propose(reviewer, remove("b")))
    question = asked(reviewer, "b")
    during = refuse(reviewer, propose(reviewer, remove("b")))
    answer(reviewer, "b", question)
    after = propose(reviewer, remove("b"))["amendment_id"]
    trial = tried(reviewer, rule(FORWARD))
    assert [one["amendment_id"] for one in trial.decided] == [after, before]
    assert [(one["amendment_id"], one["why"]) for one in trial.held_back] == [
        (during, "it removes 'b', which is blocked on a person")
    ]


def test_a_question_that_the_amendment_closed_was_open_when_it_was_proposed(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b", "c")
    asked(reviewer, "b")
    made = amend(reviewer, remove("b"))["amendment_id"]
    assert [one["amendment_id"] for one in tried(reviewer, rule(FORWARD)).held_back] == [made]


def test_only_the_newest_are_considered(reviewer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TRIED_ON == 50
    monkeypatch.setattr("amendments.selectors.policy.TRIED_ON", 1)
    new_run(reviewer)
    refuse(reviewer, propose(reviewer, insert_after("a", task("n"))))
    newest = propose(reviewer, insert_after("a", task("m")))["amendment_id"]
    trial = tried(reviewer, rule(FORWARD))
    assert (trial.considered, [one["amendment_id"] for one in trial.decided]) == (1, [newest])


def test_fewer_are_considered_where_plans_are_huge(reviewer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    new_run(reviewer, *(f"s{number}" for number in range(10)))
    for number in range(3):
        refuse(reviewer, propose(reviewer, insert_after("s1", task(f"n{number}"))))
    monkeypatch.setattr("amendments.selectors.policy._MOST_STEPS", 45)
    assert tried(reviewer, rule(FORWARD)).considered == 2
    monkeypatch.setattr("amendments.selectors.policy._MOST_STEPS", 1)
    assert tried(reviewer, rule(FORWARD)).considered == 1


def test_a_trial_costs_the_same_however_much_it_is_tried_on(
    reviewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_run(reviewer)
    for number in range(3):
        refuse(reviewer, propose(reviewer, insert_after("a", task(f"n{number}"))))
    plan_cache.clear()
    with django_assert_num_queries(9):  # amendments, operations, six for plans, questions
        assert len(tried(reviewer, rule(FORWARD)).decided) == 3


# -- What can't be kept ----------------------------------------------------------------------------


def test_rules_that_cant_be_kept_are_judged_one_by_one_and_tried_on_nothing(reviewer: Caller) -> None:
    new_run(reviewer)
    propose(reviewer, insert_after("a", task("n")))
    trial = tried(
        reviewer,
        rule(FORWARD),
        rule("amendment.mood == 'bad'"),
        rule("amendment.actor == 'ci'"),
        rule("amendment.actor == 'ci'", approve=False),
        rule(FORWARD, id="no good"),
    )
    judged = trial.judgement
    assert (judged.kept, trial.considered, trial.decided) == (None, 0, [])
    assert [len(problems) for problems in judged.problems] == [0, 1, 1, 0, 1]
    unknown = judged.problems[1][0]
    assert unknown["message"].startswith("unknown field 'amendment.mood'")
    assert (unknown["offset"], unknown["end"]) == (0, 14)
    assert unknown["pointed"].splitlines()[1] == "^" * 14
    assert "add `amendment.kind == 'forward' &&` in front" in judged.problems[2][0]["message"]
    assert judged.problems[4][0]["pointer"] == "/rules/4/id"


def test_it_says_what_matches_everything_and_what_matches_nothing(reviewer: Caller) -> None:
    trial = tried(
        reviewer,
        rule(FORWARD),
        rule("amendment.actor == 'ci' && false", approve=False),
        rule(f"{FORWARD} || amendment.kind == 'history_edit'", approve=False),
        rule("!", approve=False),
    )
    assert trial.judgement.reach == (None, False, True, None)


def test_what_is_wrong_with_no_single_rule_is_said_once(reviewer: Caller) -> None:
    trial = tried(reviewer, *[rule("true", approve=False)] * 201)
    assert "at most 200 rules" in trial.judgement.general[0]


def test_who_may_read_the_policy_may_try_one_and_nothing_is_written(
    viewer: Caller, harness: Caller, admin: Caller
) -> None:
    tried(viewer, rule(FORWARD))
    try_workflow_approval_policy(caller=viewer, rules=[])
    assert not ConfigDocument.objects.exists()
    with pytest.raises(Forbidden, match="may not try an approval policy"):
        tried(harness)
    with pytest.raises(Forbidden, match="may not try a workflow approval policy"):
        try_workflow_approval_policy(caller=harness, rules=[])


def test_a_policy_is_read_with_who_wrote_it_and_a_name_for_its_state(viewer: Caller, admin: Caller) -> None:
    empty = read_approval_policy(caller=viewer)
    assert (empty.rules, empty.updated_at, empty.updated_by) == ([], None, "")
    update_approval_policy(caller=admin, rules=[rule(FORWARD)])
    kept = read_approval_policy(caller=viewer)
    assert kept.updated_by == "owner"
    assert kept.updated_at is not None
    assert kept.revision != empty.revision
    update_approval_policy(caller=admin, rules=[])
    assert read_approval_policy(caller=viewer).revision == empty.revision


# -- Workflows -------------------------------------------------------------------------------------


def test_workflows_from_templates_are_judged_as_they_were_made(
    reviewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name in ("one", "two"):
        create(reviewer, body(task("a"), template_id=name, title=f"From {name}", parameters=[]))
        create_workflow_from_template(
            caller=reviewer, template_id=name, parameters={}, workflow_id=f"wf_{name}"
        )
    new_draft(reviewer)
    label_workflow(caller=reviewer, workflow_id="wf_one", changes={"title": "Renamed"})
    rules = [rule("workflow.template_id == 'one' && workflow.title == 'From one'", id="ones")]
    with django_assert_num_queries(1):
        trial = try_workflow_approval_policy(caller=reviewer, rules=rules)
    assert trial.considered == 2
    assert [(one["workflow_id"], one["rule"], one["status"]) for one in trial.decided] == [
        ("wf_one", "ones", "draft")
    ]
    trial = try_workflow_approval_policy(caller=reviewer, rules=[rule("workflow.source == 'import'")])
    assert "comes from no template" in trial.judgement.problems[0][0]["message"]
