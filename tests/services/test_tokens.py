"""Tokens: made, shown once, scoped for good, revoked (contract 9)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared import clock, credentials, principals
from chief_project.shared.caller import Caller, Right, Role
from chief_project.shared.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    Unauthenticated,
    ValidationFailed,
)
from chief_project.shared.models import ApiToken, AuditEntry, User
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from chief_project.shared.services.revoke_token import revoke_token
from chief_project.shared.services.set_active import set_active
from chief_project.shared.services.set_role import set_role

Make = Callable[..., str]


def events(name: str) -> list[str]:
    return list(AuditEntry.objects.filter(event=name).order_by("id").values_list("text", flat=True))


def test_a_token_has_256_random_bits_and_only_its_digest_and_beginning_are_kept(admin: Caller) -> None:
    made = create_token(caller=admin, kind="harness", name="planner")
    text = made["token"]
    assert text.startswith("chf_")
    assert len(bytes.fromhex(text.removeprefix("chf_"))) == 32
    token = ApiToken.objects.get()
    assert token.digest == credentials.digest(text)
    assert text.startswith(token.prefix)
    assert len(token.prefix) < 14
    assert create_token(caller=admin, kind="harness")["token"] != text


def test_making_a_token_is_audited_without_the_token(admin: Caller) -> None:
    made = create_token(caller=admin, kind="harness", name="planner", relay=True)
    entry = AuditEntry.objects.get(event="auth.token_created")
    assert (entry.stream, entry.actor, entry.via) == ("rest", "owner", "rest")
    assert '"name":"planner"' in entry.text
    assert '"relay":true' in entry.text
    assert made["token"] not in entry.text
    assert credentials.digest(made["token"]) not in entry.text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.HARNESS, Role.REVIEWER])
def test_only_an_admin_makes_or_revokes_tokens(role: Role, harness_token: str) -> None:
    caller = Caller(actor="someone", role=role, via="rest", user_id=1, relay=True)
    before = ApiToken.objects.count()
    with pytest.raises(Forbidden, match="may not create a token"):
        create_token(caller=caller, kind="viewer")
    with pytest.raises(Forbidden, match="may not revoke a token"):
        revoke_token(caller=caller, token_id=ApiToken.objects.get().pk)
    assert ApiToken.objects.count() == before
    assert ApiToken.objects.get().revoked_at is None


def test_an_unknown_kind_is_refused_naming_the_known_ones(admin: Caller) -> None:
    with pytest.raises(ValidationFailed, match="viewer, harness, reviewer, admin") as refused:
        create_token(caller=admin, kind="root")
    assert refused.value.details["pointer"] == "/kind"
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("kind", ["viewer", "reviewer", "admin"])
def test_only_a_harness_token_relays(kind: str, admin: Caller) -> None:
    with pytest.raises(ValidationFailed, match="relay is for harness tokens"):
        create_token(caller=admin, kind=kind, relay=True, username="owner")
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("kind", ["viewer", "harness"])
def test_a_harness_or_viewer_token_belongs_to_nobody(kind: str, admin: Caller) -> None:
    with pytest.raises(ValidationFailed, match="belongs to no user"):
        create_token(caller=admin, kind=kind, username="owner")


def test_a_persons_token_needs_a_known_active_user(admin: Caller, rita: User) -> None:
    with pytest.raises(ValidationFailed, match="say whose"):
        create_token(caller=admin, kind="reviewer")
    with pytest.raises(NotFound, match="no active user is called 'nobody'"):
        create_token(caller=admin, kind="reviewer", username="nobody")
    set_active(caller=admin, user_id=rita.pk, active=False)
    with pytest.raises(NotFound, match="no active user"):
        create_token(caller=admin, kind="reviewer", username="rita")
    assert not ApiToken.objects.exists()


def test_a_token_cant_be_more_than_its_user(admin: Caller, rita: User, vic: User) -> None:
    with pytest.raises(InvariantViolation, match="'rita' is reviewer"):
        create_token(caller=admin, kind="admin", username="rita")
    with pytest.raises(InvariantViolation, match="'vic' is viewer"):
        create_token(caller=admin, kind="reviewer", username="vic")
    assert create_token(caller=admin, kind="reviewer", username="owner")["username"] == "owner"


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_an_expiry_is_a_whole_number_of_days(days: int, admin: Caller) -> None:
    with pytest.raises(ValidationFailed, match="1 to 3650 days"):
        create_token(caller=admin, kind="harness", expires_days=days)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 151, "nul\0"])
def test_a_name_is_one_short_line(name: str, admin: Caller) -> None:
    with pytest.raises(ValidationFailed, match="printable"):
        create_token(caller=admin, kind="harness", name=name)


def test_two_living_tokens_or_a_token_and_a_user_cant_share_a_name(admin: Caller, rita: User) -> None:
    first = create_token(caller=admin, kind="harness", name="planner")
    for taken in ("planner", "PLANNER", "rita", "owner"):
        with pytest.raises(Conflict, match="in use"):
            create_token(caller=admin, kind="harness", name=taken)
    with pytest.raises(Conflict, match="in use"):
        create_user(caller=admin, username="Planner", role=Role.VIEWER)
    revoke_token(caller=admin, token_id=first["token_id"])
    assert create_token(caller=admin, kind="harness", name="planner")["name"] == "planner"


def test_a_token_without_a_name_is_called_by_its_kind_and_a_number(admin: Caller) -> None:
    names = [create_token(caller=admin, kind="harness")["name"] for _ in range(3)]
    assert names == ["harness", "harness-2", "harness-3"]


def test_a_revoked_token_is_refused_at_once_in_this_process_and_stays_so(
    admin: Caller, harness_token: str, django_capture_on_commit_callbacks: Any
) -> None:
    caller = principals.caller_of_token(harness_token)
    assert caller.token_id is not None
    with django_capture_on_commit_callbacks(execute=True):
        document = revoke_token(caller=admin, token_id=caller.token_id)
    assert document["revoked_at"] is not None
    with pytest.raises(Unauthenticated):
        principals.caller_of_token(harness_token)
    with pytest.raises(InvalidTransition, match="revoked already"):
        revoke_token(caller=admin, token_id=caller.token_id)
    assert len(events("auth.token_revoked")) == 1


def test_revoking_what_isnt_there_says_so(admin: Caller) -> None:
    with pytest.raises(NotFound, match="no token has the id 99"):
        revoke_token(caller=admin, token_id=99)


def test_a_token_is_valid_until_it_expires_even_when_it_is_remembered(
    make_token: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = make_token("harness", expires_days=1)
    assert principals.caller_of_token(token).role is Role.HARNESS
    end = clock.now() + timedelta(days=1, seconds=1)
    monkeypatch.setattr(principals, "now", lambda: end)
    with pytest.raises(Unauthenticated, match="unknown, revoked or expired"):
        principals.caller_of_token(token)


def test_a_remembered_token_costs_no_statement(harness_token: str) -> None:
    principals.caller_of_token(harness_token)
    with CaptureQueriesContext(
        connection,
    ) as statements:
        caller = principals.caller_of_token(harness_token)
    assert caller.actor == "planner"
    assert len(statements) == 0


def test_what_other_processes_changed_takes_effect_within_seconds(
    harness_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    principals.caller_of_token(harness_token)
    ApiToken.objects.update(revoked_at=clock.now())  # as another process would: nobody tells this one
    assert principals.token_cache.ttl <= 5
    later = principals.time.monotonic() + principals.token_cache.ttl
    monkeypatch.setattr(principals.time, "monotonic", lambda: later)
    with pytest.raises(Unauthenticated):
        principals.caller_of_token(harness_token)


def test_unknown_tokens_fill_no_memory(harness_token: str) -> None:
    for text in ("chf_" + "0" * 64, "chf_", "x", "chf_" + "g" * 64):
        with pytest.raises(Unauthenticated, match="unknown, revoked or expired"):
            principals.caller_of_token(text)
    assert len(principals.token_cache._known) == 0


def test_the_cache_stays_small() -> None:
    cache = principals.TokenCache(size=2)
    known: Any = principals.KnownToken(
        caller=Caller(actor="a", role=Role.HARNESS, via="rest"), expires_at=None, last_used_at=None
    )
    for digest in ("a", "b", "c"):
        cache.put(digest, known)
    assert cache.get("a", at=clock.now()) is None
    assert cache.get("c", at=clock.now()) is known


def test_the_last_use_is_kept_to_within_minutes_and_not_on_every_request(
    harness_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now()
    principals.caller_of_token(harness_token)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    for minutes, moved in ((1, False), (4, False), (6, True)):
        principals.token_cache.forget()
        monkeypatch.setattr(principals, "now", lambda minutes=minutes: start + timedelta(minutes=minutes))
        principals.caller_of_token(harness_token)
        assert (ApiToken.objects.get().last_used_at != first) is moved


def test_a_harness_or_viewer_token_is_never_a_person(make_token: Make) -> None:
    for kind in ("harness", "viewer"):
        caller = principals.caller_of_token(make_token(kind, name=f"my-{kind}"))
        assert (caller.actor, caller.person, caller.signed_in) == (f"my-{kind}", False, False)


def test_a_reviewers_token_counts_as_that_person_but_its_claims_stay_claims(
    make_token: Make, rita: User
) -> None:
    caller = principals.caller_of_token(make_token("reviewer", username="rita"))
    assert (caller.actor, caller.role, caller.person) == ("rita", Role.REVIEWER, True)
    assert caller.signed_in is False
    assert caller.claim("human") == "human"


def test_each_token_is_a_principal_of_its_own(make_token: Make, rita: User, reviewer: Caller) -> None:
    one = principals.caller_of_token(make_token("reviewer", username="rita", name="one"))
    other = principals.caller_of_token(make_token("reviewer", username="rita", name="other"))
    harness = principals.caller_of_token(make_token("harness"))
    keys = {one.principal, other.principal, harness.principal, reviewer.principal}
    assert len(keys) == 4
    assert reviewer.principal == f"user:{rita.pk}"
    assert Caller(actor="cli", role=Role.ADMIN, via="cli").principal == "cli"


def test_a_token_never_outlives_its_users_role(make_token: Make, admin: Caller, owner: User) -> None:
    second = create_user(caller=admin, username="second", role=Role.ADMIN)["user_id"]
    token = make_token("admin", username="second")
    assert principals.caller_of_token(token).role is Role.ADMIN
    for role in (Role.REVIEWER, Role.VIEWER):
        set_role(caller=admin, user_id=second, role=role)
        principals.token_cache.forget()
        assert principals.caller_of_token(token).role is role
    set_role(caller=admin, user_id=second, role=None)
    principals.token_cache.forget()
    with pytest.raises(Unauthenticated):
        principals.caller_of_token(token)


def test_a_token_doesnt_grow_with_its_user(make_token: Make, admin: Caller, rita: User) -> None:
    token = make_token("reviewer", username="rita")
    set_role(caller=admin, user_id=rita.pk, role=Role.ADMIN)
    principals.token_cache.forget()
    caller = principals.caller_of_token(token)
    assert caller.role is Role.REVIEWER
    assert not caller.may(Right.ADMINISTER)


def test_the_token_of_a_deactivated_user_is_refused(make_token: Make, admin: Caller, rita: User) -> None:
    token = make_token("reviewer", username="rita")
    set_active(caller=admin, user_id=rita.pk, active=False)
    principals.token_cache.forget()
    with pytest.raises(Unauthenticated):
        principals.caller_of_token(token)
    set_active(caller=admin, user_id=rita.pk, active=True)
    assert principals.caller_of_token(token).actor == "rita"


def test_a_token_keeps_the_door_it_came_through(make_token: Make, rita: User) -> None:
    token = make_token("reviewer", username="rita")
    for _ in range(2):
        assert principals.caller_of_token(token).person
        assert not principals.caller_of_token(token, via="mcp").person
