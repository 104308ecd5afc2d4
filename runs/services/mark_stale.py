"""Mark a step or an instance "ran, but not part of what counts", or take the mark off (contract 3)."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import iso
from runs.domain.settle import Path
from runs.services.outcome import RunWrite
from runs.services.writing import Writing


def mark_step_stale(
    *, caller: Caller, run_id: str, path: Path, mark: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Label the step at ``path``, whatever its type and status, also in a cancelled run. Derives nothing.

    ``mark`` is ``{reason?, marked_by?}``; a null or blank reason clears the label.
    """
    return _mark(caller, run_id, path, mark, if_match)


def mark_instance_stale(
    *, caller: Caller, run_id: str, path: Path, mark: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """The same for the instance at ``path``, which ends on an instance id."""
    return _mark(caller, run_id, path, mark, if_match)


def _mark(caller: Caller, run_id: str, path: Path, mark: dict[str, Any], if_match: int | None) -> RunWrite:
    caller.must(Right.DECIDE, "mark work as stale")
    reason = mark.get("reason")
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        on_instance = writing.chain.target is None
        node = writing.instance if on_instance else writing.state
        was = node.stale
        node.stale = (
            {
                "reason": reason,
                "marked_by": caller.claim(mark.get("marked_by", "human")),
                "marked_at": iso(writing.now),
                "actor": caller.actor,
                "via": caller.via,
            }
            if reason is not None and reason.strip()
            else None
        )
        writing.set(node, stale=node.stale)
        return writing.finish(
            "stale.cleared" if node.stale is None else "stale.marked",
            {"reason": reason, "was": was},
            answer_instance=on_instance,
        )
