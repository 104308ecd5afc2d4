"""Every page that can be reached by links, and every route besides, as someone who looks and never decides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urlencode, urljoin, urlsplit

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from tests.web.markup import Reader
from tests.web.world import World

ORIGIN = "http://testserver"
ALIKE = 2  # pages that differ in the values of their query alone
A_KIND = 2  # of the admin's pages of one kind, which are all made by one function
A_PAGE = 8  # in all that one page can be asked; the filters of a list are endless together
MOST = 3_000


@dataclass(frozen=True)
class Answer:
    """What a GET gave: ``found_on`` names the page with the link."""

    address: str
    found_on: str
    status: int
    headers: dict[str, str]
    body: str
    route: str


@dataclass
class Form:
    """A form as it stands on a page."""

    page: str
    method: str
    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)


def crawl(client: Client, start: Iterable[str]) -> Iterator[Answer]:
    """Follow every link, and every form that only asks, from ``start``. Each address is asked for once."""
    waiting = [(address, "") for address in start]
    seen: set[str] = set()
    alike: Counter[tuple[str, ...]] = Counter()
    while waiting:
        address, found_on = waiting.pop(0)
        limits = _limits(address)
        if address in seen or any(alike[kind] >= most for kind, most in limits.items()):
            continue
        seen.add(address)
        alike.update(limits.keys())
        assert len(seen) <= MOST, f"no end of addresses, now {address}"
        answer = get(client, address, found_on)
        yield answer
        if 300 <= answer.status < 400:
            waiting.append((_here(address, answer.headers["Location"]), address))
        elif "text/html" in answer.headers.get("Content-Type", ""):
            waiting.extend((there, address) for there in links_on(answer.body, address) if there)


def get(client: Client, address: str, found_on: str = "") -> Answer:
    response = client.get(address)
    streamed = response.streaming
    body = b"".join(response.streaming_content) if streamed else response.content  # type: ignore[attr-defined]
    path = urlsplit(address).path
    return Answer(
        address,
        found_on,
        response.status_code,
        dict(response.headers),
        body.decode("utf-8", "replace"),
        route_of(path),
    )


def links_on(html: str, address: str) -> list[str]:
    """Where the page's links, its scripts and its forms that only ask lead on this site."""
    found = []
    reader = Reader(strict=False)
    reader.feed(html)
    for tag, attributes in reader.elements:
        if tag in {"a", "area"}:
            found.append(attributes.get("href", ""))
        # What the page's scripts ask for: a part of a page, and whether anything is new.
        found.extend(
            value for name, value in attributes.items() if name == "hx-get" or _is_asked_for(name, value)
        )
    for form in forms_on(html, address):
        if form.method == "get":
            query = urlencode([(name, value) for name, value in form.fields if name])
            found.append(f"{form.action}?{query}" if query else form.action)
    return [_here(address, link) for link in found if link and not link.startswith("#")]


def _is_asked_for(name: str, value: str) -> bool:
    # data-notes names where a form is sent to.
    return (
        name.startswith("data-")
        and value.startswith("/")
        and not value.startswith("/static/")
        and name != "data-notes"
    )


def forms_on(html: str, address: str) -> list[Form]:
    """Every form with the fields it would send, those of radio buttons and boxes that are set."""
    reader = Reader(strict=False)
    reader.feed(html)
    forms: list[Form] = []
    for tag, attributes in reader.elements:
        if tag == "form":
            action = attributes.get("action") or address
            forms.append(Form(address, attributes.get("method", "get").lower(), action))
        elif tag in {"input", "textarea", "select", "button"} and forms and attributes.get("name"):
            kind = attributes.get("type", "")
            if kind in {"checkbox", "radio"} and "checked" not in attributes:
                continue
            forms[-1].fields.append((attributes["name"], attributes.get("value", "")))
    return forms


def routes() -> dict[str, str]:
    """Every route outside the API, by its pattern, with its name."""

    def walk(resolver: URLResolver, before: str) -> Iterator[tuple[str, str]]:
        for entry in resolver.url_patterns:
            pattern = before + str(entry.pattern)
            if isinstance(entry, URLResolver):
                if not pattern.startswith("v1"):
                    yield from walk(entry, pattern)
            elif isinstance(entry, URLPattern):
                yield pattern, entry.name or ""

    return dict(walk(get_resolver(), ""))


def route_of(path: str) -> str:
    """The pattern that an address matches, or its path where none does."""
    try:
        return resolve(path).route
    except Exception:  # Resolver404 of any kind: the page of it is what is looked at
        return path


def addresses(world: World, *, each: int = 9) -> Iterator[str]:
    """Each route that can be asked about something in the world, for each such thing or the first few."""
    things: dict[str, list[Any]] = {
        "workflow_id": world.workflows[:each],
        "run_id": world.runs[:each],
        "amendment_id": world.amendments[-each:],
        "template_id": world.templates[:each],
    }
    for pattern in routes():
        names = re.findall(r"<(?:\w+:)?(\w+)>", pattern)
        if pattern.startswith("admin/") or any(name not in things for name in names):
            continue
        if not names:
            yield f"/{pattern}"
            continue
        for value in things[names[0]]:
            yield "/" + re.sub(r"<[^>]+>", str(value), pattern, count=1)
    for run_id, artifact_id in world.artifacts[:each]:
        yield f"/runs/{run_id}/artifacts/{artifact_id}"


def _here(base: str, link: str) -> str:
    """The address on this site that a link on ``base`` leads to; blank for another site."""
    there = urlsplit(urljoin(ORIGIN + base, link))
    if f"{there.scheme}://{there.netloc}" != ORIGIN:
        return ""
    whole = there.path + (f"?{there.query}" if there.query else "")
    return urldefrag(whole).url


def _limits(address: str) -> dict[tuple[str, ...], int]:
    """What an address is one of, and how many of these are looked at."""
    there = urlsplit(address)
    names = sorted(name for name, _ in parse_qsl(there.query, keep_blank_values=True))
    if there.path.startswith("/admin/"):
        return {(route_of(there.path), "?" if names else ""): A_KIND}
    return {(there.path, *names): ALIKE, (there.path, "?"): A_PAGE}
