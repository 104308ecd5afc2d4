from django.apps import AppConfig


class SharedConfig(AppConfig):
    """Cross-cutting ground: principals, audit, ids, errors, the HTTP envelope."""

    name = "chief_project.shared"
    label = "shared"
    verbose_name = "Principals and audit"
