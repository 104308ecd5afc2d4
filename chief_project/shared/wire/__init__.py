"""JSON as it crosses the wire, in and out.

Apart from ``shared.http``, because DRF imports the parser and the renderer while it defines its own view class.
"""

from chief_project.shared.pointers import pointer
from chief_project.shared.wire.parsing import JSONParser, parse_json, read_body
from chief_project.shared.wire.rendering import JSONRenderer, JSONResponse, dumps

__all__ = ["JSONParser", "JSONRenderer", "JSONResponse", "dumps", "parse_json", "pointer", "read_body"]
