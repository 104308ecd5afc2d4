"""What an operator runs: the first start, ``signin_link``, ``create_token`` (contract 11)."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from chief_project import bootstrap
from chief_project.management import database
from chief_project.management.commands import serve
from chief_project.shared import health, principals
from chief_project.shared.caller import Role
from chief_project.shared.models import ApiToken, AuditEntry, SigninLink, User
from tests.together import at_once

URL = "http://chief.example:9000"


def run(*arguments: str) -> tuple[str, str]:
    """What a command wrote to standard output and to standard error."""
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def start(data_dir: Path) -> list[str]:
    said: list[str] = []
    bootstrap.first_start(url=URL, data_dir=data_dir, say=said.append)
    return said


def sign_in(url: str) -> Client:
    """Follow a printed link as a person would."""
    client = Client()
    path = url.removeprefix(URL).removeprefix("http://127.0.0.1:8000")
    page = client.get(path)
    assert page.status_code == 200
    client.post("/signin/link", {"secret": path.rsplit("/", 1)[1]})
    return client


# -- First start -------------------------------------------------------------------------------------


def test_the_first_start_makes_an_owner_and_a_harness_token_and_says_where_both_are(
    db: None, tmp_path: Path
) -> None:
    where, link = start(tmp_path)
    owner = User.objects.get()
    assert (owner.username, owner.has_usable_password()) == ("owner", False)
    file = tmp_path / "harness.token"
    assert str(file) in where
    caller = principals.caller_of_token(file.read_text().strip())
    assert (caller.actor, caller.role, caller.relay) == ("harness", Role.HARNESS, False)
    client = sign_in(link.split(": ", 1)[1])
    assert client.get("/v1/me").json()["role"] == "admin"


def test_the_tokens_file_is_for_its_owner_alone_and_the_token_is_never_said(
    db: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = "\n".join(start(tmp_path))
    file = tmp_path / "harness.token"
    token = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in said
    assert token not in caplog.text
    assert not AuditEntry.objects.filter(text__contains=token).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["address", "harness.token"]


def test_later_starts_change_nothing_and_say_a_new_link_until_someone_signed_in(
    db: None, tmp_path: Path
) -> None:
    start(tmp_path)
    token = (tmp_path / "harness.token").read_text()
    (link,) = start(tmp_path)
    assert (User.objects.count(), ApiToken.objects.count()) == (1, 1)
    assert (tmp_path / "harness.token").read_text() == token
    sign_in(link.split(": ", 1)[1])
    assert start(tmp_path) == []


def test_a_start_on_a_database_with_people_makes_nobody(db: None, tmp_path: Path, rita: User) -> None:
    assert start(tmp_path) == []
    assert User.objects.get() == rita
    assert not (tmp_path / "harness.token").exists()


def test_a_first_start_that_fails_leaves_nothing_half_made(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bootstrap.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        start(tmp_path)
    assert not User.objects.exists()
    assert not ApiToken.objects.exists()
    assert not AuditEntry.objects.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["address"]


def test_an_old_token_of_another_database_is_replaced(db: None, tmp_path: Path) -> None:
    (tmp_path / "harness.token").write_text("chf_old\n")
    start(tmp_path)
    assert principals.caller_of_token((tmp_path / "harness.token").read_text().strip()).actor == "harness"
    assert stat.S_IMODE((tmp_path / "harness.token").stat().st_mode) == 0o600


@pytest.mark.django_db(transaction=True)
def test_two_processes_that_start_at_once_make_one_owner(tmp_path: Path) -> None:
    said = at_once([partial(start, tmp_path)] * 4)
    assert sorted(len(lines) for lines in said) == [1, 1, 1, 2]
    assert (User.objects.count(), ApiToken.objects.count()) == (1, 1)
    assert principals.caller_of_token((tmp_path / "harness.token").read_text().strip()).role is Role.HARNESS


# -- signin_link -------------------------------------------------------------------------------------


def test_signin_link_prints_the_link_alone_for_the_owner_or_a_named_user(
    owner: User, rita: User, settings: Any
) -> None:
    settings.CHIEF_URL = URL
    settings.CHIEF_DATA_DIR = Path("/nonexistent")
    out, err = run("signin_link")
    assert out.startswith(f"{URL}/signin/link/")
    assert len(out.splitlines()) == 1
    assert "15 minutes" in err
    assert sign_in(out.strip()).get("/v1/me").json()["actor"] == "owner"
    out, _ = run("signin_link", "rita")
    assert sign_in(out.strip()).get("/v1/me").json()["actor"] == "rita"
    assert [entry.via for entry in AuditEntry.objects.filter(event="auth.signin_link_created")] == [
        "cli",
        "cli",
    ]


def test_signin_link_uses_the_port_that_serve_was_started_with(
    owner: User, settings: Any, tmp_path: Path
) -> None:
    settings.CHIEF_DATA_DIR = tmp_path
    start(tmp_path)
    out, _ = run("signin_link")
    assert out.startswith(f"{URL}/signin/link/")


def test_signin_link_for_nobody_says_so_in_one_line(owner: User) -> None:
    with pytest.raises(CommandError, match="no active user is called 'nobody'"):
        run("signin_link", "nobody")
    assert not SigninLink.objects.exists()


# -- A database that can't be used -------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [["signin_link"], ["create_token", "--kind", "harness"], ["verify_audit"]]
)
def test_a_command_on_a_database_without_tables_says_what_to_run_first(
    db: None, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr(health, "_migrated", set())
    MigrationRecorder.Migration.objects.filter(app="runs").delete()
    with pytest.raises(CommandError, match="run 'serve', or 'migrate'") as refused:
        run(*command)
    assert refused.value.returncode == 2  # 1 says that the audit log is broken


def test_a_command_whose_database_is_away_says_so_in_one_line(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> bool:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(database, "is_migrated", away)
    with pytest.raises(CommandError) as refused:
        run("verify_audit")
    assert str(refused.value) == "DATABASE_URL: the database can't be used: connection refused"


# -- create_token ------------------------------------------------------------------------------------


def test_create_token_prints_the_token_alone(db: None) -> None:
    out, err = run("create_token", "--kind", "harness", "--name", "planner", "--relay", "--expires", "7")
    assert len(out.splitlines()) == 1
    caller = principals.caller_of_token(out.strip())
    assert (caller.actor, caller.relay) == ("planner", True)
    assert "planner" in err
    assert out.strip() not in err
    token = ApiToken.objects.get()
    assert token.expires_at is not None
    assert (token.expires_at - token.created_at).days == 7
    entry = json.loads(AuditEntry.objects.get(event="auth.token_created").text)
    assert (entry["actor"], entry["via"], entry["detail"]["relay"]) == ("cli", "cli", True)


def test_create_token_takes_the_only_person_it_can_be_for(owner: User, rita: User) -> None:
    out, _ = run("create_token", "--kind", "admin")
    assert principals.caller_of_token(out.strip()).actor == "owner"
    with pytest.raises(CommandError, match="--user: say whose reviewer token it is"):
        run("create_token", "--kind", "reviewer")
    out, _ = run("create_token", "--kind", "reviewer", "--user", "rita")
    assert principals.caller_of_token(out.strip()).actor == "rita"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "viewer", "--relay"], "relay is for harness tokens"),
        (["--kind", "harness", "--user", "owner"], "belongs to no user"),
        (["--kind", "harness", "--expires", "0"], "1 to 3650 days"),
        (["--kind", "harness", "--name", "owner"], "in use"),
        (["--kind", "reviewer", "--user", "nobody"], "no active user"),
        (["--kind", "root"], "invalid choice"),
    ],
)
def test_create_token_refuses_in_one_line_and_makes_nothing(
    arguments: list[str], said: str, owner: User
) -> None:
    with pytest.raises(CommandError, match=said):
        run("create_token", *arguments)
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("url", "believed"), [("http://127.0.0.1:8000", False), ("https://chief.example.org", True)]
)
def test_an_address_that_a_client_claims_is_believed_only_behind_a_proxy_that_speaks_tls(
    url: str, believed: bool, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    told: dict[str, Any] = {}
    settings.ENVIRONMENT = replace(settings.ENVIRONMENT, url=url, url_is_default=False)
    monkeypatch.setattr(serve.uvicorn, "run", lambda *args, **options: told.update(options))
    monkeypatch.setattr(serve.Command, "prepare_database", lambda self, url: None)
    monkeypatch.setattr(serve, "check_port", lambda host, port: None)
    call_command("serve", stdout=StringIO())
    assert told["proxy_headers"] is believed
    assert told["http"] == "chief_project.protocol:ChiefProtocol"
