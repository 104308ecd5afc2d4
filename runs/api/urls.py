"""Routes below ``/v1``. The converters ``<id:>`` and ``<statepath:>`` come with ``chief_project.shared.http``."""

from runs.api.decisions import decision_urlpatterns
from runs.api.events import event_urlpatterns
from runs.api.reads import read_urlpatterns
from runs.api.reports import report_urlpatterns

urlpatterns = [*read_urlpatterns, *event_urlpatterns, *report_urlpatterns, *decision_urlpatterns]
