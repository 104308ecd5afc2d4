"""Every link of every page, followed as everybody: it leads somewhere, and looking changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.test import Client

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from tests.web.crawler import addresses, crawl, get, routes
from tests.web.world import Words, World, build

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
WebAs = Callable[..., Client]

# Answers that a link may have, beside the page: what one may not see, and what isn't signed in for.
ELSEWHERE = {301, 302, 303}


@pytest.fixture
def world(reviewer: Caller, admin: Caller) -> World:
    return build(Words(text="MARK some words", line="MARK some words"), reviewer=reviewer, admin=admin)


def kept() -> dict[str, str]:
    """A fingerprint of every table, but for the sessions, which hold who is signed in."""
    found = {}
    for model in apps.get_models():
        if model is not Session:
            rows = sorted(map(repr, model._base_manager.values_list()))
            found[model._meta.label] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


@pytest.mark.parametrize("who", ["vic", "rita", "owner"])
def test_every_link_leads_somewhere_and_looking_changes_nothing(
    request: pytest.FixtureRequest, web_as: WebAs, world: World, who: str
) -> None:
    user: User = request.getfixturevalue(who)
    client = web_as(user)
    before, entries = kept(), AuditEntry.objects.count()
    visited: set[str] = set()
    wrong = []
    for answer in crawl(client, ["/"]):
        visited.add(answer.route)
        if answer.status not in {200, 204, *ELSEWHERE}:
            wrong.append(f"{answer.status} {answer.address} from {answer.found_on}")
    assert wrong == []
    assert AuditEntry.objects.count() == entries
    assert kept() == before
    # What nobody has a link to is a page that nobody finds.
    ours = {
        pattern
        for pattern, name in routes().items()
        if name and not pattern.startswith(("admin/", "signin", "password"))
    }
    looked_at = {pattern for pattern in ours if pattern in visited}
    unreached = {pattern for pattern in ours - looked_at if _is_asked(client, pattern, world)}
    if who == "owner":
        assert unreached == set()


def _is_asked(client: Client, pattern: str, world: World) -> bool:
    """Whether this route answers a GET at all: most others take a form only."""
    start = "/" + pattern.partition("<")[0]
    depth = pattern.count("/")
    for address in addresses(world):
        if address.startswith(start) and address.count("/") == depth + 1:
            answer = get(client, address)
            if answer.route == pattern:
                return answer.status == 200 and "text/html" in answer.headers.get("Content-Type", "")
    return False


def test_every_address_answers_everybody_and_changes_nothing(
    web_as: WebAs, world: World, vic: User, rita: User, owner: User
) -> None:
    """Also those without a link, and those that one may not open."""
    clients = [web_as(user) for user in (vic, rita, owner)]
    before = kept()
    for client in clients:
        for address in addresses(world):
            if address != "/signout":
                answer = get(client, address)
                assert answer.status in {200, 204, 301, 302, 303, 403, 404, 405}, (address, answer.status)
    assert kept() == before


def test_who_is_signed_out_is_sent_to_sign_in_from_everywhere(web_as: WebAs, world: World) -> None:
    client = web_as(None)
    before = kept()
    open_to_all = {"/signin", "/signin/link", "/healthz", "/readyz", "/v1"}
    for address in addresses(world):
        answer = get(client, address)
        if address in open_to_all:
            continue
        if answer.status in ELSEWHERE:
            assert answer.headers["Location"].startswith(("/signin", "/admin/login/")), address
        else:
            assert answer.status in {401, 403, 404, 405}, (address, answer.status)
        for text in ("zqdrafttitlezq", "zqplantitlezq", "zqsummaryzq"):
            assert text not in answer.body
    assert kept() == before
