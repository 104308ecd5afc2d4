"""Reading, exporting and checking the audit log (contract 8)."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.audit import check_audit_log
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared import selectors
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden
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
    verdict = check_audit_log(caller=caller, seconds=seconds, wanted=AuditFilter(**wanted))  # type: ignore[arg-type]
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


def test_when_the_time_is_up_it_says_how_far_it_got(viewer: Caller, log: int) -> None:
    assert checked(viewer, seconds=-1) == (0, 0, None, False)
