"""Routes below ``/v1``."""

from amendments.api.amendments import amendment_urlpatterns
from amendments.api.policy import policy_urlpatterns

urlpatterns = [*policy_urlpatterns, *amendment_urlpatterns]
