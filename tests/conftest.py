"""One cast of characters for every test.

People: ``owner`` (admin), ``rita`` (reviewer), ``vic`` (viewer). Callers, for services: ``admin``, ``reviewer`` and
``viewer`` are those people signed in; ``harness`` and ``relay`` are tokens. ``api_as(…)`` is a client that really
authenticates, by session or by token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.transaction import Atomic
from hypothesis import HealthCheck, settings
from rest_framework.test import APIClient

from chief_project.shared import principals
from chief_project.shared.caller import Caller, Role
from chief_project.shared.models import User
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from tests import triggers
from workflows.mappers import plan_cache

SETTING_UP = Caller(actor="tests", role=Role.ADMIN, via="cli")

# How long an example takes is the machine's affair.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """On SQLite, Django empties tables after a test with real transactions row by row, which the audit's triggers
    refuse: there they are away, but for the test about them. On PostgreSQL it truncates, and they stay.
    """
    if connection.vendor == "sqlite":
        with django_db_blocker.unblock():
            triggers.take_away()


@pytest.fixture(autouse=True)
def _no_token_remembered() -> None:
    principals.token_cache.forget()


@pytest.fixture(autouse=True)
def _no_plan_remembered() -> None:
    """A test that is rolled back frees its plans' row ids for the next."""
    plan_cache.clear()


@pytest.fixture(autouse=True)
def _outermost_blocks_are_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's own transaction is around everything, so a block that is outermost for the product is not for Django.

    It gets a savepoint, which stands for its BEGIN and COMMIT: a refusal rolls back what it wrote and nothing else,
    and the test may go on. Without this, ``savepoint=False`` would spoil the test's transaction.
    """
    enter = Atomic.__enter__

    def entered(self: Atomic) -> None:
        blocks = transaction.get_connection(self.using).atomic_blocks
        if blocks and blocks[-1]._from_testcase:
            self.savepoint = True
        enter(self)

    monkeypatch.setattr(Atomic, "__enter__", entered)


# -- People ------------------------------------------------------------------------------------------


def _person(username: str, role: Role) -> User:
    made = create_user(caller=SETTING_UP, username=username, role=role)
    return User.objects.get(pk=made["user_id"])


@pytest.fixture
def owner(db: None) -> User:
    return _person("owner", Role.ADMIN)


@pytest.fixture
def rita(db: None) -> User:
    return _person("rita", Role.REVIEWER)


@pytest.fixture
def vic(db: None) -> User:
    return _person("vic", Role.VIEWER)


# -- Callers, as services get them -------------------------------------------------------------------


def _signed_in(user: User, role: Role) -> Caller:
    return Caller(actor=user.username, role=role, via="rest", user_id=user.pk, signed_in=True)


@pytest.fixture
def admin(owner: User) -> Caller:
    return _signed_in(owner, Role.ADMIN)


@pytest.fixture
def reviewer(rita: User) -> Caller:
    return _signed_in(rita, Role.REVIEWER)


@pytest.fixture
def viewer(vic: User) -> Caller:
    return _signed_in(vic, Role.VIEWER)


@pytest.fixture
def harness(harness_token: str) -> Caller:
    """A harness token without relay, called ``planner``."""
    return principals.caller_of_token(harness_token)


@pytest.fixture
def relay(relay_token: str) -> Caller:
    """A harness token that may relay decisions, called ``relayer``."""
    return principals.caller_of_token(relay_token)


# -- Tokens and clients ------------------------------------------------------------------------------


@pytest.fixture
def make_token(db: None) -> Callable[..., str]:
    """``make_token(kind, …)``: the text of a new token; takes what ``create_token`` takes."""

    def make(kind: str, **options: Any) -> str:
        token: str = create_token(caller=SETTING_UP, kind=kind, **options)["token"]
        return token

    return make


@pytest.fixture
def harness_token(make_token: Callable[..., str]) -> str:
    return make_token("harness", name="planner")


@pytest.fixture
def relay_token(make_token: Callable[..., str]) -> str:
    return make_token("harness", name="relayer", relay=True)


@pytest.fixture
def api_as(db: None, make_token: Callable[..., str]) -> Callable[..., APIClient]:
    """``api_as(principal)``: a client of ``/v1`` that authenticates as a client outside would.

    ``principal``: a ``User`` signs in by a session; a ``str`` is a token's text; a ``Caller`` stands for the user
    signed in, or gets a new token of its kind (another principal than the caller!); ``None`` is nobody.
    JSON is the default format. CSRF isn't checked, unless ``csrf=True``.
    """

    def client(principal: User | Caller | str | None, *, csrf: bool = False) -> APIClient:
        api = APIClient(enforce_csrf_checks=csrf)
        api.default_format = "json"
        if isinstance(principal, Caller):
            if principal.signed_in:
                principal = User.objects.get(pk=principal.user_id)
            else:
                principal = make_token(principal.role.value, relay=principal.relay)
        if isinstance(principal, User):
            api.force_login(principal, backend="django.contrib.auth.backends.ModelBackend")
        elif principal is not None:
            api.credentials(HTTP_AUTHORIZATION=f"Bearer {principal}")
        return api

    return client
