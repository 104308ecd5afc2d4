"""The tables of the full-text search: FTS5 on SQLite, a tsvector under GIN on PostgreSQL."""

from django.db import migrations

from chief_project.shared import search


def create(apps, schema_editor):
    search.create_tables(schema_editor)


def drop(apps, schema_editor):
    search.drop_tables(schema_editor)


class Migration(migrations.Migration):
    dependencies = [("shared", "0002_roles")]

    operations = [migrations.RunPython(create, drop)]
