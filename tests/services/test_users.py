"""Users and their roles (contract 9)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from chief_project.shared import selectors
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Conflict, Forbidden, InvariantViolation, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry, User
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from chief_project.shared.services.set_active import set_active
from chief_project.shared.services.set_role import set_role
from tests.together import at_once


def details(event: str) -> list[dict[str, Any]]:
    entries = AuditEntry.objects.filter(event=event).order_by("id")
    return [json.loads(entry.text)["detail"] for entry in entries]


def test_a_new_user_has_one_role_and_no_password(admin: Caller) -> None:
    made = create_user(caller=admin, username="ines", role=Role.REVIEWER)
    user = User.objects.get(pk=made["user_id"])
    assert selectors.role_of_user(user_id=user.pk) is Role.REVIEWER
    assert not user.has_usable_password()
    assert details("auth.user_created")[-1] == {"username": "ines", "role": "reviewer", "via": "rest"}


@pytest.mark.parametrize("username", ["", "a b", "x" * 151, "<script>"])
def test_a_username_that_cant_be_one_is_refused(username: str, admin: Caller) -> None:
    with pytest.raises(ValidationFailed):
        create_user(caller=admin, username=username, role=Role.VIEWER)
    assert User.objects.count() == 1


def test_a_username_is_taken_whatever_its_case(admin: Caller, rita: User) -> None:
    with pytest.raises(Conflict, match="in use"):
        create_user(caller=admin, username="RITA", role=Role.VIEWER)


def test_no_user_is_a_harness(admin: Caller, rita: User) -> None:
    with pytest.raises(ValidationFailed, match="a harness is a token"):
        create_user(caller=admin, username="planner", role=Role.HARNESS)
    with pytest.raises(ValidationFailed, match="a harness is a token"):
        set_role(caller=admin, user_id=rita.pk, role=Role.HARNESS)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.HARNESS, Role.REVIEWER])
def test_only_an_admin_changes_users(role: Role, rita: User) -> None:
    caller = Caller(actor="someone", role=role, via="admin", user_id=rita.pk, signed_in=True)
    for attempt in (
        lambda: create_user(caller=caller, username="new", role=Role.ADMIN),
        lambda: set_role(caller=caller, user_id=rita.pk, role=Role.ADMIN),
        lambda: set_active(caller=caller, user_id=rita.pk, active=False),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert User.objects.get().is_active
    assert selectors.role_of_user(user_id=rita.pk) is Role.REVIEWER


def test_a_new_role_replaces_the_old_one_and_the_audit_keeps_both(admin: Caller, rita: User) -> None:
    set_role(caller=admin, user_id=rita.pk, role=Role.VIEWER)
    assert [group.name for group in rita.groups.all()] == ["viewer"]
    assert details("auth.role_changed") == [
        {"username": "rita", "role": "viewer", "role_was": "reviewer", "via": "rest"}
    ]
    set_role(caller=admin, user_id=rita.pk, role=Role.VIEWER)
    assert len(details("auth.role_changed")) == 1


def test_a_role_is_the_strongest_group_and_a_superuser_is_an_admin() -> None:
    strongest = selectors.strongest_role
    assert strongest(groups={"viewer", "reviewer"}, superuser=False) is Role.REVIEWER
    assert strongest(groups={"viewer", "admin", "reviewer"}, superuser=False) is Role.ADMIN
    assert strongest(groups=set(), superuser=True) is Role.ADMIN
    assert strongest(groups={"harness", "editors"}, superuser=False) is None


def test_the_last_admin_cant_be_taken_away(admin: Caller, owner: User) -> None:
    with pytest.raises(InvariantViolation, match="only active admin"):
        set_role(caller=admin, user_id=owner.pk, role=Role.REVIEWER)
    with pytest.raises(InvariantViolation, match="only active admin"):
        set_active(caller=admin, user_id=owner.pk, active=False)
    other = create_user(caller=admin, username="second", role=Role.ADMIN)
    set_active(caller=admin, user_id=owner.pk, active=False)
    assert selectors.role_of_user(user_id=owner.pk) is None
    with pytest.raises(InvariantViolation, match="only active admin"):
        set_role(caller=admin, user_id=other["user_id"], role=None)


def test_changing_nobody_says_so(admin: Caller) -> None:
    with pytest.raises(NotFound, match="no user has the id 99"):
        set_role(caller=admin, user_id=99, role=Role.VIEWER)


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_at_once_leave_one(admin: Caller, owner: User) -> None:
    other = create_user(caller=admin, username="second", role=Role.ADMIN)["user_id"]
    results = at_once(
        [
            partial(set_role, caller=admin, user_id=user_id, role=Role.VIEWER)
            for user_id in (owner.pk, other, owner.pk, other)
        ]
    )
    assert any(isinstance(result, InvariantViolation) for result in results)
    assert all(result is None or isinstance(result, InvariantViolation) for result in results)
    roles = [selectors.role_of_user(user_id=user_id) for user_id in (owner.pk, other)]
    assert sorted(role.value for role in roles if role) == ["admin", "viewer"]


@pytest.mark.django_db(transaction=True)
def test_a_name_that_is_chosen_twice_at_once_is_given_once(admin: Caller) -> None:
    calls: list[Any] = [
        partial(create_user, caller=admin, username="same", role=Role.VIEWER) for _ in range(2)
    ]
    calls += [partial(create_token, caller=admin, kind="harness", name="same") for _ in range(2)]
    results = at_once(calls)
    assert sum(isinstance(result, dict) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 3
