"""Reading, exporting and checking the audit log (contract 8)."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.audit import Checked, check_audit_log
from amendments.services.cancel_run import cancel_run
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared import audit_check, selectors
from chief_project.shared.audit import chain_hash
from chief_project.shared.audit_check import Verdict
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden, ValidationFailed
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
from chief_project.shared.selectors import AuditFilter, export_audit, list_audit
from chief_project.shared.services.create_user import create_user
from runs.models import Run
from runs.services.register_run import register_run
from tests import triggers
from tests.amendments import insert_after, propose
from tests.plans import task
from tests.runs import new_run
from tests.workflows import new_approved
from workflows.models import Workflow

pytestmark = pytest.mark.django_db


@pytest.fixture
def log(admin: Caller) -> int:
    """How many entries there are: of people, two workflows, and a run of each."""
    for number in (1, 2):
        new_approved(admin, workflow_id=f"wf_{number}")
        register_run(caller=admin, workflow_id=f"wf_{number}", run_id=f"run_{number}")
    return AuditEntry.objects.count()


def events(caller: Caller, **wanted: object) -> list[str]:
    return [row["event"] for row in list_audit(caller=caller, paging=Paging(), **wanted).rows]


def test_it_is_read_oldest_first_or_newest_first(admin: Caller, log: int) -> None:
    oldest = list_audit(caller=admin, paging=Paging()).rows
    assert [row["id"] for row in oldest] == sorted(row["id"] for row in oldest)
    newest = list_audit(caller=admin, paging=Paging(limit=2), newest_first=True)
    assert newest.rows == oldest[::-1][:2]
    rest = list_audit(caller=admin, paging=Paging(cursor=newest.next_cursor), newest_first=True)
    assert rest.rows == oldest[::-1][2:]


def test_everything_given_must_match(admin: Caller, reviewer: Caller, log: int) -> None:
    create_user(caller=Caller(actor="setup", role=Role.ADMIN, via="cli"), username="new", role=Role.VIEWER)
    assert events(admin, workflow_id="wf_1") == ["workflow.created", "workflow.approved", "run.registered"]
    assert events(admin, workflow_id="wf_1", event="workflow.approved") == ["workflow.approved"]
    assert events(admin, run_id="run_2") == ["run.registered"]
    assert events(admin, actor="setup") == ["auth.user_created"]
    assert events(admin, actor="setup", via="rest") == []
    assert len(events(admin, actor="owner", via="rest")) == 6
    last = AuditEntry.objects.latest("id").at
    assert events(admin, since=last + timedelta(seconds=1)) == []
    assert len(events(admin, until=last)) == AuditEntry.objects.count()


def test_an_export_is_whole_and_can_be_verified_line_by_line(admin: Caller, log: int) -> None:
    entries = list(export_audit(caller=admin, wanted=AuditFilter(run_id="run_1")))
    assert [entry["stream"] for entry in entries] == ["run:run_1"]
    entries = list(export_audit(caller=admin, wanted=AuditFilter()))
    assert len(entries) == log
    assert [entry["id"] for entry in entries] == sorted(entry["id"] for entry in entries)
    for entry in entries:
        assert entry["hash"] == hashlib.sha256((entry["prev_hash"] + entry["text"]).encode()).hexdigest()
        assert entry["detail"] == json.loads(entry["text"])["detail"]


def test_an_export_is_read_in_portions_and_holds_nothing(
    admin: Caller, log: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "_PORTION", 2)
    wanted = export_audit(caller=admin, wanted=AuditFilter())
    with CaptureQueriesContext(connection) as asked:
        first = [next(wanted), next(wanted)]
    assert len(asked) == 2  # where it ends, and the first portion
    create_user(caller=admin, username="late", role=Role.VIEWER)
    assert len([*first, *wanted]) == log


def test_an_export_of_nothing_is_empty(admin: Caller) -> None:
    assert list(export_audit(caller=admin, wanted=AuditFilter(event="no.such"))) == []


def test_a_harness_neither_reads_exports_nor_checks(harness: Caller) -> None:
    with pytest.raises(Forbidden, match="may not read the audit log"):
        list_audit(caller=harness, paging=Paging())
    with pytest.raises(Forbidden, match="may not export the audit log"):
        export_audit(caller=harness, wanted=AuditFilter())
    with pytest.raises(Forbidden, match="may not check the audit log"):
        check_audit_log(caller=harness, seconds=1, wanted=AuditFilter())


# -- Checking what is shown ------------------------------------------------------------------------


def checked(caller: Caller, *, seconds: float = 60, **wanted: str) -> tuple[int, int, str | None, bool]:
    asked = AuditFilter(**wanted)  # type: ignore[arg-type]
    verdict = check_audit_log(caller=caller, seconds=seconds, wanted=asked).verdict
    return verdict.streams, verdict.entries, verdict.broken, verdict.finished


def test_what_is_checked_are_the_streams_of_what_is_shown(viewer: Caller, log: int) -> None:
    everything = AuditEntry.objects.count()
    assert checked(viewer) == (5, everything, None, True)
    assert checked(viewer, event="workflow.approved") == (5, everything, None, True)
    assert checked(viewer, run_id="run_1") == (1, 1, None, True)
    assert checked(viewer, workflow_id="wf_1") == (2, 3, None, True)
    assert checked(viewer, run_id="nowhere") == (0, 0, None, True)


def test_of_an_amendment_its_runs_chain_is_checked(reviewer: Caller) -> None:
    new_run(reviewer)
    made = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    entries = AuditEntry.objects.filter(stream="run:r1").count()
    assert checked(reviewer, amendment_id=made) == (1, entries, None, True)


def test_a_deleted_workflow_can_still_be_checked(admin: Caller, log: int) -> None:
    delete_workflow(caller=admin, workflow_id="wf_1")
    streams, _, broken, _ = checked(admin, workflow_id="wf_1")
    assert (streams, broken) == (3, None)  # its own, its run's, and the rest, where the deletion stands


def test_a_broken_link_is_named_only_where_its_stream_is_checked(viewer: Caller, log: int) -> None:
    triggers.take_away()
    AuditEntry.objects.filter(stream="run:run_1").update(actor="someone")
    said = "run:run_1#1 was changed: its column actor says 'someone', its text 'owner'"
    assert checked(viewer, run_id="run_1")[2] == said
    assert checked(viewer, workflow_id="wf_1")[2] == said
    assert checked(viewer)[2] == said
    assert checked(viewer, run_id="run_2")[2] is None


def test_a_named_stream_that_was_cut_out_whole_is_missed(viewer: Caller, log: int) -> None:
    triggers.take_away()
    AuditEntry.objects.filter(stream="run:run_1").delete()
    assert Run.objects.filter(run_id="run_1").exists()
    assert checked(viewer, run_id="run_1")[2] == "run:run_1#1 is missing: its head counts 1 entries"


# -- A check in several goes -----------------------------------------------------------------------


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is time for a single entry at once, for whoever has less than none."""
    monkeypatch.setattr(audit_check, "_LOOK", 1)


