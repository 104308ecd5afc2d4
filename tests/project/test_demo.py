"""`manage.py demo`: work at every state, through the services."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from amendments.models import Amendment
from chief_project.shared import principals
from chief_project.shared.caller import Caller
from runs.models import Question, Run, StepState
from runs.models.run import RUN_STATUSES, STEP_STATUSES
from tests.derivation import assert_derived
from workflows.models import Workflow, WorkflowTemplate

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
    assert set(Amendment.objects.values_list("status", flat=True)) == {
        "pending_approval",
        "approved",
        "rejected",
    }
    assert set(WorkflowTemplate.objects.values_list("status", flat=True)) == {"active", "archived"}
    assert Run.objects.filter(status="failed", acknowledged__isnull=True).exists()
    assert Run.objects.filter(status="failed", acknowledged__isnull=False).exists()
    assert Question.objects.filter(answered_at__isnull=True, closed__isnull=True).exists()
    for run_id in Run.objects.values_list("run_id", flat=True):
        assert_derived(run_id)
    call_command("verify_audit", stdout=StringIO())


def test_the_demo_on_a_new_database_is_its_first_start(tmp_path: Path, settings: Any) -> None:
    settings.CHIEF_DATA_DIR = tmp_path
    said = StringIO()
    call_command("demo", stdout=said)
    assert "/signin/link/" in said.getvalue()
    assert principals.caller_of_token((tmp_path / "harness.token").read_text().strip()).actor == "harness"


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
