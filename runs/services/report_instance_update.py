"""Report on an instance as a whole (contract 3, ``InstanceUpdate``)."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition, InvariantViolation
from runs.domain.settle import Path, settle_instance
from runs.services.outcome import RunWrite
from runs.services.report_step_update import take_step_report
from runs.services.writing import Writing


def report_instance_update(
    *, caller: Caller, run_id: str, path: Path, report: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Take a report on the instance at ``path`` (it ends on an instance id).

    Summary, metadata and artifacts are the instance's. A ``status`` is written through as a report on the one step of
    its body, with every refusal that has; with more than one step it is derived (409).
    """
    caller.must(Right.WORK, "report on an instance")
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        writing.refuse_cancelled()
        _refuse_terminal(writing)
        writing.refuse_completed()
        status = report.get("status")
        if status is None:
            node = writing.instance
            was = node.status
            writing.take_report(node, report)
            node.started = True
            settle_instance(writing.chain, writing.plan, writing.now)
        else:
            body = writing.instance.body
            if len(body) != 1:
                raise InvariantViolation(
                    f"the status of instance '{writing.instance.instance_id}' is derived from the {len(body)} steps of"
                    f" its body: report on those ({', '.join(body[:5])}{', …' if len(body) > 5 else ''})"
                )
            writing = writing.into(body[0])
            node = writing.instance
            was = node.status
            take_step_report(writing, {"summary": report["summary"], "status": status})
            writing.take_report(node, report)
        return writing.finish(
            "instance.updated",
            {"status": node.status, "status_was": was},
            report=("instance_update", report),
            answer_instance=True,
        )


def _refuse_terminal(writing: Writing) -> None:
    instance = writing.instance
    if instance.status in {"completed", "failed"}:
        raise InvalidTransition(
            f"instance '{instance.instance_id}' is {instance.status} and immutable: to run it again, propose an"
            " amendment with replay_step scoped to it",
            status=instance.status,
        )
    if instance.status == "skipped":
        by = writing.remover(*writing.around) if instance.skip_cause == "removed" else None
        why = f"amendment '{by}' removed its construct" if by else "an amendment removed its construct"
        if instance.skip_cause != "removed":
            why = "the run was cancelled"
        raise InvalidTransition(
            f"instance '{instance.instance_id}' is skipped: {why}",
            status="skipped",
            cause=instance.skip_cause,
            amendment_id=by,
        )
