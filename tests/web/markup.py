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

    def __init__(self, *, strict: bool = True) -> None:
        super().__init__(convert_charrefs=True)
        self.strict = strict
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
        if self.strict:
            assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        if self.open[-1:] == [tag]:
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


# -- A whole page ------------------------------------------------------------------------------------

OUT = re.compile(r"(https?://|mailto:)", re.IGNORECASE)
ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "xlink:href",
    "poster",
    "data",
    "cite",
    "background",
    "srcset",
    "ping",
    "manifest",
}
NEVER = {
    "iframe",
    "object",
    "embed",
    "base",
    "applet",
    "frame",
    "frameset",
    "portal",
    "marquee",
    "img",
    "video",
    "audio",
    "source",
}
OURS = re.compile(r"/v1/docs/\?script=|/admin/jsi18n/|/favicon-\d+\.svg")  # what this site writes itself
ICON = re.compile(r"#[a-z][a-z0-9-]*")


def assert_page_harmless(html: str, *, admin: bool = False) -> Reader:
    """For a whole page: what runs and what it looks like comes from this site's files; what leads elsewhere says that
    nothing is told there; nothing is loaded from elsewhere.
    """
    found = Reader(strict=False)
    found.feed(html)
    found.close()
    for tag, attributes in found.elements:
        where = f"<{tag} {attributes}>"
        assert tag not in NEVER - ({"img"} if admin else set()), where
        assert re.fullmatch(r"[a-z]+[1-6]?", tag), where
        if tag == "script" and not attributes.get("src"):
            assert attributes.get("type") in {"application/json", "importmap"}, where
        if tag == "meta":
            assert attributes.get("http-equiv", "") == "", where
        for name, value in attributes.items():
            assert re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:.-]*", name), where
            assert not name.startswith("on"), where
            assert name != "style", where
            assert "9137" not in name, where
            if name in ADDRESSES or (
                name.startswith("hx-") and name[3:] in {"get", "post", "put", "delete", "patch"}
            ):
                _assert_address(tag, name, value, attributes, where)
    return found


def _assert_address(tag: str, name: str, value: str, attributes: dict[str, str], where: str) -> None:
    if tag in {"script", "link", "img"}:
        assert value.startswith("/static/") or OURS.fullmatch(value), where
    elif value.startswith("#"):
        assert tag != "use" or ICON.fullmatch(value), where
    elif OUT.match(value):
        assert (tag, name) == ("a", "href"), where
        assert {"noreferrer", "noopener"} <= set(attributes.get("rel", "").split()), where
    else:
        # On this site: from its root, or from the page's own folder without what could be a scheme or a host.
        assert not value.startswith(("//", "/\\", "\\")), where
        assert value.startswith(("/", "?", ".")) or not re.match(r"[^/?]*:", value), where
        assert "\t" not in value, where
