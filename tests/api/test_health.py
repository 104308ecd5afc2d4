"""Probes: live, ready, and nothing leaked (contract 11)."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared import health


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", set())


def test_a_live_process_says_so_without_a_database(client: Client) -> None:
    answer = client.get("/healthz")
    assert answer.status_code == 204
    assert answer.content == b""


@pytest.mark.django_db
def test_a_ready_process_says_so_and_then_asks_one_question(client: Client) -> None:
    assert client.get("/readyz").status_code == 204
    with CaptureQueriesContext(connection) as queries:
        assert client.head("/readyz").status_code == 204
    assert len(queries) == 1


@pytest.mark.django_db
def test_a_missing_migration_makes_it_unready(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="runs").delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"error": {"code": "unavailable", "message": "not ready: migrations are missing"}}


@pytest.mark.django_db
def test_a_database_that_is_away_makes_it_unready_and_leaks_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("connection to 10.0.0.7 failed: password of chief")

    monkeypatch.setattr(connection, "cursor", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "10.0.0.7" not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_may_come_by_any_address(client: Client, path: str) -> None:
    assert client.get(path, headers={"host": "10.0.0.3:8000"}).status_code == 204


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_only_look(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


@pytest.mark.django_db
def test_a_page_whose_database_is_away_says_so_and_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("server closed the connection at 10.0.0.7")

    monkeypatch.setattr("chief_project.web.pages.caller_of_session", away)
    client = Client(raise_request_exception=False)
    page = client.get("/", headers={"accept": "text/html"})
    assert (page.status_code, page["Retry-After"]) == (503, "1")
    assert "The database is busy or away" in page.content.decode()
    assert "10.0.0.7" not in page.content.decode()
    answer = client.get("/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer.json()["error"]["code"] == "unavailable"
