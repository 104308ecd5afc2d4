"""The audit page: found, read newest first, checked on request, and taken away whole."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared import audit_check
from chief_project.shared.caller import Caller, Role
from chief_project.shared.models import AuditEntry, Preferences, User
from chief_project.shared.services.create_user import create_user
from chief_project.web import audit as audit_pages
from chief_project.web.audit import EVENTS
from runs.services.register_run import register_run
from tests import triggers
from tests.workflows import new_approved
from workflows.services.add_review_note import add_review_note

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def log(reviewer: Caller) -> int:
    new_approved(reviewer, workflow_id="wf_1", title="<script>alert(1)</script>")
    register_run(caller=reviewer, workflow_id="wf_1", run_id="run_1")
    return AuditEntry.objects.count()


def events_in(said: str) -> list[str]:
    return [
        event.replace("<wbr>", "")
        for event in re.findall(r'<code class="id">(\w+\.<wbr>\w+.*?)</code>', said)
    ]


def test_it_is_newest_first_and_links_to_what_an_entry_is_about(web_as: WebAs, vic: User, log: int) -> None:
    page = web_as(vic).get("/audit")
    assert page.status_code == 200
    said = page.content.decode()
    assert [event for event in events_in(said) if not event.startswith("auth.")] == [
        "run.registered",
        "workflow.approved",
        "workflow.created",
    ]
    assert 'href="/workflows/wf_1"' in said
    assert 'href="/runs/run_1"' in said
    assert "Run started" in said
    assert "<script>alert" not in said


def test_filters_narrow_it_and_stay_in_the_form(web_as: WebAs, vic: User, log: int) -> None:
    web = web_as(vic)
    said = web.get("/audit?workflow_id=wf_1&event=workflow.approved&actor=rita&via=rest").content.decode()
    assert events_in(said) == ["workflow.approved"]
    assert 'name="workflow_id" value="wf_1"' in said
    assert '<option value="workflow.approved" selected>' in said
    assert (
        "/audit/entries.csv?workflow_id=wf_1&amp;event=workflow.approved&amp;actor=rita&amp;via=rest" in said
    )
    nothing = web.get("/audit?actor=nobody").content.decode()
    assert "No entry matches." in nothing
    assert (
        '<option value="some.event" selected>some.event'
        in web.get("/audit?event=some.event").content.decode()
    )


def test_times_are_in_the_readers_zone_and_until_counts_its_whole_minute(
    web_as: WebAs, vic: User, log: int
) -> None:
    triggers.take_away()
    AuditEntry.objects.update(at="2026-01-15T12:30:40Z")
    Preferences.objects.create(user=vic, time_zone="Asia/Tokyo")  # 21:30
    web = web_as(vic)

    def found(query: str) -> int:
        return len(events_in(web.get(f"/audit?{query}").content.decode()))

    assert found("since=2026-01-15T21:30") == log
    assert found("since=2026-01-15T21:31") == 0
    assert found("until=2026-01-15T21:30") == log
    assert found("until=2026-01-15T21:29") == 0
    assert found("until=2026-01-15") == log
    assert found("until=2026-01-14") == 0
    assert found("since=2026-01-15T12:31Z") == 0
    assert "Times are in your zone, Asia/Tokyo." in web.get("/audit").content.decode()


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=0001-01-01T00:00", "actor=%00", "cursor=made-up"]
)
def test_what_cannot_be_looked_for_is_refused(web_as: WebAs, vic: User, query: str) -> None:
    Preferences.objects.create(user=vic, time_zone="Asia/Tokyo")
    assert web_as(vic).get(f"/audit?{query}").status_code == 422


def test_pages_follow_one_another_with_their_filters(
    web_as: WebAs, vic: User, log: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_pages, "PAGE", 1)
    web = web_as(vic)
    first = web.get("/audit?workflow_id=wf_1").content.decode()
    assert events_in(first) == ["run.registered"]
    older = re.search(r'rel="next" href="([^"]+)"', first)
    assert older is not None
    second = web.get(older[1].replace("&amp;", "&")).content.decode()
    assert events_in(second) == ["workflow.approved"]
    assert "3 entries" in second


def test_a_page_costs_the_same_whatever_it_holds(web_as: WebAs, vic: User, log: int, admin: Caller) -> None:
    web = web_as(vic)
    web.get("/audit")
    with CaptureQueriesContext(connection) as few:
        web.get("/audit")
    for number in range(5):
        create_user(caller=admin, username=f"p{number}", role=Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        web.get("/audit")
    assert len(many) == len(few)


# -- The chain -------------------------------------------------------------------------------------


def chain_of(web: Client, address: str) -> str:
    """What the page says of the chain, in one line."""
    said = web.get(address).content.decode()
    section = said[said.index('<section class="au-chain"') :]
    return " ".join(re.sub(r"<[^>]+>", "", section[: section.index("</section>")]).split())


def further(web: Client, address: str) -> str:
    """Where a check that ran out of time goes on; "" where it didn't."""
    found = re.search(r'id="chain-on" href="([^"#]*)#chain"', web.get(address).content.decode())
    return html.unescape(found[1]) if found else ""


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is time for a single entry at once."""
    monkeypatch.setattr(audit_pages, "CHECK_SECONDS", -1.0)
    monkeypatch.setattr(audit_check, "_LOOK", 1)


def test_the_chain_is_checked_when_it_is_asked_for(web_as: WebAs, vic: User, log: int) -> None:
    web = web_as(vic)
    assert "Whole" not in chain_of(web, "/audit")
    said = chain_of(web, "/audit?check=1")
    assert "Whole, as of " in said
    assert f"{log} entries in 3 chains" in said
    assert "1 entry in 1 chain" in chain_of(web, "/audit?check=1&run_id=run_1")


def test_a_broken_chain_is_said_loudly(web_as: WebAs, vic: User, log: int) -> None:
    triggers.take_away()
    AuditEntry.objects.filter(stream="run:run_1").update(actor="someone")
    said = web_as(vic).get("/audit?check=1").content.decode()
    assert "The chain is broken." in said
    assert "run:run_1#1 was changed" in said
    assert "Whole" not in said


def test_a_check_that_runs_out_of_time_goes_on_by_links_to_a_verdict_on_everything(
    web_as: WebAs, vic: User, log: int, slow: None
) -> None:
    web = web_as(vic)
    entries, address = log, "/audit?check=1"
    for read in range(1, entries):
        said = chain_of(web, address)
        assert f"{read} of {entries} entries read, no break so far." in said
        assert "Whole" not in said
        address = further(web, address)
    said = chain_of(web, address)
    assert "Whole, each chain as of its turn." in said
    assert f"{entries} entries in 3 chains, each from its first to its head." in said
    assert further(web, address) == ""


def test_a_check_that_goes_on_keeps_to_what_is_filtered_by(
    web_as: WebAs, vic: User, log: int, slow: None
) -> None:
    web = web_as(vic)
    address = further(web, "/audit?workflow_id=wf_1&check=1")
    assert "workflow_id=wf_1&check=" in address
    assert "2 of 3 entries read" in chain_of(web, address)
    assert "3 entries in 2 chains" in chain_of(web, further(web, address))


def test_scripts_let_a_check_go_on_by_itself_in_its_own_place(
    web_as: WebAs, vic: User, log: int, slow: None
) -> None:
    web = web_as(vic)
    said = web.get("/audit?check=1").content.decode()
    asked = re.search(r'id="chain"[^>]* hx-get="([^"]*)"', said)
    assert asked is not None
    part = web.get(html.unescape(asked[1]), HTTP_HX_REQUEST="true", HTTP_HX_TARGET="chain").content.decode()
    assert part.strip().startswith('<section class="au-chain" id="chain"')
    assert "<table" not in part


def test_a_break_is_found_wherever_the_check_stopped_before_it(
    web_as: WebAs, vic: User, log: int, slow: None
) -> None:
    triggers.take_away()
    AuditEntry.objects.filter(stream="workflow:wf_1", position=2).update(actor="someone")
    web, address = web_as(vic), "/audit?check=1"
    for _ in range(log + 1):
        if not (there := further(web, address)):
            break
        address = there
    said = chain_of(web, address)
    assert "workflow:wf_1#2 was changed" in said
    assert "Whole" not in said


@pytest.mark.parametrize("filters", ["", "workflow_id=wf_1&"])
def test_a_place_that_nobody_gave_proves_nothing(
    web_as: WebAs, vic: User, log: int, slow: None, filters: str
) -> None:
    """Neither one that was made up, nor one of a check of something else."""
    web = web_as(vic)
    place = further(web, "/audit?check=1" if filters else "/audit?workflow_id=wf_1&check=1")
    given = parse_qs(urlsplit(place).query)["check"][0]
    text, signature = given.rsplit(".", 1)
    for forged in (given, f"{text}A.{signature}", text, "2", "x" * 3000):
        answered = web.get("/audit", dict(parse_qsl(filters)) | {"check": forged})
        assert answered.status_code == 422
        assert "Whole" not in answered.content.decode()


# -- Exports ---------------------------------------------------------------------------------------


def taken(web: Client, address: str) -> tuple[str, str]:
    answer = web.get(address)
    assert answer.status_code == 200
    assert answer.streaming
    assert answer["Content-Disposition"].startswith('attachment; filename="chief-audit-2')
    return answer["Content-Type"], answer.getvalue().decode()


def test_json_lines_can_be_verified_by_whoever_has_them(web_as: WebAs, vic: User, log: int) -> None:
    kind, text = taken(web_as(vic), "/audit/entries.jsonl")
    assert kind == "application/jsonl; charset=utf-8"
    entries = [json.loads(line) for line in text.splitlines()]
    assert len(entries) == log
    before: dict[str, str] = {}
    for entry in entries:
        assert entry["prev_hash"] == before.get(entry["stream"], "")
        assert entry["hash"] == hashlib.sha256((entry["prev_hash"] + entry["text"]).encode()).hexdigest()
        before[entry["stream"]] = entry["hash"]
        assert entry["at"].endswith("Z")
    _, text = taken(web_as(vic), "/audit/entries.jsonl?run_id=run_1")
    assert [json.loads(line)["event"] for line in text.splitlines()] == ["run.registered"]


def test_csv_holds_the_same_and_no_formula(web_as: WebAs, vic: User, log: int) -> None:
    evil = '=HYPERLINK("http://x")'
    new_approved(Caller(actor=evil, role=Role.ADMIN, via="cli"), workflow_id="-wf")
    kind, text = taken(web_as(vic), "/audit/entries.csv")
    assert kind == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len(rows) == log + 2
    for row in rows:
        assert row["hash"] == hashlib.sha256((row["prev_hash"] + row["text"]).encode()).hexdigest()
        assert not any((value or "").startswith(("=", "+", "-", "@", "\t", "\r")) for value in row.values())
    assert rows[-1]["actor"] == f"'{evil}"
    assert rows[-1]["workflow_id"] == "'-wf"


def test_a_long_detail_is_led_to_and_no_part_of_the_page(web_as: WebAs, vic: User, reviewer: Caller) -> None:
    new_approved(reviewer, {"id": "a", "type": "task", "goal": "Say it long. " * 20_000}, workflow_id="wf_1")
    add_review_note(caller=reviewer, workflow_id="wf_1", body="Very long. " * 20_000)
    web = web_as(vic)
    said = web.get("/audit").content.decode()
    assert len(said) < 100_000
    link = re.search(r'href="([^"]*)">Too long for a page: as JSON', said)
    assert link is not None
    alone = b"".join(web.get(html.unescape(link[1])))
    assert [json.loads(line)["event"] for line in alone.splitlines()] == ["workflow.note_added"]


def test_who_may_not_oversee_gets_nothing(web_as: WebAs, log: int) -> None:
    for address in ("/audit", "/audit/entries.csv", "/audit/entries.jsonl"):
        assert web_as(None).get(address).status_code == 302
        assert web_as(None).post(address).status_code in (302, 401, 405)


def test_every_event_that_is_recorded_has_words() -> None:
    said = {
        event
        for app in ("chief_project", "workflows", "runs", "amendments")
        for file in (ROOT / app).rglob("services/*.py")
        for event in re.findall(
            r'"((?:workflow|template|run|step|instance|checkpoint|stale|artifact|amendment|config|auth)\.[a-z_]+)"',
            file.read_text(),
        )
    }
    assert said
    assert said <= set(EVENTS)
