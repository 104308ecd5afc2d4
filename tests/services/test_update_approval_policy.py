"""``update_approval_policy`` and ``update_workflow_approval_policy``: one set of rules for both (contract 5, 9)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from amendments.selectors.policy import approval_rules, get_approval_policy
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden, PreconditionFailed, ValidationFailed
from chief_project.shared.expressions.rules import revision_of
from chief_project.shared.models import AuditEntry, ConfigDocument
from workflows.selectors.policy import get_workflow_approval_policy, workflow_approval_rules
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy


class Door(NamedTuple):
    """One of the two policies."""

    update: Callable[..., dict[str, Any]]
    read: Callable[..., dict[str, Any]]
    rules: Callable[[], list[dict[str, Any]]]
    name: str
    event: str
    guard: str


DOORS = [
    Door(
        update_approval_policy,
        get_approval_policy,
        approval_rules,
        "approval-policy",
        "config.approval_policy_updated",
        "amendment.kind == 'forward'",
    ),
    Door(
        update_workflow_approval_policy,
        get_workflow_approval_policy,
        workflow_approval_rules,
        "workflow-approval-policy",
        "config.updated",
        "workflow.template_id == 'tpl_1'",
    ),
]


@pytest.fixture(params=DOORS, ids=lambda door: door.name)
def door(request: pytest.FixtureRequest) -> Door:
    return request.param  # type: ignore[no-any-return]


def entries() -> list[dict[str, Any]]:
    """The policies' entries in the log, as they are hashed."""
    found = AuditEntry.objects.filter(event__startswith="config.").order_by("id")
    return [json.loads(entry.text) for entry in found]


def nothing_written() -> bool:
    return not ConfigDocument.objects.exists() and not entries()


def test_until_a_person_writes_one_a_policy_has_no_rules(door: Door, admin: Caller) -> None:
    assert door.read(caller=admin) == {"rules": []}
    assert door.rules() == []


def test_a_policy_is_replaced_whole_and_its_ids_are_filled_in(door: Door, admin: Caller) -> None:
    answer = door.update(caller=admin, rules=[{"match": door.guard, "auto_approve": True}])
    first = {"id": "rule_1", "match": door.guard, "auto_approve": True}
    assert answer == {"rules": [first]} == door.read(caller=admin)
    second = {"id": "mine", "match": "true", "auto_approve": False}
    assert door.update(caller=admin, rules=[second]) == {"rules": [second]}
    assert door.rules() == [second]
    assert door.update(caller=admin, rules=[]) == {"rules": []} == door.read(caller=admin)
    assert ConfigDocument.objects.get().updated_by == "owner"


def test_the_log_keeps_the_rules_before_and_after(door: Door, admin: Caller) -> None:
    one = {"id": "one", "match": "true", "auto_approve": False}
    two = {"id": "two", "match": door.guard, "auto_approve": True}
    door.update(caller=admin, rules=[one])
    door.update(caller=admin, rules=[two])
    details = [
        {"name": door.name, "rules_before": [], "rules_after": [one], "via": "rest"},
        {"name": door.name, "rules_before": [one], "rules_after": [two], "via": "rest"},
    ]
    assert [entry["detail"] for entry in entries()] == details
    for entry in entries():
        assert (entry["event"], entry["actor"]) == (door.event, "owner")
        assert entry["workflow_id"] is entry["run_id"] is None


def test_the_two_policies_are_apart(admin: Caller) -> None:
    for each in DOORS:
        each.update(caller=admin, rules=[{"match": each.guard, "auto_approve": True}])
    for each in DOORS:
        assert [rule["match"] for rule in each.rules()] == [each.guard]


def test_only_an_admin_changes_a_policy(
    door: Door, reviewer: Caller, viewer: Caller, harness: Caller, relay: Caller
) -> None:
    for caller in (reviewer, viewer, harness, relay):
        with pytest.raises(Forbidden, match=r"may not change the .*approval policy: ask an admin"):
            door.update(caller=caller, rules=[])
    assert nothing_written()


def test_nobody_changes_a_policy_over_mcp(door: Door, admin: Caller) -> None:
    for caller in (replace(admin, via="mcp"), replace(admin, via="mcp", relay=True)):
        with pytest.raises(Forbidden, match="may not change"):
            door.update(caller=caller, rules=[])
    assert nothing_written()


def test_an_admins_token_counts_as_that_person(door: Door, admin: Caller) -> None:
    door.update(caller=replace(admin, signed_in=False, token_id=1), rules=[])
    assert entries()[0]["actor"] == "owner"


def test_an_admin_who_is_no_person_changes_no_policy(door: Door, db: None) -> None:
    with pytest.raises(Forbidden, match="only a person may change"):
        door.update(caller=Caller(actor="cron", role=Role.ADMIN, via="cli"), rules=[])
    assert nothing_written()


def test_viewers_and_reviewers_read_a_policy_and_harnesses_dont(
    door: Door, admin: Caller, reviewer: Caller, viewer: Caller, harness: Caller, relay: Caller
) -> None:
    for caller in (admin, reviewer, viewer):
        assert door.read(caller=caller) == {"rules": []}
    for caller in (harness, relay):
        with pytest.raises(Forbidden, match=r"may not read the .*approval policy"):
            door.read(caller=caller)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (None, "must be a list"),
        ([{"match": "true", "auto_approve": True}], "human decision"),
        ([{"match": "true &", "auto_approve": False}], "at character 5"),
        ([{"match": "true", "auto_approve": False, "id": "x"}] * 2, "already"),
    ],
)
def test_a_refused_policy_leaves_the_one_that_was(
    door: Door, admin: Caller, rules: object, said: str
) -> None:
    door.update(caller=admin, rules=[{"id": "was", "match": door.guard, "auto_approve": True}])
    with pytest.raises(ValidationFailed, match=said):
        door.update(caller=admin, rules=rules)
    assert [rule["id"] for rule in door.rules()] == ["was"]
    assert len(entries()) == 1


def test_the_rights_are_asked_before_the_document_is_judged(door: Door, harness: Caller) -> None:
    with pytest.raises(Forbidden):
        door.update(caller=harness, rules="nonsense")


def test_a_policy_is_read_in_one_query(
    door: Door, admin: Caller, django_assert_num_queries: Callable[[int], Any]
) -> None:
    door.update(caller=admin, rules=[{"match": "true", "auto_approve": False}] * 100)
    with django_assert_num_queries(1):
        assert len(door.read(caller=admin)["rules"]) == 100


def test_who_writes_what_they_read_is_told_of_what_came_between(door: Door, admin: Caller) -> None:
    first = [{"id": "first", "match": "true", "auto_approve": False}]
    read = revision_of([])
    door.update(caller=admin, rules=first, based_on=read)
    with pytest.raises(PreconditionFailed, match="owner changed this policy while you") as refused:
        door.update(caller=admin, rules=[], based_on=read)
    assert refused.value.details == {"rules": first, "revision": revision_of(first)}
    assert door.rules() == first
    assert len(entries()) == 1
    door.update(caller=admin, rules=[], based_on=revision_of(first))
    assert door.rules() == []


def test_a_stale_first_write_leaves_nothing(door: Door, admin: Caller) -> None:
    with pytest.raises(PreconditionFailed):
        door.update(caller=admin, rules=[], based_on="something else")
    assert nothing_written()
