"""The groups that are people's roles. A harness is a token and never a person, so it has none."""

from django.db import migrations


def make_groups(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    for name in ("viewer", "reviewer", "admin"):
        Group.objects.using(schema_editor.connection.alias).get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("shared", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
