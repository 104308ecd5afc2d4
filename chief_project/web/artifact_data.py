"""What an artifact holds, by its type: as a document, a table, code, or only named."""

from __future__ import annotations

import csv
import json
from io import StringIO
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chief_project.shared.text.code import code_block, language_named

ROWS = 500
COLUMNS = 40
CELL = 1_000
LONGEST = 200_000

_TABLES = {"text/csv": ",", "csv": ",", "text/tab-separated-values": "\t", "tsv": "\t"}
_PLAIN = {"text/plain", "text", "txt", "log"}
_DOCUMENTS = {"text/markdown", "markdown", "md", "text/mdx", "mdx", "document", "report", "note", "notes"}
_NAMED = {
    "application/pdf",
    "pdf",
    "application/octet-stream",
    "application/zip",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
}

Context = dict[str, Any]


def shown(kind: str, data: Any, ref: str | None) -> Context | None:
    """``{as: document | code | table | plain | named, …, note}`` for the page; None where the artifact holds nothing.

    ``kind`` is the artifact's type as its harness wrote it: a media type, a short name, or any word.
    """
    if data is None:
        return None
    kind = kind.lower().partition(";")[0].strip()
    if not isinstance(data, str):
        return _code(json.dumps(data, indent=2, ensure_ascii=False), "json")
    if _is_named_only(kind, data):
        return {
            "as": "named",
            "note": _("Its {size} of data are not shown here.").format(size=_size(len(data))),
        }
    if kind in _TABLES:
        return _table(data, _TABLES[kind]) or _plain(data)
    if kind in _PLAIN:
        return _plain(data)
    language = "" if kind in _DOCUMENTS else language_named(kind) or language_named(_suffix(ref))
    if language == "json":
        return _code(_indented(data), "json")
    return _code(data, language) if language else {"as": "document", "text": data}


def icon_of(kind: str) -> str:
    """The icon for an artifact of this type."""
    kind = kind.lower().partition(";")[0].strip()
    if kind.startswith("image/"):
        return "image"
    if kind in _TABLES:
        return "table"
    return "braces" if kind in ("json", "application/json") else "file"


def _is_named_only(kind: str, data: str) -> bool:
    """Pictures and the like are not loaded, whether they are named or written out."""
    pictures = kind.startswith(("image/", "audio/", "video/", "font/")) and not kind.endswith("+xml")
    return pictures or kind in _NAMED or data.startswith("data:")


def _suffix(ref: str | None) -> str:
    name = (ref or "").rpartition("/")[2]
    return name.rpartition(".")[2] if "." in name else ""


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _code(source: str, language: str) -> Context:
    return {"as": "code", "html": code_block(source[:LONGEST], language), "note": _cut(source)}


def _plain(text: str) -> Context:
    return {"as": "plain", "text": text[:LONGEST], "note": _cut(text)}


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return ""
    return _("The first {shown} of {size}.").format(shown=_size(LONGEST), size=_size(len(text)))


def _size(count: int) -> str:
    return _("{n} kB").format(n=f"{count / 1000:.1f}") if count >= 1000 else _("{n} bytes").format(n=count)


def _table(text: str, delimiter: str) -> Context | None:
    """The first rows of a table; None where it can't be read as one."""
    try:
        lines = csv.reader(StringIO(text.replace("\0", "�"), newline=""), delimiter=delimiter)
        rows = [[cell[:CELL] for cell in row[:COLUMNS]] for row in islice(lines, ROWS + 1)]
        rest = sum(1 for _row in lines)
    except csv.Error:
        return None
    rows = [row for row in rows if row]
    if not rows:
        return None
    head, *body = rows
    width = max(map(len, rows))
    total = len(body) + rest
    said = ngettext("%(n)d row", "%(n)d rows", total) % {"n": total}
    if rest:
        said = _("The first {shown} of {rows}").format(shown=len(body), rows=said)
    right = [
        all(_is_number(row[at]) for row in body if at < len(row) and row[at].strip()) for at in range(width)
    ]
    return {
        "as": "table",
        "head": list(zip(_filled(head, width), right, strict=True)),
        "rows": [list(zip(_filled(row, width), right, strict=True)) for row in body],
        "note": said,
    }


def _filled(row: list[str], width: int) -> list[str]:
    return row + [""] * (width - len(row))


def _is_number(text: str) -> bool:
    try:
        float(text.strip().rstrip("%").replace(",", ""))
    except ValueError:
        return False
    return True
