"""Text as it is, made safe to look at."""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString

# What turns the direction of the text behind it, so that a name or a link reads as another one; and the signs that
# end up as nothing on a screen. Marks of direction that right-to-left languages need (U+200E, U+200F) stay.
_MISLEADING = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]")
_MARKS = re.compile(r"(`{1,3}|\*\*)(?=\S)(.{1,200}?)(?<=\S)\1")
_BREAKS_AFTER = re.compile(r"([/_=:.]+)(?=.)", re.DOTALL)


def visible(text: str) -> str:
    """The text with every misleading sign spelled out: ``⟦U+202E⟧``."""
    return _MISLEADING.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)


def unmarked(text: str) -> str:
    """A line of Markdown as it is read aloud: without the marks of code and of strong text, and with no sign that
    misleads (``visible``).
    """
    return _MARKS.sub(r"\2", visible(text))


def breakable(text: str) -> SafeString:
    """HTML of an id or path that may break after ``/ _ = : .``."""
    return SafeString(_BREAKS_AFTER.sub(r"\1<wbr>", escape_plain(text)))


def escape_plain(text: str) -> str:
    return str(escape(visible(str(text))))
