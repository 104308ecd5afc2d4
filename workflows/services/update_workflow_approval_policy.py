"""``update_workflow_approval_policy``: which workflows from a template need no person (contract 5)."""

from typing import Any

from chief_project.shared.caller import Caller
from chief_project.shared.services.replace_policy import replace_policy
from workflows.domain.policy import DOCUMENT_NAME, WORKFLOW_POLICY


def update_workflow_approval_policy(
    *, caller: Caller, rules: object, based_on: str | None = None
) -> dict[str, Any]:
    """Replace the whole policy; its refusals are those of ``replace_policy``."""
    return replace_policy(
        caller=caller,
        kind=WORKFLOW_POLICY,
        name=DOCUMENT_NAME,
        rules=rules,
        based_on=based_on,
        event="config.updated",
        doing="change the workflow approval policy",
    )
