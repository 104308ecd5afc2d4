"""Contract 2: a draft is approved as it stands, by whoever may decide."""

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition, NotFound, PreconditionFailed
from chief_project.shared.models import AuditEntry
from tests.refusals import refused
from tests.workflows import new_approved, new_draft
from workflows import models
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow

pytestmark = pytest.mark.django_db


def test_an_approval_keeps_the_plan_as_this_version(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    found = approve_workflow(
        caller=reviewer, workflow_id=draft["workflow_id"], decided_by="someone", reason="good"
    )
    assert (found["status"], found["version"], found["revision"], found["review"]) == ("approved", 1, 1, None)
    assert found["steps"] == draft["steps"]
    version = models.Version.objects.get(workflow__workflow_id=draft["workflow_id"])
    assert (version.number, version.by, version.via, version.reason) == (1, "rita", "rest", "good")
    entry = AuditEntry.objects.get(event="workflow.approved")
    assert (entry.workflow_id, entry.actor, entry.position) == (draft["workflow_id"], "rita", 2)
    assert '"decided_by":"rita"' in entry.text


def test_a_relaying_token_records_whom_it_names(harness: Caller, relay: Caller) -> None:
    draft = new_draft(harness)
    approve_workflow(caller=relay, workflow_id=draft["workflow_id"], decided_by="Ann")
    assert models.Version.objects.get().by == "Ann"
    assert AuditEntry.objects.get(event="workflow.approved").actor == "relayer"


def test_a_harness_that_relays_nothing_is_told_to_ask_a_person(harness: Caller) -> None:
    draft = new_draft(harness)
    with pytest.raises(Forbidden, match="ask a person"):
        approve_workflow(caller=harness, workflow_id=draft["workflow_id"])
    assert models.Workflow.objects.get().status == "draft"
    assert not models.Version.objects.exists()


def test_what_is_approved_already_cannot_be_approved(reviewer: Caller) -> None:
    made = new_approved(reviewer)
    with refused(InvalidTransition, "only a draft.*register a run"):
        approve_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "only a draft.*clone it"):
        approve_workflow(caller=reviewer, workflow_id=made["workflow_id"])


def test_an_approval_of_another_revision_is_refused_with_the_newest(
    harness: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness)
    with pytest.raises(PreconditionFailed) as refused:
        approve_workflow(caller=reviewer, workflow_id=draft["workflow_id"], revision=7)
    assert refused.value.details["revision"] == 1
    assert refused.value.details["difference"] is None
    assert models.Workflow.objects.get().status == "draft"


def test_an_unknown_workflow_is_not_found(reviewer: Caller) -> None:
    with pytest.raises(NotFound, match="no workflow 'nowhere'"):
        approve_workflow(caller=reviewer, workflow_id="nowhere")
