"""Routes below ``/v1``."""

from workflows.api.policy import policy_urlpatterns

urlpatterns = [*policy_urlpatterns]
