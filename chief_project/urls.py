"""Every route. Below ``/v1`` none ends in a slash, but for the two that people type."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from chief_project.shared.health import healthz, readyz
from chief_project.shared.http.description import DocsView, SchemaView
from chief_project.shared.http.fallbacks import no_route

v1: list[URLPattern | URLResolver] = [
    path("", include("workflows.api.urls")),
    path("", include("runs.api.urls")),
    path("", include("amendments.api.urls")),
    path("", include("chief_project.shared.api.urls")),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="docs"),
    re_path("", no_route),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("v1/", include(v1)),
    path("v1", no_route),
    path("admin/", admin.site.urls),
    path("", include("chief_project.shared.web.urls")),
    path("", include("chief_project.web.urls")),
]

if settings.CHIEF_METRICS:
    urlpatterns.append(path("", include("django_prometheus.urls")))

handler400 = "chief_project.shared.http.fallbacks.bad_request"
handler403 = "chief_project.shared.http.fallbacks.permission_denied"
handler404 = "chief_project.shared.http.fallbacks.not_found"
handler500 = "chief_project.shared.http.fallbacks.server_error"
