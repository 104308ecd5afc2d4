"""The workflow approval policy, as it is kept (contract 5)."""

from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.models import ConfigDocument
from workflows.domain.policy import DOCUMENT_NAME


def get_workflow_approval_policy(*, caller: Caller) -> dict[str, Any]:
    """``{rules: [{id, match, auto_approve}]}``; no rules until a person writes some."""
    caller.must(Right.OVERSEE, "read the workflow approval policy")
    return {"rules": workflow_approval_rules()}


def workflow_approval_rules() -> list[dict[str, Any]]:
    """The rules in order, for ``decide_workflow``; whoever the caller is, the policy judges what they made."""
    kept = ConfigDocument.objects.filter(name=DOCUMENT_NAME).values_list("document", flat=True).first()
    rules: list[dict[str, Any]] = [] if kept is None else kept["rules"]
    return rules
