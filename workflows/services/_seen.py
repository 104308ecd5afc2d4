"""What a person has read up to (contract 7): noting, deciding and writing count as having read."""

from datetime import datetime

from chief_project.shared.caller import Caller
from workflows import models


def note_seen(
    row: models.Workflow, *, caller: Caller, at: datetime, revision: int | None = None
) -> int | None:
    """Remember that a person has read ``revision`` (the newest unless given) of a locked workflow.

    Answers the newest that the person has read; None, and nothing is written, if the caller is no person.
    """
    if not caller.person or caller.user_id is None:
        return None
    wanted = row.revision if revision is None else revision
    seen = models.Seen.objects.filter(workflow=row, user_id=caller.user_id).first()
    if seen is None:
        models.Seen.objects.create(workflow=row, user_id=caller.user_id, revision=wanted, at=at)
        return wanted
    if seen.revision < wanted:
        seen.revision, seen.at = wanted, at
        seen.save(update_fields=["revision", "at"])
    return seen.revision
