"""Small bodies and queries of the template routes; their documents are ``documents_templates``."""

from rest_framework import serializers

from chief_project.shared.serializers import ChoiceField, NameField, PageQuery, StrictSerializer, TextField


class ListTemplatesQuery(PageQuery):
    """Which templates."""

    status = ChoiceField(choices=["active", "archived"], required=False)
    q = TextField(required=False, max_length=200, help_text="Words that begin so in titles, goals and ids.")


class ArchiveTemplateBody(StrictSerializer):
    """Who takes it out of use, and why."""

    decided_by = NameField(default="human", help_text="A signed-in person is recorded by name instead.")
    reason = TextField(required=False, allow_null=True)


class DeletedTemplate(serializers.Serializer):
    """What is gone."""

    template_id = serializers.CharField()
    title = serializers.CharField()
