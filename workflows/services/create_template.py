"""Keep a plan with parameters for later (contract 6)."""

from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from workflows.domain.templates import Content
from workflows.services._new_template import insert_template


def create_template(
    *, caller: Caller, content: Content, template_id: str | None = None
) -> tuple[dict[str, Any], bool]:
    """A new active template at version 1: the ``Template``, and whether it is new.

    A used id with equal content is the template that has it, so a file can be registered again. Raises
    ``ValidationFailed`` (with ``details.undeclared`` for placeholders), ``Conflict`` for a used id otherwise.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "create a template")
        return insert_template(content, caller=caller, at=clock.now(), template_id=template_id)
