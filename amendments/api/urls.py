"""Routes below ``/v1``."""

from amendments.api.amendments import amendment_urlpatterns
from amendments.api.policy import policy_urlpatterns
from amendments.api.waiting import waiting_urlpatterns
from amendments.api.workflow import workflow_urlpatterns

urlpatterns = [*workflow_urlpatterns, *policy_urlpatterns, *amendment_urlpatterns, *waiting_urlpatterns]
