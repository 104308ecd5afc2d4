"""Which admin site Django uses. Apart from ``apps.py``, where it would be taken for this app's own configuration."""

from django.contrib.admin.apps import AdminConfig


class ChiefAdminConfig(AdminConfig):
    """Django's admin, at Chief's door."""

    default_site = "chief_project.shared.admin_site.ChiefAdminSite"
