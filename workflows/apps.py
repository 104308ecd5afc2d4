from django.apps import AppConfig


class WorkflowsConfig(AppConfig):
    """Plans under review, their versions, notes and templates."""

    name = "workflows"
