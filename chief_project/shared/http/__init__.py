"""The HTTP layer of ``/v1``: parsing, rendering, the error table, the view base, path converters."""

from chief_project.shared.http import paths
from chief_project.shared.http.errors import answer_to, envelope, exception_handler, refusal
from chief_project.shared.http.views import ChiefView, RunWrite
from chief_project.shared.wire.parsing import JSONParser, parse_json
from chief_project.shared.wire.rendering import JSONRenderer, JSONResponse, dumps

__all__ = [
    "ChiefView",
    "JSONParser",
    "JSONRenderer",
    "JSONResponse",
    "RunWrite",
    "answer_to",
    "dumps",
    "envelope",
    "exception_handler",
    "parse_json",
    "paths",
    "refusal",
]