def go_on(caller: Caller, cursor: str | None = None, **wanted: str) -> Checked:
    asked = AuditFilter(**wanted)  # type: ignore[arg-type]
    return check_audit_log(caller=caller, seconds=-1, wanted=asked, cursor=cursor)


def to_the_end(caller: Caller, cursor: str | None = None) -> Verdict:
    found = go_on(caller, cursor)
    while found.next_cursor is not None:
        assert found.verdict.broken is None
        found = go_on(caller, found.next_cursor)
    return found.verdict


def test_when_the_time_is_up_it_says_how_far_it_got_and_another_goes_on(
    viewer: Caller, log: int, slow: None
) -> None:
    first = go_on(viewer)
    assert (first.verdict.entries, first.verdict.total, first.verdict.finished) == (1, log, False)
    second = go_on(viewer, first.next_cursor)
    assert (second.verdict.entries, second.verdict.began_at) == (2, first.verdict.began_at)
    last = to_the_end(viewer, second.next_cursor)
    assert (last.streams, last.entries, last.total, last.broken) == (5, log, log, None)
    assert last.began_at == first.verdict.began_at < last.ended_at


def test_a_little_time_is_enough_to_get_somewhere(viewer: Caller, log: int) -> None:
    assert checked(viewer, seconds=-1) == (5, log, None, True)


