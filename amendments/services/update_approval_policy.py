"""``update_approval_policy``: which amendments need no person (contract 5)."""

from typing import Any

from django.db import transaction

from amendments.domain.policy import AMENDMENT_POLICY, DOCUMENT_NAME
from chief_project.shared import audit
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.errors import Forbidden
from chief_project.shared.expressions.rules import read_rules
from chief_project.shared.models import ConfigDocument


def update_approval_policy(*, caller: Caller, rules: object) -> dict[str, Any]:
    """Replace the whole policy; answers ``{rules: [{id, match, auto_approve}]}`` with every id filled in.

    People only: an agent behind MCP would approve itself. Raises ``ValidationFailed`` with the place of every
    problem (``read_rules``). What waits for a decision already goes on waiting.
    """
    caller.must(Right.ADMINISTER, "change the approval policy")
    if not caller.person:
        raise Forbidden("only a person may change the approval policy: sign in as an admin")
    kept = read_rules(rules, AMENDMENT_POLICY)
    at = now()
    with transaction.atomic(savepoint=False):
        row, _ = ConfigDocument.objects.select_for_update().get_or_create(
            name=DOCUMENT_NAME, defaults={"document": {"rules": []}}
        )
        before = row.document["rules"]
        ConfigDocument.objects.filter(pk=row.pk).update(
            document={"rules": kept}, updated_at=at, updated_by=caller.actor
        )
        audit.record(
            caller=caller,
            event="config.approval_policy_updated",
            at=at,
            detail={"name": DOCUMENT_NAME, "rules_before": before, "rules_after": kept},
        )
    return {"rules": kept}
