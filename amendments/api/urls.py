"""Routes below ``/v1``."""

from amendments.api.policy import policy_urlpatterns

urlpatterns = [*policy_urlpatterns]
