"""The one process that serves everything: a small ASGI router.

MCP stays on the event loop; every other request goes to Django's WSGI
application on a pool of threads, whose threads and so whose database connections live on. Under Django's own
ASGI handler each synchronous view would get a new thread, and a new connection with it.

A request's body is read on the event loop, up to the limit, before a thread is taken: a slow client holds no
thread, and a body sent in chunks reaches WSGI with the length that WSGI needs. An answer that is waited for is held
there, too, and so is a stream of events.
"""

from __future__ import annotations

from a2wsgi import WSGIMiddleware

from chief_project.wsgi import application as django_application  # first: it sets Django up

# isort: split
from django.conf import settings

from chief_project.mcp import HttpEndpoint
from chief_project.shared.http.events import EventStreams
from chief_project.shared.http.held import HeldAnswers
from chief_project.shared.http.router import App, BufferedBody, Router
from chief_project.waiting import HELD, STREAMS, WAITS, looking_out

__all__ = ["BufferedBody", "Router", "application"]


mcp = HttpEndpoint(tools=settings.CHIEF_MCP_TOOLS, waits=WAITS)

# What is ASGI all the way is mounted here, by path prefix.
ROUTES: dict[str, App] = {"/mcp": mcp}

django = BufferedBody(
    WSGIMiddleware(django_application, workers=settings.CHIEF_THREADS),  # type: ignore[arg-type]
    limit=settings.CHIEF_MAX_BODY_BYTES,
)

application = Router(
    default=EventStreams(HeldAnswers(django, WAITS, HELD), WAITS, *STREAMS),
    routes=ROUTES,
    lifespans=[looking_out, mcp.running],
)
