from django.apps import AppConfig


class AmendmentsConfig(AppConfig):
    """Proposed changes to a running plan, and the policies that may decide them."""

    name = "amendments"
