"""Remember what a person has read up to (contract 7)."""

from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from workflows.services._seen import note_seen
from workflows.services.head import lock_workflow


def mark_seen(*, caller: Caller, workflow_id: str, revision: int) -> dict[str, Any]:
    """This person has read the workflow up to ``revision``; reading an older one again takes nothing back.

    People only. Unaudited, and no write to the workflow: its ETag stays. Answers ``{workflow_id, revision}``, the
    newest revision that the person has read.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.READ, "read a workflow")
        caller.must_be_person("say what they have read")
        row = lock_workflow(workflow_id)
        if not 1 <= revision <= row.revision:
            raise ValidationFailed(
                f"workflow '{workflow_id}' has no revision {revision}: the newest is {row.revision}",
                pointer="/revision",
            )
        newest = note_seen(row, caller=caller, at=clock.now(), revision=revision)
        return {"workflow_id": workflow_id, "revision": newest}
