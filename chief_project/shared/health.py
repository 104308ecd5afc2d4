"""``/healthz`` and ``/readyz`` (contract 11): for probes, without authentication, and without a word of detail."""

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from chief_project.shared.http.errors import refusal

_migrated: set[str] = set()  # migrations that were applied stay applied while this process runs


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """204: the process answers."""
    return HttpResponse(status=204)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """204 if the database answers and has every migration, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
        if not is_migrated():
            return refusal(503, "not ready: migrations are missing")
    except Error:
        return refusal(503, "not ready: the database doesn't answer")
    return HttpResponse(status=204)


def is_migrated() -> bool:
    """Whether the database has every migration; raises ``django.db.Error`` if it doesn't answer."""
    name = str(connection.settings_dict["NAME"])
    if name not in _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.add(name)
    return True
