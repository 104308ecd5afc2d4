"""TeX as MathML."""

from __future__ import annotations

import re
import unicodedata

from math_core import LatexError, LatexToMathML

# The converter recurses, and deep nesting ends the process: what could is never given to it.
LONGEST = 2_000
DEEPEST = 100

# It tries every way to pair a fence that nothing closes, in time that doubles with each: 30 take ten seconds.
UNCLOSED = 8

_convert = LatexToMathML()
_WORDS = re.compile(r"\\(?:left|right|middle)\s*(?:\\[a-zA-Z]+|\\.|.)|\\[a-zA-Z]+|\\.|[^\s\\]", re.DOTALL)
_OPENING = {
    r"\{", r"\lbrace", r"\lbrack", r"\langle", r"\lfloor", r"\lceil", r"\lvert", r"\lVert", r"\lgroup", r"\lmoustache",
    r"\ulcorner", r"\llcorner",
}  # fmt: skip
_CLOSING = {
    r"\}", r"\rbrace", r"\rbrack", r"\rangle", r"\rfloor", r"\rceil", r"\rvert", r"\rVert", r"\rgroup", r"\rmoustache",
    r"\urcorner", r"\lrcorner",
}  # fmt: skip
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
    """Whether it is short, closes its fences, and is nowhere inside more than so many groups.

    A command may hold the next one without a brace (``\\sqrt\\sqrt x``), so a row of commands counts as groups, too.
    """
    if len(source) > LONGEST:
        return False
    depth = row = unclosed = 0
    for word in _WORDS.findall(source):
        if word == "{" or word == "\\begin" or word.startswith("\\left"):
            depth += 1
        elif word == "}" or word == "\\end" or word.startswith("\\right"):
            depth -= 1
        row = row + 1 if word.startswith("\\") or word in "^_" else 0
        if max(depth, 0) + row > DEEPEST:
            return False
        unclosed = max(0, unclosed + _fence(word))
    return unclosed <= UNCLOSED


def _fence(word: str) -> int:
    """1 for what opens a fence, -1 for what closes one, else 0."""
    if len(word) == 1 and word not in "{}":
        return {"Ps": 1, "Pi": 1, "Pe": -1, "Pf": -1}.get(unicodedata.category(word), 0)
    return (word in _OPENING) - (word in _CLOSING)


def _as_classes(found: re.Match[str]) -> str:
    names = [name for rule, name in _CLASSES if rule in found[1]]
    return f' class="{" ".join(names)}"' if names else ""
