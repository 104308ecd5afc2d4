"""The database itself refuses to change or delete an entry of the audit log (contract 8).

A later migration that alters the table must do it with the triggers away and put them back: on SQLite, Django makes
the table anew, and triggers don't move with it.
"""

from django.db import migrations

TABLE = "shared_auditentry"
SAID = "the audit log is append-only"

PUT = {
    "sqlite": [
        f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        f"CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
        f"CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
        f"FOR EACH ROW EXECUTE FUNCTION audit_append_only()",
    ],
}
TAKE_AWAY = {
    "sqlite": [f"DROP TRIGGER IF EXISTS audit_no_{verb}" for verb in ("update", "delete")],
    "postgresql": [
        f"DROP TRIGGER IF EXISTS audit_append_only ON {TABLE}",
        "DROP FUNCTION IF EXISTS audit_append_only()",
    ],
}


def put(apps, schema_editor):
    for statement in PUT[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def take_away(apps, schema_editor):
    for statement in TAKE_AWAY[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("shared", "0003_search")]

    operations = [migrations.RunPython(put, take_away)]
