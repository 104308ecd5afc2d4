"""Markdown that a harness or a person wrote, as HTML that is safe in a page.

Raw HTML in it is text. Nothing is loaded from anywhere: an image is a link. Links lead to http, https and mailto
addresses only. Headings start at ``h3``, below those of the page. Formulas (``$…$``, ``$$…$$``, ``\\(…\\)``,
``\\[…\\]``) become MathML; one that can't be read stays as code.
"""

from __future__ import annotations

import re
import time
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from chief_project.shared.text.brackets import brackets_plugin
from chief_project.shared.text.code import code_block
from chief_project.shared.text.maths import mathml
from chief_project.shared.text.plain import visible

LONGEST = 200_000
_SMALL = 10_000

_MATH = {
    "math", "menclose", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mprescripts",
    "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover", "none",
}  # fmt: skip
_MATH_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnspan", "depth", "display", "displaystyle", "form", "height", "largeop",
    "linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowspan", "rspace",
    "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip
_CLEANER = nh3.Cleaner(
    tags={
        "a", "blockquote", "br", "code", "del", "div", "em", "figure", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
        "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul", *_MATH,
    },
    attributes={
        "*": {"class"},
        "a": {"href"},
        "div": {"tabindex", "role", "aria-label"},
        "ol": {"start"},
        "pre": {"tabindex"},
        **dict.fromkeys(_MATH, _MATH_ATTRIBUTES),
    },
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noreferrer noopener nofollow",
)  # fmt: skip

_SCHEMES = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_TASK = re.compile(r"\[([ xX])\](?=\s)")


def document(text: str) -> SafeString:
    """A whole document, in an element of its own."""
    return _in_time(text or "", get_language() or "", inline=False)


def inline(text: str) -> SafeString:
    """A short text with emphasis, code, links and formulas, its newlines kept; no blocks, no element around it."""
    return _in_time(text or "", get_language() or "", inline=True)


def _in_time(text: str, language: str, *, inline: bool) -> SafeString:
    if len(text) > LONGEST:
        why = _(
            "This text is longer than 200 kB. This is its beginning, as it was written; the API has all of it."
        )
        return _as_it_is(text[:LONGEST], why, inline)
    return (_small if len(text) <= _SMALL else _large)(text, language, inline)


def _rendered(text: str, language: str, inline: bool) -> SafeString:
    """``language`` is that of the page: it is here as a part of the cache's key."""
    source = visible(text)
    env = {"until": time.thread_time() + 0.5 + len(text) / 100_000}
    try:
        made = _markdown.renderInline(source, env) if inline else _markdown.render(source, env)
    except TooSlow:
        return _as_it_is(
            text, _("This text takes too long to lay out, so it is shown as it was written."), inline
        )
    clean = SafeString(_CLEANER.clean(made))
    return clean if inline else format_html('<div class="prose" dir="auto">{}</div>', clean)


# Pages show many texts again and again: notes, goals, summaries. Two caches, so that long ones take a bounded room.
_small = lru_cache(maxsize=1024)(_rendered)
_large = lru_cache(maxsize=16)(_rendered)


def _as_it_is(text: str, why: str, inline: bool) -> SafeString:
    frame = (
        '<span class="hint">{}</span><br><span class="words">{}</span>'
        if inline
        else '<div class="prose" dir="auto"><p class="hint">{}</p><pre tabindex="0">{}</pre></div>'
    )
    return format_html(frame, why, visible(text))


# -- How long it may take ----------------------------------------------------------------------------


class TooSlow(Exception):
    """Some texts take time that grows with the square of their length, and a page must not wait for them."""


def _watch_inline(state: StateInline, silent: bool) -> bool:
    return _watch(state.env)


def _watch_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    return _watch(state.env)


def _watch(env: MutableMapping[str, Any]) -> bool:
    """A rule that never matches, and so is asked everywhere."""
    if time.thread_time() > env["until"]:
        raise TooSlow
    return False


# -- What is drawn differently -----------------------------------------------------------------------


def _line_break(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    # No new line beside it, or an element that keeps those would show two.
    return "<br>"


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """A link: to load it would tell another site who reads this."""
    token = tokens[index]
    address = str(token.attrs.get("src", ""))
    alt = renderer.renderInlineAsText(token.children, options, env) if token.children else ""
    said = alt.strip() or address
    return f'<a class="image-link" href="{escape(address)}">{escape(said)}</a>'


def _fence(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else ""
    if language == "math":
        return _math_block(renderer, tokens, index, options, env)
    return str(code_block(token.content, language))


def _table_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    # A group and not a region: a page may show a hundred, and each region is a landmark.
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(_("Table"))}"><table>\n'


def _table_close(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    return "</table></div>\n"


def _cell_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    right = "right" in str(token.attrs.get("style", ""))
    return f'<{token.tag} class="num">' if right else f"<{token.tag}>"


def _math_within(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    return _formula(tokens[index].content, display=False)


def _math_on_its_line(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    # A span, for it may stand in a paragraph.
    return f'<span class="math" tabindex="0">{_formula(tokens[index].content, display=True)}</span>'


def _math_block(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    return f'<div class="math" tabindex="0">{_formula(tokens[index].content, display=True)}</div>\n'


def _formula(source: str, *, display: bool) -> str:
    return mathml(source.strip(), display=display) or f"<code>{escape(source.strip())}</code>"


def _demote_headings(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _tick_tasks(state: StateCore) -> None:
    """``- [x]`` as a sign: a box that can't be ticked is no control."""
    for at, token in enumerate(state.tokens[2:], start=2):
        if token.type != "inline" or not token.children or state.tokens[at - 2].type != "list_item_open":
            continue
        first = token.children[0]
        found = _TASK.match(first.content) if first.type == "text" else None
        if found:
            first.content = ("☐" if found[1] == " " else "☑") + first.content[found.end() :]


def _make() -> MarkdownIt:
    made = MarkdownIt("gfm-like", {"html": False, "breaks": True, "maxNesting": 40})
    made.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    made.use(brackets_plugin)
    # A bare name.py or report.md is a file here and no host of Paraguay or Moldova.
    assert made.linkify is not None
    made.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    made.validateLink = lambda url: bool(_SCHEMES.match(url))  # type: ignore[method-assign]
    for name, draw in {
        "image": _image, "fence": _fence, "table_open": _table_open, "table_close": _table_close, "th_open": _cell_open,
        "td_open": _cell_open, "math_inline": _math_within, "math_inline_double": _math_on_its_line, "math_block": _math_block,
    }.items():  # fmt: skip
        made.add_render_rule(name, draw)
    made.inline.ruler.after("text", "watch", _watch_inline)
    made.block.ruler.before("table", "watch", _watch_block)
    made.add_render_rule("softbreak", _line_break)
    made.add_render_rule("hardbreak", _line_break)
    made.core.ruler.push("demote_headings", _demote_headings)
    made.core.ruler.push("tick_tasks", _tick_tasks)
    return made


_markdown = _make()
