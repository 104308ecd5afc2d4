"""What a person has read up to (contract 7): noting and deciding count as having read."""

from datetime import datetime

from chief_project.shared.caller import Caller
from workflows import models


def note_seen(row: models.Workflow, *, caller: Caller, at: datetime, revision: int | None = None) -> None:
    """Remember that a person has read ``revision`` (the newest unless given). Nobody but a person reads."""
    if caller.person:
        assert caller.user_id is not None
        models.Seen.objects.update_or_create(
            workflow=row,
            user_id=caller.user_id,
            defaults={"revision": row.revision if revision is None else revision, "at": at},
        )
