"""Contract 7: what a person has read up to."""

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Forbidden,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from tests.plans import task
from tests.refusals import refused
from tests.workflows import new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.mark_seen import mark_seen

pytestmark = pytest.mark.django_db


def seen() -> dict[str, int]:
    return dict(models.Seen.objects.values_list("user__username", "revision"))


def test_what_a_person_has_read_is_remembered_unaudited(harness: Caller, viewer: Caller) -> None:
    draft = new_draft(harness)
    revised(harness, draft, task("a"))
    entries = AuditEntry.objects.count()
    etag = selectors.workflow_etag(caller=viewer, workflow_id=draft["workflow_id"])
    assert mark_seen(caller=viewer, workflow_id=draft["workflow_id"], revision=2)["revision"] == 2
    assert mark_seen(caller=viewer, workflow_id=draft["workflow_id"], revision=1)["revision"] == 2
    assert seen() == {"vic": 2}
    assert AuditEntry.objects.count() == entries
    assert selectors.workflow_etag(caller=viewer, workflow_id=draft["workflow_id"]) == etag


def test_only_people_have_read_and_only_what_there_is(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    with refused(Forbidden, "only a person may say what they have read"):
        mark_seen(caller=harness, workflow_id=draft["workflow_id"], revision=1)
    for revision in (0, 2):
        with refused(ValidationFailed, f"no revision {revision}"):
            mark_seen(caller=reviewer, workflow_id=draft["workflow_id"], revision=revision)


def test_noting_and_deciding_count_as_having_read(harness: Caller, reviewer: Caller, admin: Caller) -> None:
    draft = new_draft(harness)
    add_review_note(caller=reviewer, workflow_id=draft["workflow_id"], body="x")
    assert seen() == {"rita": 1}
    revised(harness, draft, task("a"))
    approve_workflow(caller=admin, workflow_id=draft["workflow_id"])
    assert seen() == {"rita": 1, "owner": 2}


def test_who_writes_a_plan_has_read_it(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(reviewer)
    assert seen() == {"rita": 1}
    revised(reviewer, draft, task("a"))
    assert seen() == {"rita": 2}
    new_draft(harness)
    assert seen() == {"rita": 2}
