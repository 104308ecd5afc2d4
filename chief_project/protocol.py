"""What the server itself refuses before any application sees it, in the envelope too (contract 1)."""

from __future__ import annotations

import json
import sys

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

# Neither uvicorn nor its parser has a limit of its own. More than this is read only if it comes in the same piece.
HEAD_BYTES = 128 * 1024
METHODS = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"


class ChiefProtocol(HttpToolsProtocol):
    """uvicorn's, with a limit for the request's head, and whose refusals say what is wrong."""

    reading_head = False
    head_bytes = 0

    def on_message_begin(self) -> None:
        self.reading_head, self.head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.reading_head = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.reading_head and not self.transport.is_closing():
            self.head_bytes += len(data)
            if self.head_bytes > HEAD_BYTES:
                text = f"the request's headers are larger than {HEAD_BYTES} bytes: send less in them"
                self.refuse(413, "too_large", text)

    def send_400_response(self, msg: str) -> None:
        """uvicorn's hook, called while the parser's error is handled."""
        if isinstance(sys.exception(), httptools.HttpParserInvalidMethodError):
            self.refuse(405, "method_not_allowed", f"no route takes this method: there are {METHODS}")
        else:
            self.refuse(422, "validation_failed", "the request is not well-formed HTTP/1.1: send it anew")

    def refuse(self, status: int, code: str, text: str) -> None:
        """Answer, and close: where the next request would begin isn't known any more."""
        body = json.dumps({"error": {"code": code, "message": text}}).encode()
        allow = f"allow: {METHODS}\r\n" if status == 405 else ""
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n{allow}connection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()
