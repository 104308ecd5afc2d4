"""What every page's template says in the same way: ``{% load chief %}``.

Filters take None, and give nothing then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_from_request
from django.utils.translation import gettext as _

from chief_project.shared.clock import iso
from chief_project.shared.text import markdown as documents
from chief_project.shared.text import moments, plain, states
from chief_project.shared.text.code import json_block
from chief_project.shared.text.plain import breakable, escape_plain

register = template.Library()

NOTHING = SafeString("")
# So that one failed branch of a thousand can be seen: the least share that a gauge draws, in percent.
LEAST_SHARE = 0.9


@register.simple_tag(takes_context=True)
def language_of_browser(context: Context) -> str:
    """For pages that don't know who reads them."""
    request = context.get("request")
    return (get_language() or "en") if request is None else get_language_from_request(request)


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """``{% icon "note" %}``, ``{% icon "n-flows" size="lg" %}``. It says nothing to a screen reader."""
    return format_html(
        '<svg class="icon{}" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" icon--{size}" if size else "",
        name,
    )


@register.simple_tag
def state(code: str | None, word: str = "", *, pill: bool = False, quiet: bool = False) -> SafeString:
    """``{% state run.status %}``: icon, word and colour. ``word`` replaces the word; ``quiet`` keeps it for screen
    readers only; ``pill`` gives it a ground. Shown states of a step, a run, a workflow, an amendment, a question.
    """
    if not code:
        return NOTHING
    look = states.look(code)
    return format_html(
        '<span class="state state--{}{}">{}<span{}>{}</span></span>',
        look.name,
        " state--pill" if pill else "",
        icon(look.icon),
        SafeString(' class="vh"') if quiet else NOTHING,
        word or look.word,
    )


@register.filter
def ident(value: Any) -> SafeString:
    """An id, a path, a name that a machine gave: it breaks where it is read."""
    if value is None or value == "":
        return NOTHING
    return format_html('<code class="id">{}</code>', breakable(str(value)))


@register.filter
def when(value: datetime | str | None) -> SafeString:
    """``today 14:16``, ``Fri 27 Nov 16:20``; exact on hover. Takes a moment or its ISO text."""
    moment = moments.moment_of(value)
    return _time(moment, moments.when(moment), iso(moment)) if moment else NOTHING


@register.filter
def age(value: datetime | str | None) -> SafeString:
    """``5 h 42 min``: how long ago; exact on hover. ``data-age`` lets a script keep it true."""
    moment = moments.moment_of(value)
    if moment is None:
        return NOTHING
    exact = iso(moment)
    return format_html(
        '<time datetime="{}" title="{}" data-age>{}</time>',
        exact,
        _("since %(moment)s") % {"moment": exact},
        moments.age(moment),
    )


@register.filter
def duration(value: float | timedelta | None) -> str:
    """``1 d 3 h``, of seconds."""
    return "" if value is None else moments.duration(value)


@register.filter
def markdown(value: str | None) -> SafeString:
    """A document in an element of its own (``<div class="prose">``)."""
    return documents.document(value) if value else NOTHING


@register.filter
def said(value: str | None) -> SafeString:
    """A short text within a paragraph: emphasis, code, links; newlines kept."""
    return documents.inline(value) if value else NOTHING


@register.filter
def plain_text(value: str | None) -> str:
    """A title or a name in one line: nothing in it is markup, and no sign in it misleads."""
    return plain.visible(value) if value else ""


@register.filter
def unmarked(value: str | None) -> str:
    """The same where nothing may be laid out, within a link: without the marks of code and strong text."""
    return plain.unmarked(value) if value else ""


@register.simple_tag
def words(changes: Iterable[Sequence[str]] | None) -> SafeString:
    """A text and what changed in it, of ``[["=" | "-" | "+", text], …]``."""
    elements = {"-": "<del>{}</del>", "+": "<ins>{}</ins>"}
    return format_html(
        '<span class="words">{}</span>',
        SafeString(
            "".join(elements.get(mark, "{}").format(escape_plain(text)) for mark, text in changes or [])
        ),
    )


@register.simple_tag
def gauge(counts: Mapping[str, int] | None, label: str = "") -> SafeString:
    """A bar of how many are in which state, and the same in words for who can't see it. ``blocked`` waits."""
    tally = {name: int((counts or {}).get(name) or 0) for name in states.GAUGE}
    tally["waiting"] += int((counts or {}).get("blocked") or 0)
    total = sum(tally.values()) or 1
    shares = {name: max(LEAST_SHARE, 100 * count / total) for name, count in tally.items() if count}
    drawn, left = [], 0.0
    for name, share in shares.items():
        width = 100 * share / sum(shares.values())
        if name != "pending":  # the ground of the bar
            drawn.append((name, f"{left:.2f}", f"{width:.2f}"))
        left += width
    said_counts = ", ".join(states.counted(name, count) for name, count in tally.items() if count)
    return format_html(
        '<svg class="gauge" role="img" aria-label="{}">{}</svg>',
        label or said_counts or _("nothing yet"),
        format_html_join("", '<rect class="f-{}" x="{}%" width="{}%" height="100%"/>', drawn),
    )


@register.filter
def jsonlines(value: Any) -> SafeString:
    """Any JSON value, indented, in a block of its own (``<pre class="code">``)."""
    return json_block(value)


def _time(moment: datetime, text: str, title: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', iso(moment), title, text)
