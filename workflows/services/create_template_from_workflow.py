"""Keep a workflow's plan as a template, some of its texts as parameters (contract 6)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from workflows import mappers
from workflows.domain.templates import Content, Parameter, extract
from workflows.services._new_template import insert_template
from workflows.services.head import lock_workflow


def create_template_from_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    substitutions: Mapping[str, str],
    template_id: str | None = None,
    title: str | None = None,
    description: str = "",
    parameters: Sequence[Parameter] = (),
    project: str | None = None,
) -> tuple[dict[str, Any], bool]:
    """A template from the head's plan, at any status: the ``Template``, and whether it is new (``create_template``).

    It stands alone from then on. ``title`` and ``project`` default to the workflow's; a title that is given is taken as
    it is. Raises what ``extract`` raises: ``details.unused`` literals, ``details.undeclared`` placeholders.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "save a workflow as a template")
        row = lock_workflow(workflow_id)
        new_title, plan, made = extract(
            row.title if title is None else "",
            mappers.load_plan(row.plan_id),
            substitutions=substitutions,
            parameters=parameters,
        )
        content = Content(
            title=new_title if title is None else title,
            description=description,
            parameters=made,
            plan=plan,
            project=row.project if project is None else project,
        )
        return insert_template(
            content, caller=caller, at=clock.now(), template_id=template_id, derived_from=row
        )
