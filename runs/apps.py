from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Executions of a workflow: states, instances, reports, derivation."""

    name = "runs"
