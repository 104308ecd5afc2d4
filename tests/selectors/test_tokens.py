"""Reading tokens, and whose a token can be (contract 9)."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden
from chief_project.shared.models import ApiToken, User
from chief_project.shared.paging import Paging
from chief_project.shared.selectors import list_tokens, token_owners
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from chief_project.shared.services.revoke_token import revoke_token
from chief_project.shared.services.set_active import set_active

pytestmark = pytest.mark.django_db


def test_tokens_in_use_and_revoked_ones_are_two_lists_newest_first(
    admin: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    made = [create_token(caller=admin, kind="harness", name=name) for name in ("first", "second", "third")]
    create_token(caller=admin, kind="admin", name="mine", username="owner")
    revoke_token(caller=admin, token_id=made[1]["token_id"])
    with django_assert_num_queries(2):
        page = list_tokens(caller=admin, paging=Paging(limit=2))
    assert [row["name"] for row in page.rows] == ["mine", "third"]
    assert page.rows[0]["username"] == "owner"
    rest = list_tokens(caller=admin, paging=Paging(limit=2, cursor=page.next_cursor))
    assert [row["name"] for row in rest.rows] == ["first"]
    gone = list_tokens(caller=admin, paging=Paging(), revoked=True).rows
    assert [row["name"] for row in gone] == ["second"]
    assert gone[0]["revoked_at"] is not None


def test_nothing_that_opens_a_door_is_read(admin: Caller) -> None:
    text = create_token(caller=admin, kind="harness")["token"]
    row = list_tokens(caller=admin, paging=Paging()).rows[0]
    said = str(row)
    assert text not in said
    assert ApiToken.objects.get().digest not in said
    assert row["prefix"] == text[: len(row["prefix"])]


def test_only_an_admin_reads_tokens(reviewer: Caller, viewer: Caller, harness: Caller) -> None:
    for caller in (reviewer, viewer, harness):
        with pytest.raises(Forbidden, match="may not read the tokens: ask an admin"):
            list_tokens(caller=caller, paging=Paging())
        with pytest.raises(Forbidden, match="may not read whose a token can be"):
            token_owners(caller=caller)


def test_a_token_can_belong_to_active_reviewers_and_admins(
    admin: Caller, reviewer: Caller, viewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    made = create_user(caller=admin, username="gone", role=Role.ADMIN)
    set_active(caller=admin, user_id=made["user_id"], active=False)
    User.objects.create_superuser("root", password="x" * 20)
    with django_assert_num_queries(1):
        owners = token_owners(caller=admin)
    assert owners == [("owner", Role.ADMIN), ("rita", Role.REVIEWER), ("root", Role.ADMIN)]
