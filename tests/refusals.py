"""Refusals: that they say the right thing, and that nothing was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models

from chief_project.shared.errors import ChiefError

APPS = ("shared", "workflows", "runs", "amendments")


def contents() -> dict[str, list[Any]]:
    """Every row that Chief keeps, and what the search knows, by table."""
    found: dict[str, list[Any]] = {}
    for label in APPS:
        for model in apps.get_app_config(label).get_models():
            found[model._meta.label] = list(_rows(model))
    with connection.cursor() as cursor:
        for kind in ("workflow", "run", "template"):
            cursor.execute(f"SELECT count(*) FROM shared_search_{kind}")
            found[f"search {kind}"] = list(cursor.fetchall())
    return found


def _rows(model: type[models.Model]) -> Any:
    return model._default_manager.order_by("pk").values_list()


@contextmanager
def refused(kind: type[ChiefError], match: str) -> Iterator[pytest.ExceptionInfo[ChiefError]]:
    """The block raises ``kind`` saying ``match``, and leaves every table as it was."""
    before = contents()
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert contents() == before