def test_what_was_read_before_must_be_what_comes_before(viewer: Caller, log: int, slow: None) -> None:
    """A chain that was put anew from its first entry on, while the check stood still in its middle."""
    found = go_on(viewer)
    while found.verdict.entries < log and not found.verdict.place.stream.startswith("workflow"):  # type: ignore[union-attr]
        found = go_on(viewer, found.next_cursor)
    assert found.verdict.place is not None
    assert (found.verdict.place.stream, found.verdict.place.position) == ("workflow:wf_1", 1)
    triggers.take_away()
    rewrite("workflow:wf_1")
    assert checked(viewer)[2] is None, "a forger who recomputes to the end, head included, is hidden"
    broken = to_the_end(viewer, found.next_cursor).broken
    assert broken == "workflow:wf_1#2 doesn't follow the entry before it: its prev_hash is another's"


def rewrite(stream: str) -> None:
    """Put another actor into each entry of a workflow's chain, and compute it anew, head included."""
    before = ""
    for entry in AuditEntry.objects.filter(stream=stream).order_by("position"):
        entry.text = entry.text.replace('"actor":"owner"', '"actor":"mallory"')
        entry.actor, entry.prev_hash, entry.hash = "mallory", before, chain_hash(before, entry.text)
        entry.save()
        before = entry.hash
    Workflow.objects.filter(workflow_id=stream.removeprefix("workflow:")).update(audit_hash=before)


def test_what_is_added_meanwhile_breaks_nothing_and_is_read_where_its_turn_is_to_come(
    admin: Caller, log: int, slow: None
) -> None:
    found = go_on(admin)
    assert found.verdict.place is not None
    assert found.verdict.place.stream == "run:run_1", "so the chain of run_1 has been begun"
    register_run(caller=admin, workflow_id="wf_1", run_id="run_0")  # a new chain, before that one
    cancel_run(caller=admin, run_id="run_1")
    create_user(caller=admin, username="late", role=Role.VIEWER)
    last = to_the_end(admin, found.next_cursor)
    assert last.broken is None
    assert (last.streams, last.entries) == (5, log + 2)


def test_a_chain_that_is_closed_meanwhile_is_vouched_for_by_an_entry_that_is_read_too(
    admin: Caller, log: int, slow: None
) -> None:
    found = go_on(admin)
    delete_workflow(caller=admin, workflow_id="wf_1")
    assert to_the_end(admin, found.next_cursor).broken is None
    triggers.take_away()
    AuditEntry.objects.filter(event="workflow.deleted").update(actor="someone")
    assert to_the_end(admin, found.next_cursor).broken == (
        "rest#2 was changed: its column actor says 'someone', its text 'owner'"
    )


def test_a_chain_that_is_cut_out_before_its_turn_is_missed(viewer: Caller, log: int, slow: None) -> None:
    found = go_on(viewer)
    triggers.take_away()
    AuditEntry.objects.filter(stream="run:run_2").delete()
    assert to_the_end(viewer, found.next_cursor).broken == "run:run_2#1 is missing: its head counts 1 entries"


def test_a_check_goes_on_with_what_it_began_with(viewer: Caller, log: int, slow: None) -> None:
    cursor = go_on(viewer, workflow_id="wf_1").next_cursor
    assert cursor is not None
    for forged in (cursor, cursor[:-1], "1"):
        with pytest.raises(ValidationFailed, match="'check': not one that was given here"):
            go_on(viewer, forged)


@pytest.mark.parametrize("goes", [2, 5])
def test_going_on_costs_the_same_wherever_it_stopped(admin: Caller, log: int, slow: None, goes: int) -> None:
    found = go_on(admin)
    for _ in range(goes):
        with CaptureQueriesContext(connection) as asked:
            found = go_on(admin, found.next_cursor)
    assert len(asked) <= 7
