"""What templates say with ``{% load chief %}``: icons, states, ids, times and texts of harnesses, made safe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chief_project.shared.clock import iso
from chief_project.shared.text import code, moments, plain, states

register = template.Library()
_NAME = re.compile(r"[a-z][a-z0-9-]*")


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """One of the icons in ``parts/icons.html``, decoration beside words."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"no icon is called {name!r}")
    return format_html(
        '<svg class="icon{}" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" icon--{size}" if size else "",
        name,
    )


@register.simple_tag
def state(of: str, word: str = "") -> SafeString:
    """A state as icon, word and colour."""
    look = states.look(of)
    return format_html(
        '<span class="state state--{}">{}<span>{}</span></span>', look.name, icon(look.icon), word or look.word
    )


@register.filter
def ident(value: object) -> SafeString:
    """An id, which may break after ``/ _ = : .``."""
    return format_html('<code class="id">{}</code>', plain.breakable(str(value)))


def _time(moment: datetime, words: str) -> SafeString:
    exact = iso(moment)
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, exact, words)


@register.filter
def when(value: datetime | str | None) -> SafeString | str:
    """A moment in the reader's zone, exact on hover."""
    moment = moments.moment_of(value)
    return "" if moment is None else _time(moment, moments.when(moment))


@register.filter
def age(value: datetime | str | None) -> SafeString | str:
    """How long ago a moment was, exact on hover."""
    moment = moments.moment_of(value)
    return "" if moment is None else _time(moment, moments.age(moment))


@register.filter
def duration(seconds: float | None) -> str:
    """A span in words."""
    return "" if seconds is None else moments.duration(seconds)


@register.filter
def markdown(text: str | None) -> SafeString:
    """A document that a harness wrote."""
    return format_html('<div class="prose"><p>{}</p></div>', said(text))


@register.filter
def said(text: str | None) -> SafeString:
    """One paragraph, its line ends kept."""
    lines = plain.escape_plain(text or "").split("\n")
    return SafeString("<br>".join(lines))


@register.simple_tag
def words(changes: Iterable[tuple[str, str]]) -> SafeString:
    """A difference word by word: ``[["=" | "-" | "+", text]]``."""
    frame = {"=": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}
    return SafeString("".join(frame[mark].format(plain.escape_plain(text)) for mark, text in changes))


@register.simple_tag
def gauge(counts: Mapping[str, int]) -> SafeString:
    """Progress as counts, not as a promise: a bar of ``states.GAUGE``, and the same in words."""
    given = [(name, int(counts.get(name) or 0)) for name in states.GAUGE]
    total = sum(count for _, count in given)
    bars, left = [], 0.0
    for name, count in given:
        if count:
            width = 100 * count / total
            bars.append((name, f"{left:.2f}%", f"{width:.2f}%"))
            left += width
    label = ", ".join(states.counted(name, count) for name, count in given if count)
    return format_html(
        '<svg class="gauge" role="img" aria-label="{}">{}</svg>',
        label,
        format_html_join("", '<rect class="f-{}" x="{}" width="{}" height="100%"/>', bars),
    )


@register.filter
def jsonlines(value: Any) -> SafeString:
    """Any JSON value, laid out to be read."""
    return code.json_block(value)
