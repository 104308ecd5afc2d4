"""Runs with thousands of branches, made in a moment, and the kinds of report whose cost the contract bounds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.db import connection
from django.db.models import F

from chief_project.shared.caller import Caller
from runs.models import StepInstance, StepState
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from tests.plans import parallel, task
from tests.workflows import new_approved
from workflows.statements import insert_rows


@dataclass(frozen=True, slots=True)
class Branches:
    """A run whose construct ``fan`` has ``count`` branches, with ``deep`` constructs around ``work``.

    In each scope ``after_…`` waits for the step that matters: ``after_work``, ``after_inner1`` …, ``after_fan``.
    Constructs inside the branches have no instance until ``dig`` registers one.
    """

    run_id: str
    count: int
    deep: int

    def path(self, branch: int, step_id: str = "work") -> str:
        """The state path of a step in the innermost body of a branch."""
        inner = "".join(f"/inner{level}/inst_00" for level in range(1, self.deep))
        return f"fan/inst_{branch:02d}{inner}/{step_id}"

    def report_to(self, branch: int, step_id: str = "work") -> str:
        """The route of a report on that step."""
        return f"/v1/runs/{self.run_id}/state/{self.path(branch, step_id)}/updates"

    def dig(self, branch: int, by: Caller) -> None:
        """Register one instance of each construct inside a branch."""
        path = ["fan", f"inst_{branch:02d}"]
        for level in range(1, self.deep):
            path.append(f"inner{level}")
            register_step_instance(caller=by, run_id=self.run_id, path=tuple(path), instance={})
            path.append("inst_00")


def run_with(
    count: int, by: Caller, *, run_id: str = "r1", deep: int = 1, policy: str = "continue", behind: int = 1
) -> Branches:
    """A run with ``count`` branches: the first is registered through the service, the others are copies of it.

    ``policy`` is ``on_instance_failure`` of every construct; ``by`` may approve. ``behind`` is how many steps wait, in
    one chain, for the one that matters in each scope.
    """
    names = ["fan", *(f"inner{level}" for level in range(1, deep)), "work"]
    steps: list[dict[str, Any]] = [task("prepare"), task("work")]
    waiting: dict[str, list[str]] = {}
    for name in names:
        waiting[name] = [f"after_{name}" + (f"_{place}" if place else "") for place in range(behind)]
        chain = [name, *waiting[name]]
        steps += [task(later, depends_on=[earlier]) for earlier, later in pairwise(chain)]
    for name, inside in pairwise(names):
        steps.append(parallel(name, [inside, *waiting[inside]], on_instance_failure=policy))
    workflow = new_approved(by, *steps, title=f"{count} branches, {deep} deep, {policy}")
    register_run(caller=by, workflow_id=workflow["workflow_id"], run_id=run_id)
    register_step_instance(caller=by, run_id=run_id, path=("fan",), instance={})
    multiply(run_id, "fan/inst_00", count)
    return Branches(run_id, count, deep)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of report on ``work``, and how many statements it may take (contract 3, "Cost").

    ``before`` is reported first, uncounted. ``over`` is what the bound adds to nine.
    """

    name: str
    over: int
    report: dict[str, Any]
    deep: int = 1
    policy: str = "continue"
    before: tuple[dict[str, Any], ...] = ()
    key: bool = False

    @property
    def at_most(self) -> int:
        """Statements, BEGIN and COMMIT counted."""
        return 9 + self.over


STARTS = {"summary": "Half of it is written.", "status": "running", "metadata": {"words": 812}}
ARTIFACTS = [{"type": "text/plain", "ref": "chapters/one.md"}, {"type": "note", "data": {"pages": 3}}]
KINDS = (
    Kind("starts a step", 0, STARTS),
    Kind("says more about a running step", 0, STARTS, before=(STARTS,)),
    Kind("starts a step, two constructs deep", 2, STARTS, deep=2),
    Kind("starts a step, three constructs deep", 4, STARTS, deep=3),
    Kind("brings two artifacts", 1, STARTS | {"artifacts": ARTIFACTS}),
    Kind("carries an Idempotency-Key", 2, STARTS, key=True),
    Kind("finishes a step that another waits for", 3, STARTS | {"status": "completed"}),
    Kind("fails a step, tolerated", 3, STARTS | {"status": "failed"}),
    Kind("fails a step, its construct and the run", 3, STARTS | {"status": "failed"}, policy="fail_fast"),
    Kind(
        "fails a step and two constructs, with dependents at each level",
        2 + 3,
        STARTS | {"status": "failed"},
        deep=2,
        policy="fail_fast",
    ),
)


def multiply(run_id: str, path: str, to: int) -> None:
    """Copies of the instance at ``path`` (``fan/inst_00``), until its construct has ``to`` of them.

    The instance was registered through the service and nothing was reported in it yet; nothing may hang below its
    body's states. Its construct's tally and next index move as if each copy had been registered.
    """
    instance = _instance_at(run_id, path.split("/"))
    first, more = instance.index + 1, to - 1
    names = [field.name for field in StepInstance._meta.concrete_fields if not field.primary_key]
    values = {
        field.name: field.get_db_prep_save(getattr(instance, field.attname), connection)
        for field in StepInstance._meta.concrete_fields
    }
    insert_rows(
        StepInstance,
        names,
        (
            [(values | {"index": index, "instance_id": f"inst_{index:02d}"})[name] for name in names]
            for index in range(first, first + more)
        ),
    )
    columns = [
        connection.ops.quote_name(str(field.column))
        for field in StepState._meta.concrete_fields
        if not field.primary_key
    ]
    copied = ["i.id" if column == '"instance_id"' else f"s.{column}" for column in columns]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO runs_stepstate ({', '.join(columns)}) SELECT {', '.join(copied)}"
            " FROM runs_stepinstance i JOIN runs_stepstate s ON s.instance_id = %s"
            " WHERE i.construct_id = %s AND i.id <> %s ORDER BY i.id, s.id",
            [instance.pk, instance.construct_id, instance.pk],
        )
    StepState.objects.filter(pk=instance.construct_id).update(
        n_pending=F("n_pending") + more, next_index=first + more
    )


def _instance_at(run_id: str, path: list[str]) -> StepInstance:
    inside: StepInstance | None = None
    for step_id, instance_id in zip(path[::2], path[1::2], strict=True):
        where: dict[str, Any] = {"run__run_id": run_id, "instance": inside, "step_id": step_id}
        inside = StepInstance.objects.get(construct=StepState.objects.get(**where), instance_id=instance_id)
    assert inside is not None
    return inside
