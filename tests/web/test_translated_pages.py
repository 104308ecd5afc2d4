"""Whatever Chief says on a page is said in the reader's language; what people and harnesses wrote stays as it is.

The pages are read with a catalogue that puts every text in brackets: what stands outside of them was never marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.base import Lexer, TokenType
from django.test import Client, override_settings

from chief_project.shared.caller import Caller
from chief_project.shared.models import User
from tests.project.translations import ROOT, Undated, as_mo, texts
from tests.web.crawler import addresses, get
from tests.web.markup import VOID
from tests.web.world import Words, build

HEARD = {"alt", "aria-label", "placeholder", "title"}  # attributes that people read or hear
INLINE = {"a", "b", "br", "code", "del", "em", "i", "ins", "span", "strong", "time", "wbr"}
MACHINE = {"code", "kbd", "option", "pre", "script", "style", "textarea"}  # whose texts aren't Chief's own
WORD = re.compile(r"\W*[^\W\d_]{2,}\W*")  # no id, no type of a file
SAME_EVERYWHERE = {"Chief", "CSV", "JSON", "Lines", "REST", "MCP"}
# What the world is made of besides its words: people, a token, a few values.
GIVEN = {
    "owner", "rita", "another", "tests", "cli", "any", "deep", "human", "second", "yes", "On", "rest", "harness", "viewer",
    '{"description"', "null}]", "so", "far", "Skipped", "it", "waits", "for", "which", "failed.", "the", "run", "was", "cancelled.",
}  # fmt: skip


class Spoken(HTMLParser):
    """The words of a page that are Chief's own and stand outside of brackets, each with its element."""

    def __init__(self, machine: Set[str] = MACHINE) -> None:
        super().__init__(convert_charrefs=True)
        self.machine = machine
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, bool]] = [("", False)]
        self._depth = 0  # of brackets: a text within a text, over elements within a line

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        foreign = tag in self.machine or given.get("translate") == "no" or (tag != "html" and "lang" in given)
        foreign |= self._open[-1][1]
        if tag not in INLINE:
            self._depth = 0
        if tag not in VOID:
            self._open.append((tag, foreign))
        for name in HEARD & given.keys() if not foreign else ():
            self._keep(f"{tag} {name}", _outside(given[name], 0)[0])

    def handle_endtag(self, tag: str) -> None:
        if tag not in INLINE:
            self._depth = 0
        while len(self._open) > 1 and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tag, foreign = self._open[-1]
        in_drawing = any(name == "svg" for name, _ in self._open) and set(data) & set("⟦⟧")
        plain, self._depth = _outside(data, self._depth)
        if not foreign and not in_drawing:  # a drawing breaks and cuts its lines itself
            self._keep(tag, plain)

    def _keep(self, where: str, text: str) -> None:
        words = [word for word in text.split() if WORD.fullmatch(word) and "zq" not in word]
        self.found += [(where, word) for word in words if word.strip("(),:") not in SAME_EVERYWHERE]


def _outside(text: str, depth: int) -> tuple[str, int]:
    plain = []
    for part in re.split("([⟦⟧])", text):
        if part in ("⟦", "⟧"):
            depth = max(0, depth + (1 if part == "⟦" else -1))
        elif not depth:
            plain.append(part)
    return " ".join(plain), depth


@pytest.fixture
def bracketed(tmp_path: Path) -> Iterator[None]:
    """German is, for the time being, English in brackets."""
    catalogue = Undated(locale="de", fuzzy=False)
    for context, said in texts():
        forms = tuple(f"⟦{each}⟧" for each in said)
        catalogue.add(said if said[1:] else said[0], forms if said[1:] else forms[0], context=context)
    compiled = tmp_path / "de/LC_MESSAGES/django.mo"
    compiled.parent.mkdir(parents=True)
    compiled.write_bytes(as_mo(catalogue))
    with override_settings(LOCALE_PATHS=[tmp_path]):
        yield


@pytest.fixture
def german_pages(
    web_as: Callable[..., Client], owner: User, reviewer: Caller, admin: Caller
) -> Iterator[tuple[str, str]]:
    """The pages of a world in which every text has a mark, as (address, HTML), for a German browser."""
    world = build(Words("MARK", "MARK", "zq", "zq-"), reviewer=reviewer, admin=admin)
    client = web_as(owner)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    steps = [f"/workflows/zq-draft?step=zq-{step}" for step in ("a", "l", "x", "p", "ok")]
    steps += [f"/runs/zq-one?step=zq-{step}" for step in ("a", "l", "p", "p/zq-b1", "q", "ok")]

    def pages() -> Iterator[tuple[str, str]]:
        for address in ["/nowhere", *addresses(world), *steps]:
            answer = get(client, address)
            if answer.body.startswith("<!doctype html>") and not address.startswith("/v1"):
                # 405: an action's address, loaded, is its page once more.
                assert answer.status in ({404} if address == "/nowhere" else {200, 405}), address
                yield address, answer.body

    return pages()


@pytest.mark.django_db
def test_pages_say_nothing_that_was_not_marked(
    bracketed: None, german_pages: Iterator[tuple[str, str]]
) -> None:
    unmarked: dict[tuple[str, str], str] = {}
    for address, html in german_pages:
        page = Spoken()
        page.feed(html)
        for where, word in page.found:
            if word.strip(",:") not in GIVEN:
                unmarked.setdefault((where, word), address)
    assert not unmarked, "\n".join(
        f"{word} in <{where}> of {page}" for (where, word), page in unmarked.items()
    )


@pytest.mark.django_db
def test_every_page_is_there_in_german(german_pages: Iterator[tuple[str, str]]) -> None:
    pages = dict(german_pages)

    assert len(pages) > 60
    assert not [address for address, html in pages.items() if '<html lang="de"' not in html]


def test_templates_hold_no_words_of_their_own() -> None:
    """Also those that a page says only now and then."""
    left = {}
    for path in sorted((ROOT / "templates").rglob("*.html")):
        if path.parent.name == "admin":
            continue
        page = Spoken(MACHINE - {"option"})
        page.feed(_without_tags(path.read_text("utf-8")))
        if page.found:
            left[str(path.relative_to(ROOT))] = page.found
    assert not left


def _without_tags(source: str) -> str:
    """A template as HTML: what it translates or fills in is a bracket or nothing."""
    kept, inside = [], False
    for token in Lexer(source).tokenize():
        words = token.split_contents()[:1] if token.token_type == TokenType.BLOCK else []
        if words in (["blocktranslate"], ["comment"]):
            inside = True
        elif words in (["endblocktranslate"], ["endcomment"]):
            inside = False
        elif token.token_type == TokenType.TEXT and not inside:
            kept.append(token.contents)
        elif token.token_type in (TokenType.BLOCK, TokenType.VAR):
            kept.append("-")
    return "".join(kept)


@pytest.mark.django_db
def test_a_choice_in_the_profile_beats_the_browser(web_as: Callable[..., Client], rita: User) -> None:
    client = web_as(rita)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    assert "Needs you" in client.get("/").content.decode()

    client.post("/profile/update", {"form": "profile", "language": "de", "time_zone": "", "theme": ""})

    page = client.get("/").content.decode()
    assert '<html lang="de"' in page
    assert "Wartet auf Sie" in page
