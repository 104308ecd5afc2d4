"""What an amendment may do to a plan, as values (contract 4). Pure."""

from dataclasses import dataclass
from typing import Any

from chief_project.shared.pointers import pointer
from workflows.domain.plan import Step

INSERTS = frozenset({"insert_after", "insert_before"})
WITH_STEP = INSERTS | {"update_step"}
OPS = ("insert_after", "insert_before", "update_step", "remove_step", "replay_step")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. At most one of ``instance_id`` and ``instance_path`` is there; ``step`` for ``WITH_STEP`` only.

    ``instance_path`` alternates step id and instance id from the top level, and ends on an instance id.
    """

    op: str
    target: str
    instance_id: str | None = None
    instance_path: tuple[str, ...] | None = None
    step: Step | None = None

    @property
    def is_scoped(self) -> bool:
        """Whether it names one instance."""
        return self.instance_id is not None or self.instance_path is not None


def place(index: int, *tokens: str | int) -> dict[str, Any]:
    """The ``details`` that say where: the operation's index, and a pointer into the submitted document."""
    return {"operation": index, "pointer": pointer(("operations", index, *tokens))}
