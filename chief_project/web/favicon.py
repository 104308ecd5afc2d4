"""The icon of a browser's tab while something waits for a person: how much."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.html import format_html
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

_MOST = 99
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="4" fill="#14191c"/>'
    '<path d="M13 6.2A12 12 0 0 0 22 27.4" fill="none" stroke="#fff" stroke-width="3.4"/>'
    '<rect x="9" width="23" height="23" rx="4" fill="#f6b51e"/>'
    '<text x="20.5" y="18" text-anchor="middle" font-family="system-ui, sans-serif" font-weight="700"'
    ' font-size="{}" fill="#14191c">{}</text></svg>'
)


@cache_control(public=True, max_age=86_400, immutable=True)
@require_safe
def favicon(request: HttpRequest, count: int) -> HttpResponse:
    """``count``, or 99 for more, on the ground that means a person. It tells what it was asked, so anybody may ask."""
    shown = min(count, _MOST)
    return HttpResponse(format_html(_ICON, 18 if shown < 10 else 16, shown), content_type="image/svg+xml")


urlpatterns = [path("favicon-<int:count>.svg", favicon, name="favicon")]
