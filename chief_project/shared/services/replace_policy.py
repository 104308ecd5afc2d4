"""Replace an approval policy: what the policies of amendments and of workflows share (contract 5)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.errors import PreconditionFailed
from chief_project.shared.expressions.rules import PolicyKind, read_rules, revision_of
from chief_project.shared.models import ConfigDocument


def replace_policy(
    *,
    caller: Caller,
    kind: PolicyKind,
    name: str,
    rules: object,
    event: str,
    doing: str,
    based_on: str | None = None,
) -> dict[str, Any]:
    """Keep ``rules`` as the policy called ``name``; answers ``{rules: [{id, match, auto_approve}]}``, ids filled in.

    People only: an agent behind MCP would approve itself. Raises ``ValidationFailed`` with the place of every
    problem (``read_rules``). What waits for a decision already goes on waiting. ``based_on`` is the ``revision_of``
    the rules that the caller has read: if others stand there by now, ``PreconditionFailed`` with them.
    """
    caller.must(Right.ADMINISTER, doing)
    caller.must_be_person(doing)
    kept = read_rules(rules, kind)
    at = now()
    with transaction.atomic(savepoint=False):
        row, _ = ConfigDocument.objects.select_for_update().get_or_create(
            name=name, defaults={"document": {"rules": []}}
        )
        before = row.document["rules"]
        if based_on is not None and based_on != revision_of(before):
            raise PreconditionFailed(
                f"{row.updated_by or 'someone'} changed this policy while you were editing it, so nothing was written:"
                " compare both, and save again",
                rules=before,
                revision=revision_of(before),
            )
        ConfigDocument.objects.filter(pk=row.pk).update(
            document={"rules": kept}, updated_at=at, updated_by=caller.actor
        )
        audit.record(
            caller=caller,
            event=event,
            at=at,
            detail={"name": name, "rules_before": before, "rules_after": kept},
        )
    return {"rules": kept}
