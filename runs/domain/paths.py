"""State paths alternate step id and instance id: ``step_06/inst_01/step_09`` (contract 3). Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from chief_project.shared.errors import NotFound, ValidationFailed
from workflows.domain.plan import Plan

MOST_TOKENS = 2 * 64 + 1  # bodies nest at most 64 deep (contract 2)

Path = tuple[str, ...]


def step_path(path: Path) -> Path:
    """``path`` if it can end on a step; ``ValidationFailed`` saying which form is wanted if it can't."""
    if len(path) % 2 == 0:
        raise ValidationFailed(
            f"'{_shown(path)}' ends on an instance: a step's path has an odd number of ids, step/instance/step, so"
            " add the step of its body, or use the call for instances",
            path=_shown(path),
        )
    return _not_too_deep(path)


def instance_path(path: Path) -> Path:
    """``path`` if it can end on an instance; ``ValidationFailed`` saying which form is wanted if it can't."""
    if len(path) % 2:
        raise ValidationFailed(
            f"'{_shown(path)}' ends on a step: an instance's path has an even number of ids, step/instance, so add"
            " the instance, or use the call for steps",
            path=_shown(path),
        )
    return _not_too_deep(path)


def any_path(text: str) -> Path:
    """The ids of a path given as text, such as ``?path=``; ``ValidationFailed`` if an id is empty or can't be searched."""
    if "\0" in text:
        raise ValidationFailed("the path holds a character that no id has", parameter="path")
    path = tuple(text.split("/"))
    if not all(path):
        raise ValidationFailed(
            f"path '{text[:200]}' has an empty part: write step/instance/step without slashes at the ends",
            parameter="path",
        )
    return _not_too_deep(path)


def parameters_of(plan: Plan, path: Path, metadata: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the instances on a path brought, the outermost first: what the plan declares for them, else all of it.

    ``metadata`` holds one object per instance on the path.
    """
    found: dict[str, Any] = {}
    for construct_id, brought in zip(path[0::2], metadata, strict=False):
        construct = plan.by_id.get(construct_id)
        if construct is not None and construct.instance_params:
            names = {param.name for param in construct.instance_params}
            found |= {name: value for name, value in brought.items() if name in names}
        else:
            found |= brought
    return found


def _not_too_deep(path: Path) -> Path:
    if len(path) > MOST_TOKENS:
        raise NotFound(f"no path has more than {MOST_TOKENS} ids: constructs nest at most 64 deep")
    return path


def _shown(path: Path) -> str:
    return "/".join(path)[:200]
