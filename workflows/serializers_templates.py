"""Queries and small answers of the template routes; their documents are ``documents_templates``."""

from rest_framework import serializers

from chief_project.shared.serializers import ChoiceField, PageQuery, TextField


class ListTemplatesQuery(PageQuery):
    """Which templates."""

    status = ChoiceField(choices=["active", "archived"], required=False)
    q = TextField(
        required=False,
        allow_blank=True,
        help_text="Beginnings of words in titles, descriptions, goals and ids: all of them.",
    )


class DeletedTemplate(serializers.Serializer):
    """What is gone."""

    template_id = serializers.CharField()
    title = serializers.CharField()
