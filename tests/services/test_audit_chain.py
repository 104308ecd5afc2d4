"""The audit log is one chain per stream, and ``verify_audit`` finds what was done to it (contract 8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from amendments.selectors.audit import HEADS
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared import audit, clock
from chief_project.shared.audit_check import REST_HEADS, check_audit
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden
from chief_project.shared.models import AuditedRow, AuditEntry, AuditStream
from chief_project.shared.services.create_user import create_user
from runs.models import Run
from runs.services.register_run import register_run
from tests import triggers
from tests.workflows import new_approved
from workflows.models import Workflow


@pytest.fixture
def log(admin: Caller) -> list[str]:
    """A log with the rest, two workflows and two runs; the names of its streams."""
    for number in (1, 2):
        new_approved(admin, workflow_id=f"wf_{number}")
        register_run(caller=admin, workflow_id=f"wf_{number}", run_id=f"run_{number}")
    for username in ("ines", "omar"):
        create_user(caller=admin, username=username, role=Role.VIEWER)
    return sorted(set(AuditEntry.objects.values_list("stream", flat=True)))


@pytest.fixture(autouse=True)
def _forgers_have_the_database(db: None) -> None:
    """Who forges takes the triggers away first."""
    triggers.take_away()


def broken() -> str:
    verdict = check_audit(heads=HEADS)
    assert verdict.broken is not None
    assert "\n" not in verdict.broken
    return verdict.broken


def last_of(stream: str) -> AuditEntry:
    return AuditEntry.objects.filter(stream=stream).latest("position")


# -- How entries are made ----------------------------------------------------------------------------


def test_each_run_and_workflow_has_a_chain_of_its_own_and_the_rest_has_one(log: list[str]) -> None:
    assert log == ["rest", "run:run_1", "run:run_2", "workflow:wf_1", "workflow:wf_2"]
    for stream in log:
        entries = list(AuditEntry.objects.filter(stream=stream).order_by("position"))
        assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
        assert [entry.prev_hash for entry in entries] == ["", *[entry.hash for entry in entries[:-1]]]
        for entry in entries:
            assert entry.hash == audit.chain_hash(entry.prev_hash, entry.text)


def test_the_text_is_canonical_and_says_who_through_which_door(admin: Caller) -> None:
    detail = {"big": 2**70, "float": 1.0, "tiny": 1e-7, "name": "Zoë", "list": [3, 1], "set": {"b", "a"}}
    audit.record(caller=admin, event="auth.test", at=clock.now(), detail=detail)
    text = last_of("rest").text
    assert '"Zoë"' in text
    assert '"big":1180591620717411303424' in text
    assert '"float":1.0' in text
    assert '"set":["a","b"]' in text
    body = json.loads(text)
    assert list(body) == sorted(body)
    assert (body["actor"], body["via"], body["detail"]["via"]) == ("owner", "rest", "rest")
    assert body["at"].endswith("Z")
    assert ": " not in text.replace("Zoë", "")


def test_a_refused_operation_leaves_no_entry(log: list[str], reviewer: Caller) -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(Forbidden, match="may not"):
        create_user(caller=reviewer, username="new", role=Role.VIEWER)
    assert AuditEntry.objects.count() == before


def test_the_database_itself_refuses_to_change_or_delete_an_entry(log: list[str]) -> None:
    triggers.put()
    for attempt in (
        lambda: AuditEntry.objects.filter(stream="rest", position=1).update(actor="vic"),
        lambda: AuditEntry.objects.filter(stream="rest", position=1).delete(),
        lambda: last_of("rest").delete(),
    ):
        with pytest.raises(IntegrityError, match="the audit log is append-only"), transaction.atomic():
            attempt()
    assert check_audit(heads=HEADS).broken is None


# -- What verification finds -----------------------------------------------------------------------


def test_a_whole_log_verifies_and_the_command_says_how_much_it_saw(log: list[str]) -> None:
    verdict = check_audit(heads=HEADS)
    assert verdict.broken is None
    assert (verdict.streams, verdict.entries) == (5, AuditEntry.objects.count())
    said = StringIO()
    call_command("verify_audit", stdout=said)
    assert f"{verdict.entries} entries in 5 streams" in said.getvalue()


def test_an_empty_log_verifies(db: None) -> None:
    assert check_audit(heads=HEADS).broken is None


def test_the_command_fails_with_the_first_broken_link_in_one_line(log: list[str]) -> None:
    AuditEntry.objects.filter(stream="run:run_1", position=1).update(text="{}")
    with pytest.raises(
        CommandError, match=r"^run:run_1#1 was changed: its text doesn't give its hash$"
    ) as failed:
        call_command("verify_audit")
    assert failed.value.returncode == 1


Tampering = Callable[[], object]


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="workflow:wf_1", position=2).update(
                text=last_of("workflow:wf_1").text.replace("owner", "vic")
            ),
            "workflow:wf_1#2 was changed: its text",
            id="a text was changed",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="workflow:wf_1", position=2).update(hash="0" * 64),
            "workflow:wf_1#2 was changed: its text doesn't give its hash",
            id="a hash was changed",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="workflow:wf_1", position=2).update(prev_hash="0" * 64),
            "workflow:wf_1#2 doesn't follow the entry before it",
            id="a link was changed",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="workflow:wf_1", position=1).delete(),
            "workflow:wf_1#1 is missing: the next entry there is #2",
            id="a first entry was cut out",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="rest", position=2).delete(),
            "rest#2 is missing: the next entry there is #3",
            id="an entry in the middle was cut out",
        ),
        pytest.param(
            lambda: last_of("run:run_2").delete(), "run:run_2#1 is missing", id="the only entry was cut out"
        ),
        pytest.param(
            lambda: last_of("workflow:wf_2").delete(),
            "workflow:wf_2#2 is missing: its head counts 2 entries",
            id="a tail was cut off",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="rest").delete(),
            "rest#1 is missing",
            id="a stream was cut out",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="rest", position=1).update(actor="vic"),
            "rest#1 was changed: its column actor says 'vic'",
            id="a column was changed",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="rest", position=1).update(
                at=F("at") + timedelta(minutes=1)
            ),
            "rest#1 was changed: its column at",
            id="a time was changed",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="run:run_1").update(run_id=None),
            "run:run_1#1 was changed: its column run_id says 'None'",
            id="a reference was cleared",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="run:run_1").update(stream="run:run_9"),
            "run:run_9#1 stands in a stream that isn't its own",
            id="a stream was renamed",
        ),
        pytest.param(
            lambda: forge("workflow:wf_1"),
            "workflow:wf_1#3 was added: its head counts 2 entries",
            id="an entry was added",
        ),
        pytest.param(
            lambda: Workflow.objects.filter(workflow_id="wf_1").update(audit_hash="0" * 64),
            "workflow:wf_1#2 was changed: its head has another hash",
            id="a head was changed",
        ),
        pytest.param(
            lambda: AuditStream.objects.all().delete(),
            "rest has no head",
            id="the head of the rest went away",
        ),
        pytest.param(
            lambda: Run.objects.filter(run_id="run_1").delete(),
            "run:run_1 has no head: its row is gone, and no deletion in the log closed it",
            id="a run was deleted behind Chief's back",
        ),
    ],
)
def test_tampering_is_found_and_named(tamper: Tampering, said: str, log: list[str]) -> None:
    tamper()
    assert broken().startswith(said)


def forge(stream: str) -> None:
    """An entry that follows the last one correctly, and that the head knows nothing of."""
    last = last_of(stream)
    entry = audit.compose(
        caller=Caller(actor="mallory", role=Role.ADMIN, via="rest"),
        event="workflow.approved",
        at=clock.now(),
        detail={},
        head=(last.position, last.hash),
        workflow_id=last.workflow_id,
        run_id=last.run_id,
    )
    AuditEntry.objects.create(**{name: getattr(entry, name) for name in audit.Entry.__slots__})


# -- Deleted workflows -------------------------------------------------------------------------------


def test_the_streams_of_a_deleted_workflow_verify_by_the_entry_that_closed_them(
    log: list[str], admin: Caller
) -> None:
    delete_workflow(caller=admin, workflow_id="wf_1")
    verdict = check_audit(heads=HEADS)
    assert verdict.broken is None
    assert verdict.streams == 5


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        pytest.param(
            lambda: last_of("workflow:wf_1").delete(),
            "workflow:wf_1#2 is missing: the deletion that closed it counts 2 entries",
            id="a closed stream's tail was cut off",
        ),
        pytest.param(
            lambda: AuditEntry.objects.filter(stream="run:run_1").delete(),
            "run:run_1#1 is missing: the deletion that closed it counts 1 entries",
            id="a closed stream was cut out",
        ),
        pytest.param(
            lambda: forge("run:run_1"),
            "run:run_1#2 was added: the deletion that closed it counts 1 entries",
            id="an entry was added to a closed stream",
        ),
    ],
)
def test_tampering_with_a_closed_stream_is_found(
    tamper: Tampering, said: str, log: list[str], admin: Caller
) -> None:
    delete_workflow(caller=admin, workflow_id="wf_1")
    tamper()
    assert broken().startswith(said)


# -- The check itself --------------------------------------------------------------------------------


def test_every_table_that_heads_a_stream_is_checked() -> None:
    heading = {model for model in apps.get_models() if issubclass(model, AuditedRow)}
    assert heading == {heads.model for heads in [REST_HEADS, *HEADS]}


def test_the_check_takes_the_same_statements_however_many_streams(log: list[str], admin: Caller) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert check_audit(heads=HEADS).broken is None
        return len(seen)

    few = statements()
    for number in range(10, 20):
        new_approved(admin, workflow_id=f"wf_{number}")
    assert statements() == few


@pytest.mark.django_db(transaction=True)
def test_the_check_works_outside_a_transaction(log: list[str]) -> None:
    assert check_audit(heads=HEADS).broken is None
    assert not connection.in_atomic_block
    last_of("rest").delete()
    assert broken().startswith("rest#")
