"""Take an id for ever (contract 1)."""

from django.db import connection

from chief_project.shared.errors import Conflict
from chief_project.shared.models import UsedId

# One statement that doesn't fail: a failed one would end the transaction on PostgreSQL before the refusal is told.
_TAKE = f'INSERT INTO "{UsedId._meta.db_table}" (kind, value) VALUES (%s, %s) ON CONFLICT DO NOTHING'  # noqa: S608


def use_id(*, kind: str, value: str, field: str) -> None:
    """Note that ``value`` is used as the id of a ``kind`` (``workflow``, ``run``, ``template`` …), also when it is
    deleted later. Raises ``Conflict`` naming ``field`` if it is or was in use. Part of a service's transaction: a
    twin waits here until the other has ended.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, [kind, value])
        if not cursor.rowcount:
            raise Conflict(
                f"{field} '{value}' is in use, or was: an id is never used again; choose another, or leave it out",
                pointer=f"/{field}",
            )
