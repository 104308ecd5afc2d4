"""Reads answered HTML as a browser would, as far as what could come to life in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

ALIVE = {
    "script", "style", "iframe", "object", "embed", "base", "meta", "link", "svg", "img", "video", "audio", "source",
    "form", "input", "button", "textarea", "select", "template", "noscript", "title", "annotation-xml", "foreignobject",
    "animate", "set", "marquee", "frame", "frameset", "applet", "portal", "details", "dialog", "body", "html", "head",
}  # fmt: skip
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Reader(HTMLParser):
    """Every element with its attributes, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
            self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open, f"left open: {reader.open}"
    return reader


def assert_harmless(html: str) -> Reader:
    """For a text of a harness alone: nothing in it runs, loads, leads to anything but the web, or asks."""
    found = read(html)
    for tag, attributes in found.elements:
        assert tag not in ALIVE, f"<{tag}>"
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{tag} {name}={value!r}"
            assert name not in {
                "style",
                "src",
                "srcset",
                "action",
                "formaction",
                "id",
                "name",
                "target",
                "xlink:href",
            }
            if name == "href":
                assert re.match(r"(https?://|mailto:)", value, re.IGNORECASE), value
                assert attributes["rel"] == "noreferrer noopener nofollow"
    return found
