"""Take a template out of use (contract 6)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition
from workflows import mappers
from workflows.services._template import lock_template


def archive_template(
    *, caller: Caller, template_id: str, decided_by: str = "human", reason: str | None = None
) -> dict[str, Any]:
    """The template becomes archived: it can be read, and nothing is made from it any more. Answers the ``Template``.

    Workflows made from it stay as they are. Raises ``NotFound``, ``InvalidTransition`` if it is archived already.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "archive a template")
        row = lock_template(template_id)
        if row.status == "archived":
            raise InvalidTransition(
                f"template '{template_id}' is archived already: there is nothing left to do",
                status=row.status,
            )
        at = clock.now()
        row.status, row.updated_at = "archived", at
        row.save(update_fields=["status", "updated_at"])
        audit.record(
            caller=caller,
            event="template.archived",
            at=at,
            detail={
                "template_id": template_id,
                "title": row.title,
                "decided_by": caller.claim(decided_by),
                "reason": reason,
            },
        )
        return mappers.template_document(row, mappers.load_plan(row.plan_id))
