"""Every page for people who are signed in, one list a subject."""

from django.urls import URLPattern

from chief_project.web import (
    amendment,
    artifact,
    audit,
    editor,
    events,
    favicon,
    needs_you,
    needs_you_decisions,
    policies,
    profile,
    projects,
    run,
    run_decisions,
    run_definition,
    tokens,
    workflow,
    workflow_decisions,
    workflow_kept,
    workflow_templates,
    workflows,
)

urlpatterns: list[URLPattern] = [
    *amendment.urlpatterns,
    *artifact.urlpatterns,
    *audit.urlpatterns,
    *editor.urlpatterns,
    *events.urlpatterns,
    *favicon.urlpatterns,
    *needs_you.urlpatterns,
    *needs_you_decisions.urlpatterns,
    *policies.urlpatterns,
    *profile.urlpatterns,
    *projects.urlpatterns,
    *run.urlpatterns,
    *run_decisions.urlpatterns,
    *run_definition.urlpatterns,
    *tokens.urlpatterns,
    *workflow.urlpatterns,
    *workflow_decisions.urlpatterns,
    *workflow_kept.urlpatterns,
    *workflow_templates.urlpatterns,
    *workflows.urlpatterns,
]
