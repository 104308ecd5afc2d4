"""Code with its words marked by classes; the colours are in static/chief/prose.css."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType

from chief_project.shared.text.plain import escape_plain

# A longer one is shown without colours: what marks the words is regular expressions, and a page must not wait.
LONGEST = 40_000

# Only what is asked for often and has lexers that stay quick on any text.
_LANGUAGES = {
    "bash": "bash", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "console", "c": "c", "cpp": "cpp", "c++": "cpp",
    "css": "css", "diff": "diff", "patch": "diff", "dockerfile": "docker", "docker": "docker", "go": "go", "html": "html",
    "ini": "ini", "java": "java", "javascript": "javascript", "js": "javascript", "jsx": "javascript", "json": "json",
    "jsonl": "json", "ndjson": "json", "julia": "julia", "kotlin": "kotlin", "lua": "lua", "makefile": "make", "make": "make", "php": "php",
    "python": "python", "py": "python", "r": "r", "ruby": "ruby", "rb": "ruby", "rust": "rust", "rs": "rust", "sql": "sql",
    "swift": "swift", "toml": "toml", "ts": "typescript", "tsx": "typescript", "typescript": "typescript", "xml": "xml",
    "yaml": "yaml", "yml": "yaml",
}  # fmt: skip

# The first that holds the token's type names the class; anything else is plain.
_CLASSES = (
    (Token.Comment, "c"),
    (Token.Literal.String, "s"),
    (Token.Literal.Number, "n"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Name.Tag, "k"),
    (Token.Name.Function, "f"),
    (Token.Name.Class, "f"),
    (Token.Name.Decorator, "f"),
    (Token.Generic.Deleted, "d"),
    (Token.Generic.Inserted, "a"),
    (Token.Generic.Heading, "f"),
    (Token.Generic.Subheading, "c"),
    (Token.Generic.Prompt, "c"),
)


def language_named(name: str) -> str:
    """The language of a media type (``text/x-python``), a short name or a suffix (``py``); blank for none known."""
    name = name.strip().lower().rpartition("/")[2].removeprefix("x-")
    return _LANGUAGES.get(name) or (
        "xml" if name.endswith("+xml") else "json" if name.endswith("+json") else ""
    )


def highlighted(source: str, language: str = "") -> SafeString:
    """HTML for the inside of ``<code>``."""
    lexer_name = language_named(language)
    if not lexer_name or len(source) > LONGEST:
        return SafeString(escape_plain(source))
    parts: list[str] = []
    for kind, text in _lexer(lexer_name).get_tokens(source):
        name = _class_of(kind)
        escaped = escape_plain(text)
        parts.append(f'<span class="tok-{name}">{escaped}</span>' if name and text.strip() else escaped)
    return SafeString("".join(parts))


def code_block(source: str, language: str = "") -> SafeString:
    """A block of code that scrolls by itself, and so can be focused."""
    return format_html('<pre class="code" tabindex="0"><code>{}</code></pre>', highlighted(source, language))


def json_block(value: Any) -> SafeString:
    """Any JSON value, one entry a line. What JSON doesn't know, such as a moment, is shown as its text."""
    return code_block(json.dumps(value, indent=2, ensure_ascii=False, default=str), "json")


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _class_of(kind: _TokenType) -> str:
    return next((name for group, name in _CLASSES if kind[: len(group)] == group), "")
