"""``/v1/schema/`` and ``/v1/docs/``: the API's description, public, and the same for everyone."""

import hashlib
from functools import cache

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView

from chief_project.shared.http.views import ChiefView
from chief_project.shared.wire import dumps


@cache
def description() -> tuple[bytes, str]:
    """The OpenAPI document and its ``ETag``; made once, because it takes a second and never changes."""
    document = dumps(SchemaGenerator().get_schema(request=None, public=True))
    return document, f'"{hashlib.sha256(document).hexdigest()[:32]}"'


class SchemaView(ChiefView):
    """The OpenAPI 3.1 document, as JSON."""

    public = True
    schema = None

    def get(self, request: HttpRequest) -> HttpResponse:
        """The document, or 304."""
        document, tag = description()
        headers = {"ETag": tag, "Cache-Control": "public, no-cache"}
        if request.META.get("HTTP_IF_NONE_MATCH") == tag:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(document, content_type="application/json", headers=headers)


@method_decorator(csp_update(settings.CSP_FOR_API_DOCS), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """The document to browse and try; every asset is ours."""

    url_name = "schema"

    def options(  # type: ignore[override]
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> HttpResponse:
        """Which methods there are; the library's answer needs a template, and the page's is not for this."""
        return HttpResponse(status=204, headers={"Allow": ", ".join(self.allowed_methods)})
