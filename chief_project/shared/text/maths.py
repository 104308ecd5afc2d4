"""TeX as MathML."""

from __future__ import annotations

import re

from math_core import LatexError, LatexToMathML

# The converter recurses, and deep nesting ends the process: what could is never given to it.
LONGEST = 2_000
DEEPEST = 100

_convert = LatexToMathML()
_OPENS_OR_CLOSES = re.compile(r"\\begin\b|\\end\b|\\left\b|\\right\b|\\[{}]|[{}]|\\[a-zA-Z]+|[\^_]")
_REWRITTEN = (
    (re.compile(r"\\(begin|end)\s*\{split\}"), r"\\\1{aligned}"),
    (re.compile(r"\\begin\s*\{alignedat\}\s*\{\s*\d+\s*\}"), r"\\begin{aligned}"),
    (re.compile(r"\\end\s*\{alignedat\}"), r"\\end{aligned}"),
    (re.compile(r"\\(begin|end)\s*\{smallmatrix\}"), r"\\\1{matrix}"),
    (re.compile(r"\\mbox\b"), r"\\text"),
)
_STYLE = re.compile(r' style="([^"]*)"')
_CLASSES = (
    ("text-align: right", "m-right"),
    ("text-align: left", "m-left"),
    ("border-right", "m-rule-right"),
    ("border-left", "m-rule-left"),
    ("border-top", "m-rule-top"),
    ("border-bottom", "m-rule-bottom"),
)


def mathml(source: str, *, display: bool) -> str | None:
    """The formula as a ``<math>`` element without inline styles; None where it can't be read or is refused."""
    if not _harmless(source):
        return None
    for pattern, instead in _REWRITTEN:
        source = pattern.sub(instead, source)
    try:
        made = _convert.convert_with_local_state(source, displaystyle=display)
    except LatexError:
        return None
    return _STYLE.sub(_as_classes, made)


def _harmless(source: str) -> bool:
    """Whether it is short, and nowhere inside more than so many groups.

    A command may hold the next one without a brace (``\\sqrt\\sqrt x``), so a row of commands counts as groups, too.
    """
    if len(source) > LONGEST:
        return False
    depth = row = behind = 0
    for found in _OPENS_OR_CLOSES.finditer(source):
        word = found[0]
        if source[behind : found.start()].strip():
            row = 0
        behind = found.end()
        if word in {"{", "\\{", "\\begin", "\\left"}:
            depth += 1
        elif word in {"}", "\\}", "\\end", "\\right"}:
            depth -= 1
            row = 0
        else:
            row += 1
        if depth + row > DEEPEST:
            return False
    return True


def _as_classes(found: re.Match[str]) -> str:
    names = [name for rule, name in _CLASSES if rule in found[1]]
    return f' class="{" ".join(names)}"' if names else ""
