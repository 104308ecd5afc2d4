"""``update_approval_policy``: which amendments need no person (contract 5)."""

from typing import Any

from amendments.domain.policy import AMENDMENT_POLICY, DOCUMENT_NAME
from chief_project.shared.caller import Caller
from chief_project.shared.services.replace_policy import replace_policy


def update_approval_policy(*, caller: Caller, rules: object, based_on: str | None = None) -> dict[str, Any]:
    """Replace the whole policy; its refusals are those of ``replace_policy``."""
    return replace_policy(
        caller=caller,
        kind=AMENDMENT_POLICY,
        name=DOCUMENT_NAME,
        rules=rules,
        based_on=based_on,
        event="config.approval_policy_updated",
        doing="change the approval policy",
    )
