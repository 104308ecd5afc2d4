r"""Formulas in ``\(…\)`` and ``\[…\]`` for markdown-it, beside those in dollars.

The search for the end is bounded: a text of nothing but beginnings takes no longer than another.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from chief_project.shared.text.maths import LONGEST


def brackets_plugin(md: MarkdownIt) -> None:
    """Tokens are those of ``dollarmath``: ``math_inline``, ``math_inline_double`` and ``math_block``."""
    md.inline.ruler.before("escape", "math_brackets", _inline)
    md.block.ruler.before(
        "fence", "math_brackets", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def _inline(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    if opening not in {r"\(", r"\["}:
        return False
    start = state.pos + 2
    end = state.src.find(r"\)" if opening == r"\(" else r"\]", start, min(state.posMax, start + LONGEST))
    if end < 0 or not state.src[start:end].strip():
        return False
    if not silent:
        kind = "math_inline" if opening == r"\(" else "math_inline_double"
        state.push(kind, "math", 0).content = state.src[start:end]
    state.pos = end + 2
    return True


def _block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """What begins with ``\\[`` on a line of its own or before a formula, and ends with ``\\]`` at the end of a line."""
    if state.is_code_block(start_line):
        return False
    start = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith(r"\[", start):
        return False
    lines: list[str] = []
    for line in range(start_line, end_line):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
        if not text or state.sCount[line] < state.blkIndent:
            return False
        lines.append(text)
        if text.endswith(r"\]"):
            break
        if sum(map(len, lines)) > LONGEST:
            return False
    content = "\n".join(lines)[2:-2]
    if not lines[-1].endswith(r"\]") or r"\]" in content or not content.strip():
        return False
    if silent:
        return True
    token = state.push("math_block", "math", 0)
    token.block = True
    token.content = content
    token.map = [start_line, start_line + len(lines)]
    state.line = start_line + len(lines)
    return True
