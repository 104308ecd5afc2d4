"""The tokens page: a token's text is shown once, in the answer to the form that made it, and nowhere else."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.clock import now
from chief_project.shared.models import ApiToken, AuditEntry, User
from chief_project.shared.principals import caller_of_token
from chief_project.web.connect import lines_for
from chief_project.web.tokens import LISTED

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
NEW = {"form": "new", "name": "laptop", "kind": "harness", "expires": "90"}
TOKEN = re.compile(r"chf_[0-9a-f]{64}")


def token_in(said: str) -> str:
    found = set(TOKEN.findall(said))
    assert len(found) == 1
    return found.pop()


def test_a_new_token_is_in_the_answer_itself_which_nobody_keeps(
    web_as: WebAs, owner: User, caplog: pytest.LogCaptureFixture
) -> None:
    web = web_as(owner)
    with caplog.at_level("DEBUG"):
        answer = web.post("/tokens/new", NEW)
    assert answer.status_code == 200  # no redirect: there is no address to come back to
    assert "no-store" in answer["Cache-Control"]
    text = token_in(answer.content.decode())
    assert caller_of_token(text).actor == "laptop"
    row = ApiToken.objects.get()
    assert (row.kind, row.relay, row.created_by) == ("harness", False, "owner")
    assert row.expires_at is not None
    assert abs(row.expires_at - now() - timedelta(days=90)) < timedelta(minutes=1)
    assert AuditEntry.objects.get(event="auth.token_created").via == "web"
    for kept in (
        *AuditEntry.objects.values_list("text", flat=True),
        *(str(session.get_decoded()) for session in Session.objects.all()),
        *(cookie.OutputString() for cookie in web.cookies.values()),
        caplog.text,
        web.get("/tokens").content.decode(),
    ):
        assert text not in kept


def test_the_form_sent_twice_makes_no_second_token(web_as: WebAs, owner: User) -> None:
    web = web_as(owner)
    web.post("/tokens/new", NEW)
    again = web.post("/tokens/new", NEW)
    assert again.status_code == 409
    said = again.content.decode()
    assert "the name &#x27;laptop&#x27; is in use" in said
    assert 'name="name" value="laptop"' in said
    assert not TOKEN.search(said)
    nameless = web.post("/tokens/new", NEW | {"name": " "})
    assert (nameless.status_code, ApiToken.objects.count()) == (422, 1)


def test_what_was_chosen_stays_when_it_is_refused(web_as: WebAs, owner: User) -> None:
    said = (
        web_as(owner)
        .post("/tokens/new", {"form": "new", "name": "", "kind": "admin", "username": "owner", "expires": ""})
        .content.decode()
    )
    assert 'value="admin" checked' in said
    assert '<option value="" selected>never</option>' in said


def test_what_the_kind_does_not_take_is_left_out(web_as: WebAs, owner: User, rita: User) -> None:
    web = web_as(owner)
    web.post("/tokens/new", NEW | {"username": "rita", "relay": "1", "expires": ""})
    web.post("/tokens/new", {"name": "ritas", "kind": "reviewer", "username": "rita", "relay": "1"})
    web.post("/tokens/new", {"name": "screen", "kind": "viewer", "username": "rita"})
    made = {
        row.name: (row.kind, row.relay, row.user and row.user.username, row.expires_at)
        for row in ApiToken.objects.all()
    }
    assert made == {
        "laptop": ("harness", True, None, None),
        "ritas": ("reviewer", False, "rita", None),
        "screen": ("viewer", False, None, None),
    }


def test_the_list_says_who_made_which_for_what_and_hides_the_text(
    web_as: WebAs, owner: User, make_token: Callable[..., str]
) -> None:
    text = make_token("harness", name="<b>ci</b>", relay=True)
    make_token("admin", name="mine", username="owner", expires_days=1)
    ApiToken.objects.filter(name="mine").update(expires_at=now() - timedelta(hours=1))
    said = web_as(owner).get("/tokens").content.decode()
    assert "&lt;b&gt;ci&lt;/b&gt;" in said
    assert "<b>ci</b>" not in said
    assert f"{text[:8]}" in said
    assert text not in said
    assert "relays decisions" in said
    assert "everything, as owner" in said
    assert "Expired" in said


def test_revoking_is_asked_on_a_page_of_its_own_without_scripts_and_then_done(
    web_as: WebAs, owner: User, make_token: Callable[..., str]
) -> None:
    make_token("harness", name="ci")
    token = ApiToken.objects.get()
    web = web_as(owner)
    asked = web.get(f"/tokens?revoke={token.pk}").content.decode()
    assert re.search(rf'<dialog[^>]*id="revoke-{token.pk}"[^>]* open>', asked)
    answer = web.post(f"/tokens/{token.pk}/revoke")
    assert (answer.status_code, answer["Location"]) == (303, "/tokens")
    token.refresh_from_db()
    assert token.revoked_at is not None
    said = web.get("/tokens").content.decode()
    assert "Token ci is revoked" in said
    assert "No token is in use." in said
    assert re.search(r">\s*ci\s*<", web.get("/tokens?revoked=1").content.decode())
    again = web.post(f"/tokens/{token.pk}/revoke")
    assert again.status_code == 409
    assert "is revoked already" in again.content.decode()
    assert web.post("/tokens/999/revoke").status_code == 404


def test_only_an_admin_sees_makes_and_revokes(
    web_as: WebAs, rita: User, vic: User, make_token: Callable[..., str]
) -> None:
    make_token("harness", name="ci")
    entries = AuditEntry.objects.count()
    for person in (rita, vic):
        web = web_as(person)
        assert web.get("/tokens").status_code == 403
        assert web.post("/tokens/new", NEW).status_code == 403
        assert web.post(f"/tokens/{ApiToken.objects.get().pk}/revoke").status_code == 403
    assert web_as(None).get("/tokens").status_code == 302
    assert AuditEntry.objects.count() == entries


def test_a_form_of_another_site_makes_nothing(web_as: WebAs, owner: User) -> None:
    assert web_as(owner, csrf=True).post("/tokens/new", NEW).status_code == 403
    assert not ApiToken.objects.exists()


def test_a_list_costs_the_same_however_long(
    web_as: WebAs, owner: User, make_token: Callable[..., str]
) -> None:
    web = web_as(owner)
    web.get("/tokens")
    make_token("harness")
    with CaptureQueriesContext(connection) as few:
        web.get("/tokens")
    for _ in range(5):
        make_token("admin", username="owner")
    with CaptureQueriesContext(connection) as many:
        web.get("/tokens")
    assert len(many) == len(few)


def test_no_cursor_is_the_beginning(web_as: WebAs, owner: User, make_token: Callable[..., str]) -> None:
    make_token("harness")
    web = web_as(owner)
    assert web.get("/tokens", {"cursor": ""}).content.count(b"data-list-item") == 1
    assert web.get("/tokens", {"cursor": "nonsense"}).status_code == 422


def test_a_token_on_a_later_page_is_revoked_there_without_scripts(
    web_as: WebAs, owner: User, make_token: Callable[..., str]
) -> None:
    make_token("harness", name="the first")
    for number in range(LISTED):
        make_token("harness", name=f"later {number}")
    web = web_as(owner)
    (older,) = re.findall(r'rel="next" href="([^"]*)"', web.get("/tokens").content.decode())
    page = web.get(html.unescape(older)).content.decode()
    (asking,) = re.findall(r'<a class="btn btn--sm btn--danger" href="([^"]*)"', page)
    asked = web.get(html.unescape(asking)).content.decode()
    assert "Revoke the first?" in asked
    assert re.search(r"<dialog[^>]* open>", asked)


# -- The lines to paste ----------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_lines_are_those_of_the_guides(client: str) -> None:
    guide = (Path(__file__).parents[2] / "integrations" / client / "README.md").read_text()
    lines = {
        each.key: each.text for each in lines_for(url="http://127.0.0.1:8000", token="chf_x", kind="harness")
    }
    assert lines[client] in guide
    assert lines["rest"] in guide
    assert lines["shell"].partition("=")[0] in guide


def test_agents_are_connected_only_with_a_harness_token() -> None:
    for kind in ("viewer", "reviewer", "admin"):
        lines = lines_for(url="https://chief.example", token="chf_x", kind=kind)
        assert [each.key for each in lines] == ["shell", "rest"]
        assert lines[1].text.startswith("curl -sS https://chief.example/v1/me ")
