"""Routes below ``/v1``."""

from workflows.api.policy import policy_urlpatterns
from workflows.api.templates import template_urlpatterns
from workflows.api.workflows import workflow_urlpatterns

urlpatterns = [*workflow_urlpatterns, *policy_urlpatterns, *template_urlpatterns]
