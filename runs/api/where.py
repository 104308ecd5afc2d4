"""The state path that a route's parameters name: ``{path}``, or the ids of a fixed route in their order."""

from typing import Any

from runs.domain.paths import Path, instance_path, step_path


def _path(where: dict[str, Any]) -> Path:
    return where["path"] if "path" in where else tuple(where.values())


def step_at(where: dict[str, Any]) -> Path:
    """A path that ends on a step."""
    return step_path(_path(where))


def instance_at(where: dict[str, Any]) -> Path:
    """A path that ends on an instance."""
    return instance_path(_path(where))
