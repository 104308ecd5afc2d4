from django.apps import AppConfig


class ChiefProjectConfig(AppConfig):
    """The wiring as an app, so that Django finds its management commands. It has no models."""

    name = "chief_project"
    label = "chief_project"
    verbose_name = "Chief"
