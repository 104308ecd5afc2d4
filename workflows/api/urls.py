"""Routes below ``/v1``."""

from workflows.api.policy import policy_urlpatterns
from workflows.api.templates import template_urlpatterns

urlpatterns = [*policy_urlpatterns, *template_urlpatterns]
