"""`manage.py demo`: work at every state, through the services, as if done over the last weeks."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from amendments.models import Amendment
from amendments.selectors.waiting import list_waiting
from chief_project import demo
from chief_project.demo.stage import Cast, Scene, Stage, ago
from chief_project.shared import clock, principals
from chief_project.shared.caller import Caller
from chief_project.shared.models import ApiToken, AuditEntry, User
from chief_project.shared.paging import Paging
from runs.models import Artifact, Question, Run, Snapshot, StepInstance, StepState
from runs.models.run import INSTANCE_STATUSES, RUN_STATUSES, STEP_STATUSES
from tests.derivation import assert_derived
from workflows.models import ReviewNote, Seen, Workflow, WorkflowTemplate

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_demo_shows_every_state_and_keeps_every_rule(owner: object) -> None:
    call_command("demo", stdout=StringIO())

    assert set(Workflow.objects.values_list("status", flat=True)) == {"draft", "approved", "archived"}
    assert set(Workflow.objects.filter(status="draft").values_list("review_state", flat=True)) == {
        "waiting",
        "sent_back",
    }
    assert set(Run.objects.values_list("status", flat=True)) == set(RUN_STATUSES)
    assert set(StepState.objects.values_list("status", flat=True)) == set(STEP_STATUSES)
    assert set(StepState.objects.filter(status="skipped").values_list("skip_cause", flat=True)) >= {
        "dependency",
        "cancelled",
    }
    assert set(StepInstance.objects.values_list("status", flat=True)) >= set(INSTANCE_STATUSES) - {"skipped"}
    assert set(Amendment.objects.values_list("status", flat=True)) == {
        "pending_approval",
        "approved",
        "rejected",
        "withdrawn",
    }
    assert set(WorkflowTemplate.objects.values_list("status", flat=True)) == {"active", "archived"}
    assert Run.objects.filter(status="failed", acknowledged__isnull=True).exists()
    assert Run.objects.filter(status="failed", acknowledged__isnull=False).exists()
    for run_id in Run.objects.values_list("run_id", flat=True):
        assert_derived(run_id)
    call_command("verify_audit", stdout=StringIO())


def test_the_demo_has_something_for_every_page(owner: User, admin: Caller) -> None:
    call_command("demo", stdout=StringIO())

    # A person's turn, in every way there is, and in every project.
    waiting = list_waiting(caller=admin, paging=Paging(limit=100, cursor=None)).rows
    assert {card["kind"] for card in waiting} == {
        "draft",
        "amendment",
        "checkpoint",
        "question",
        "failed_run",
    }
    assert {card["project"] for card in waiting} == {"shop", "platform", "research", "compliance", None}
    assert any(card["fields"] for card in waiting if card["kind"] == "checkpoint")
    assert {bool(card["fields"]) for card in waiting if card["kind"] == "question"} == {True, False}

    # A review under way: read at the second revision, some notes open; and a draft nobody has read.
    revised = Workflow.objects.get(status="draft", revision=3)
    assert Seen.objects.get(workflow=revised, user=owner).revision == 2
    assert set(ReviewNote.objects.filter(workflow=revised).values_list("resolved", flat=True)) == {
        True,
        False,
    }
    assert Workflow.objects.filter(status="draft", seen_by__isnull=True).exists()

    # A crowd of branches, a loop's iterations, marks, results that were replaced, questions at every end.
    assert StepInstance.objects.filter(construct__step_id="pages").count() == 212
    assert StepInstance.objects.filter(construct__step_id="pages", failures=1).count() == 1
    assert StepInstance.objects.filter(construct__step_id="search", kind="iteration").count() == 3
    assert StepState.objects.filter(stale__isnull=False).exists()
    assert StepInstance.objects.filter(stale__isnull=False).exists()
    assert Snapshot.objects.exists()
    assert Question.objects.filter(answered_at__isnull=True, closed__isnull=True).count() == 2
    assert Question.objects.filter(answered_at__isnull=False).exists()
    assert (
        Question.objects.filter(closed__isnull=False).count() == 2
    )  # withdrawn, and closed by a cancellation

    # Metadata wherever it can stand, and artifacts of each kind that a page draws.
    for model in (Run, StepState, StepInstance):
        assert model.objects.exclude(metadata={}).exists()
    kinds = set(Artifact.objects.filter(data__isnull=False).values_list("type", flat=True))
    assert kinds >= {"text/markdown", "text/csv", "application/json"}
    assert Artifact.objects.filter(instance__isnull=False).exists()

    # A policy at work, and one amendment of every operation that a person must decide.
    assert Amendment.objects.filter(decided_by__startswith="policy:").exists()
    assert Workflow.objects.filter(decided_by__startswith="policy:").exists()
    history = Amendment.objects.get(kind="history_edit", status="pending_approval")
    operations = set(history.operations.values_list("op", flat=True))
    assert operations == {"insert_after", "update_step", "replay_step", "remove_step"}


def test_everything_in_the_demo_happened_in_its_order_before_now(owner: object, admin: Caller) -> None:
    call_command("demo", stdout=StringIO())

    now = clock.now()
    moments = list(
        AuditEntry.objects.exclude(event__startswith="auth.").order_by("pk").values_list("at", flat=True)
    )
    assert moments == sorted(moments)
    assert now - demo.LENGTH - timedelta(minutes=1) < moments[0] < now - timedelta(days=14)
    assert now - timedelta(minutes=10) < moments[-1] < now
    assert len(set(moments)) > len(moments) / 3
    waiting = list_waiting(caller=admin, paging=Paging(limit=100, cursor=None)).rows
    ages = [now - card["since"] for card in waiting]
    assert ages == sorted(ages, reverse=True)
    assert timedelta(days=1) < ages[0] < timedelta(days=2)
    assert ages[-1] < timedelta(minutes=30)


def test_a_scene_that_goes_back_in_time_is_refused() -> None:
    def scene(stage: Stage) -> Scene:
        yield ago(h=1)
        yield ago(h=2)

    nobody: Any = None
    cast = Cast(nobody, nobody, dict.fromkeys(("claude-code", "codex", "planner"), nobody))
    with pytest.raises(AssertionError, match="is not after"):
        Stage(cast, clock.now()).play([scene])


def test_the_clock_tells_the_present_again_after_it_told_another_time() -> None:
    before = clock.now()
    with clock.telling(before - timedelta(days=3)):
        assert clock.now() == before - timedelta(days=3)
    assert clock.now() >= before


def test_the_demo_on_a_new_database_is_its_first_start(tmp_path: Path, settings: Any) -> None:
    settings.CHIEF_DATA_DIR = tmp_path
    said = StringIO()
    call_command("demo", stdout=said)
    assert "/signin/link/" in said.getvalue()
    assert principals.caller_of_token((tmp_path / "harness.token").read_text().strip()).actor == "harness"
    moments = list(AuditEntry.objects.order_by("pk").values_list("at", flat=True))
    assert moments == sorted(moments)


def test_the_demo_needs_the_owner_to_decide_in_it(rita: object) -> None:
    with pytest.raises(CommandError, match="nobody called 'owner'"):
        call_command("demo", stdout=StringIO())
    assert not Workflow.objects.exists()


def test_the_demo_does_not_mix_with_work_that_is_there(admin: Caller) -> None:
    call_command("demo", stdout=StringIO())
    before = Workflow.objects.count()
    with pytest.raises(CommandError, match="--anyway"):
        call_command("demo", stdout=StringIO())
    assert Workflow.objects.count() == before
    call_command("demo", "--anyway", stdout=StringIO())
    assert Workflow.objects.count() == 2 * before
    assert ApiToken.objects.filter(name="codex").count() == 1


def test_the_demo_says_whose_name_it_needs(owner: object) -> None:
    User.objects.create(username="codex")
    with pytest.raises(CommandError, match="codex"):
        call_command("demo", stdout=StringIO())
    assert not Workflow.objects.exists()
