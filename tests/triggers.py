"""The database's own guard of the audit log, taken away and put back."""

from importlib import import_module

from django.db import connection

MIGRATION = import_module("chief_project.shared.migrations.0003_audit_append_only")


def take_away() -> None:
    """Let the log be forged or emptied; in a test's transaction, until its end."""
    with connection.cursor() as cursor:
        for statement in MIGRATION.TAKE_AWAY[connection.vendor]:
            cursor.execute(statement)


def put() -> None:
    """Let the database guard the log as in production."""
    take_away()
    with connection.cursor() as cursor:
        for statement in MIGRATION.PUT[connection.vendor]:
            cursor.execute(statement)
