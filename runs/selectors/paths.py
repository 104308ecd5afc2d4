"""State paths: ``step/instance/step…``, alternating (contract 3)."""

from typing import Literal

from chief_project.shared.errors import NotFound
from runs.models import StepInstance, StepState


def locate(*, run_pk: int, run_id: str, path: tuple[str, ...]) -> tuple[Literal["state", "instance"], int]:
    """The row that a path names: a step's state (odd length) or an instance (even). Two statements.

    ``NotFound`` names the first part that isn't there.
    """
    states: dict[tuple[int | None, str], int] = {
        (instance_pk, step_id): pk
        for pk, instance_pk, step_id in StepState.objects.filter(
            run=run_pk, step_id__in=set(path[0::2])
        ).values_list("pk", "instance_id", "step_id")
    }
    instances: dict[tuple[int, str], int] = {
        (construct_pk, instance_id): pk
        for pk, construct_pk, instance_id in StepInstance.objects.filter(
            run=run_pk, instance_id__in=set(path[1::2])
        ).values_list("pk", "construct_id", "instance_id")
    }
    state = 0
    instance: int | None = None
    for place, token in enumerate(path):
        where = "/".join(path[:place]) or f"run '{run_id}'"
        if place % 2 == 0:
            state = states.get((instance, token), 0)
            if not state:
                raise NotFound(f"{where} has no step '{token[:200]}'", path="/".join(path[: place + 1]))
        else:
            instance = instances.get((state, token))
            if instance is None:
                raise NotFound(f"{where} has no instance '{token[:200]}'", path="/".join(path[: place + 1]))
    if len(path) % 2 == 0:
        assert instance is not None
        return "instance", instance
    return "state", state
