"""A person's decision on a checkpoint that was reached (contract 3, "checkpoints")."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import iso
from chief_project.shared.errors import ValidationFailed
from runs.domain.report import check_response, refuse_no_checkpoint, refuse_unblocked
from runs.domain.settle import Path
from runs.services.outcome import RunWrite
from runs.services.writing import Writing


def resolve_checkpoint(
    *, caller: Caller, run_id: str, path: Path, resolution: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Approve (→ completed) or reject (→ failed, with a note) the checkpoint at ``path``.

    ``resolution`` is a CheckpointResolution. Refusals: 409 not blocked or decided already; 422 not a checkpoint, an
    unknown field, a required one missing on approval, a rejection without a note.
    """
    caller.must(Right.DECIDE, "resolve a checkpoint")
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        writing.refuse_cancelled()
        state = writing.state
        was = state.status
        refuse_no_checkpoint(state)
        fields = writing.plan.by_id[state.step_id].fields if state.step_id in writing.plan.by_id else ()
        response = resolution.get("response") or {}
        approved = resolution["decision"] == "approved"
        asker = f"checkpoint '{state.step_id}'"
        check_response(fields, response, asker=asker, complete=False)
        refuse_unblocked(state)
        writing.refuse_completed()
        check_response(fields, response, asker=asker, complete=approved)
        note = resolution.get("note")
        if not approved and not (note or "").strip():
            raise ValidationFailed(f"rejecting {asker} needs a note saying why", pointer="/note")
        by = caller.claim(resolution.get("decided_by", "human"))
        state.checkpoint = {
            "decision": resolution["decision"],
            "response": response,
            "note": note,
            "decided_by": by,
            "decided_at": iso(writing.now),
            "actor": caller.actor,
            "via": caller.via,
        }
        state.summary = f"{'Approved' if approved else 'Rejected'} by {by}" + (f": {note}" if note else ".")
        writing.set(state, checkpoint=state.checkpoint, summary=state.summary)
        writing.move("completed" if approved else "failed")
        return writing.finish(
            "checkpoint.resolved",
            {
                "decision": resolution["decision"],
                "response": response,
                "note": note,
                "decided_by": by,
                "status_was": was,
            },
        )
