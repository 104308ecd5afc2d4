"""State paths: ``step/instance/step…``, alternating (contract 3)."""

import json
from dataclasses import dataclass
from typing import Literal

from django.db import connection

from chief_project.shared.errors import NotFound
from runs.mappers import Document
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
                raise NotFound(
                    f"{where} has no instance '{token[:200]}': take the path from get_next, or register it first",
                    path="/".join(path[: place + 1]),
                )
    if len(path) % 2 == 0:
        assert instance is not None
        return "instance", instance
    return "state", state


@dataclass(frozen=True, slots=True)
class Way:
    """How a state is reached: its path, and the metadata of the instances on it, the outermost first."""

    path: tuple[str, ...]
    metadata: tuple[Document, ...]


# Climbs from each state to the top level, one row per level: one statement, however deep.
_CLIMB = """
WITH RECURSIVE way (origin, depth, around, step_id, inside, metadata) AS (
    SELECT id, 0, instance_id, step_id, CAST(NULL AS {text}), {nothing} FROM runs_stepstate WHERE id IN ({origins})
    UNION ALL
    SELECT way.origin, way.depth + 1, outer_state.instance_id, outer_state.step_id, instance.instance_id,
        instance.metadata
    FROM way
    JOIN runs_stepinstance instance ON instance.id = way.around
    JOIN runs_stepstate outer_state ON outer_state.id = instance.construct_id
)
SELECT origin, step_id, inside, metadata FROM way ORDER BY origin, depth DESC
"""


def ways_to(state_pks: list[int]) -> dict[int, Way]:
    """The way to each of these states, by row id. One statement."""
    if not state_pks:
        return {}
    postgresql = connection.vendor == "postgresql"
    sql = _CLIMB.format(
        text="varchar(200)" if postgresql else "text",
        nothing="CAST(NULL AS jsonb)" if postgresql else "NULL",
        origins=", ".join(["%s"] * len(state_pks)),
    )
    tokens: dict[int, list[str]] = {}
    metadata: dict[int, list[Document]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql, state_pks)
        for origin, step_id, inside, brought in cursor.fetchall():
            # From the top down: each level names the construct, then the instance that leads further down.
            tokens.setdefault(origin, []).append(step_id)
            if inside is not None:
                tokens[origin].append(inside)
                metadata.setdefault(origin, []).append(
                    json.loads(brought) if isinstance(brought, str) else brought
                )
    return {pk: Way(tuple(path), tuple(metadata.get(pk, ()))) for pk, path in tokens.items()}
