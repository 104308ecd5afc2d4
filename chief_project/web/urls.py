"""Every page for people who are signed in, one list a subject."""

from django.urls import URLPattern

from chief_project.web import (
    amendment,
    audit,
    editor,
    events,
    policies,
    profile,
    tokens,
    workflow,
    workflow_templates,
)

urlpatterns: list[URLPattern] = [
    *amendment.urlpatterns,
    *audit.urlpatterns,
    *editor.urlpatterns,
    *events.urlpatterns,
    *policies.urlpatterns,
    *profile.urlpatterns,
    *tokens.urlpatterns,
    *workflow.urlpatterns,
    *workflow_templates.urlpatterns,
]
