"""Who left a browser somewhere signs it out from another (contract 9)."""

from __future__ import annotations

import json

import pytest
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Unauthenticated
from chief_project.shared.models import AuditEntry, User
from chief_project.shared.services.end_other_sessions import end_other_sessions
from tests.refusals import refused

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def end_from(client: Client, caller: Caller) -> int:
    request = RequestFactory().post("/")
    request.session = client.session
    return end_other_sessions(caller=caller, request=request)


def entries() -> list[dict[str, object]]:
    found = AuditEntry.objects.filter(event="auth.sessions_ended")
    return [json.loads(entry.text)["detail"] for entry in found]


def test_ones_own_other_sessions_end_and_nobody_elses(reviewer: Caller, rita: User, vic: User) -> None:
    here, there, nowhere, vics = browser(rita), browser(rita), browser(rita), browser(vic)
    assert end_from(here, reviewer) == 2
    living = set(Session.objects.values_list("session_key", flat=True))
    assert living == {here.session.session_key, vics.session.session_key}
    assert entries() == [{"username": "rita", "sessions": 2, "via": "rest"}]
    assert (there.get("/v1/me").status_code, nowhere.get("/v1/me").status_code) == (401, 401)
    assert (here.get("/v1/me").status_code, vics.get("/v1/me").status_code) == (200, 200)


def test_without_another_nothing_is_written(reviewer: Caller, rita: User) -> None:
    assert end_from(browser(rita), reviewer) == 0
    assert entries() == []


def test_a_token_has_no_sessions(harness: Caller, rita: User) -> None:
    client = browser(rita)
    with refused(Unauthenticated, "sign in to end your other sessions"):
        end_from(client, harness)
