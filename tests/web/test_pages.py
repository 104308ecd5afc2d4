"""What holds of every page: who sees it, in which language and zone, and that nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from chief_project.shared.caller import Caller
from chief_project.shared.models import User
from chief_project.shared.services.set_role import set_role
from chief_project.shared.services.update_preferences import update_preferences
from tests.web.sample_pages import HERE

pytestmark = pytest.mark.urls("tests.web.sample_pages")
Web = Callable[..., Client]


@pytest.fixture(autouse=True)
def _sample_template(settings: Any) -> None:
    engine = settings.TEMPLATES[0]
    settings.TEMPLATES = [engine | {"DIRS": [*engine["DIRS"], HERE]}]


def test_who_is_signed_out_is_sent_to_sign_in_and_back(web_as: Web) -> None:
    answer = web_as(None).get("/sample/a?step=b%20c")
    assert answer.status_code == 302
    assert answer["Location"] == "/signin?next=%2Fsample%2Fa%3Fstep%3Db%2520c"


def test_a_part_asked_for_when_signed_out_sends_the_whole_page_to_sign_in(web_as: Web) -> None:
    asked = {"HTTP_HX_REQUEST": "true", "HTTP_HX_CURRENT_URL": "http://testserver/sample/a?x=1"}
    answer = web_as(None).get("/sample/a?step=b", **asked)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == "/signin?next=%2Fsample%2Fa%3Fx%3D1"


def test_what_a_form_sends_when_signed_out_is_kept_and_can_be_sent_again(web_as: Web, rita: User) -> None:
    sent = {"reason": "Measure <first>, please."}
    answer = web_as(None).post("/sample/a/approved", sent, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 401
    page = answer.content.decode()
    assert "Measure &lt;first&gt;, please." in page
    assert 'action="/sample/a/approved"' in page
    assert "Nothing was changed" in page


@pytest.mark.parametrize("from_where", ["cross-site", "same-site", "none"])
def test_what_a_foreign_page_sends_is_never_offered_to_be_sent_again(
    web_as: Web, rita: User, from_where: str
) -> None:
    for client in (web_as(None), web_as(rita, csrf=True)):
        answer = client.post(
            "/sample/a/approved", {"reason": "my foreign words"}, headers={"Sec-Fetch-Site": from_where}
        )
        assert answer.status_code in (401, 403)
        assert b"my foreign words" not in answer.content
        assert b"/sample/a/approved" not in answer.content


def test_an_old_form_of_this_site_is_kept_too(web_as: Web, rita: User) -> None:
    answer = web_as(rita, csrf=True).post(
        "/sample/a/approved", {"reason": "A long enough reason"}, headers={"Sec-Fetch-Site": "same-origin"}
    )
    assert answer.status_code == 403
    assert b"A long enough reason" in answer.content


@pytest.mark.parametrize("path", ["/signin", "/signin/link", "/password", "/tokens", "/admin/login/"])
def test_a_secret_is_never_shown_again(web_as: Web, path: str) -> None:
    answer = web_as(None, csrf=True).post(
        path, {"password": "correct horse battery", "secret": "correct horse battery"}
    )
    assert answer.status_code == 403
    assert b"correct horse" not in answer.content


def test_a_done_action_goes_on_and_says_what_was_done_once(web_as: Web, rita: User) -> None:
    web = web_as(rita)
    answer = web.post("/sample/a/approved")
    assert (answer.status_code, answer["Location"]) == (303, "/sample/a")
    assert b"approved by rita via web" in web.get("/sample/a").content
    assert b"approved by rita" not in web.get("/sample/a").content


def test_a_refused_action_shows_its_page_with_the_reason_and_what_was_typed(web_as: Web, rita: User) -> None:
    answer = web_as(rita).post("/sample/a/late", {"reason": "I <b>typed</b> this"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "it has already been decided" in page
    assert "I &lt;b&gt;typed&lt;/b&gt; this" in page
    assert "data-refused" in page


def test_forms_read_text_numbers_and_boxes(web_as: Web, rita: User) -> None:
    web = web_as(rita)
    answer = web.post("/sample/a/x", {"wrong": "on", "many": " 12 ", "reason": " a\r\nb "})
    assert answer.status_code == 422
    assert "12 is wrong: a\nb" in answer.content.decode()
    answer = web.post("/sample/a/x", {"wrong": "1", "many": "twelve"})
    assert "must be a whole number, not &#x27;twelve&#x27;" in answer.content.decode()
    assert web.post("/sample/a/x", {"wrong": "0"}).status_code == 303


def test_a_part_is_the_same_template_without_the_frame(web_as: Web, rita: User) -> None:
    web = web_as(rita)
    part = web.get("/sample/a", headers={"HX-Request": "true", "HX-Target": "panel"})
    assert part.content.decode().strip().startswith('<section id="panel">a at ')
    assert "HX-Target" in part["Vary"]
    for headers in (
        {"HX-Request": "true", "HX-Target": "elsewhere"},
        {"HX-Target": "panel"},
        {"HX-Request": "true", "HX-Target": "panel", "HX-History-Restore-Request": "true"},
    ):
        assert b"<!doctype html>" in web.get("/sample/a", headers=headers).content


def test_a_page_is_read_in_the_readers_language_and_zone(web_as: Web, rita: User, reviewer: Caller) -> None:
    web = web_as(rita)
    page = web.get("/sample/a", headers={"Accept-Language": "de"}).content.decode()
    assert '<html lang="de"' in page
    page = web.get("/sample/a", headers={"Accept-Language": "fr"}).content.decode()
    assert '<html lang="en"' in page
    assert "Fri 2 Jan" in page
    assert "23:30" in page
    update_preferences(
        caller=reviewer, time_zone="Asia/Tokyo", language="de", theme="dark", keys=False, notify=frozenset()
    )
    page = web.get("/sample/a", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="de" data-theme="dark" data-keys="off"' in page
    assert "08:30" in page  # the next morning there
    assert "23:30" not in page.replace("T23:30", "")
    assert 'datetime="2026-01-02T23:30:00.000Z"' in page


def test_the_tabs_icon_tells_how_much_waits(web_as: Web, rita: User) -> None:
    assert 'rel="icon" href="/static/chief/favicon.svg"' in web_as(rita).get("/sample/a").content.decode()
    icon = web_as(None).get("/favicon-7.svg")
    assert (icon.status_code, icon["Content-Type"]) == (200, "image/svg+xml")
    assert icon.content.decode().endswith(">7</text></svg>")
    assert ">99<" in web_as(None).get("/favicon-1234.svg").content.decode()
    assert web_as(rita).post("/favicon-7.svg").status_code == 405


def test_rest_speaks_english_whatever_the_browser_asks_for(api_as: Callable[..., Any], rita: User) -> None:
    answer = api_as(rita).get("/v1/workflows/none", headers={"Accept-Language": "de"})
    assert "there is no workflow" in answer.json()["error"]["message"]


def test_what_is_not_there_and_what_has_no_role_are_pages_too(web_as: Web, rita: User, admin: Caller) -> None:
    web = web_as(rita)
    answer = web.get("/sample/gone")
    assert answer.status_code == 404
    assert b"was deleted, or the address is not whole" in answer.content
    answer = web.get("/workflows/wf_nobody", headers={"Accept-Language": "de"})
    assert answer.status_code == 404
    words = answer.content.decode()
    assert "wurde gelöscht" in words  # the reader's own language first, then what the service says
    assert '<p class="muted" lang="en">there is no workflow &#x27;wf_nobody&#x27;' in words
    assert web.post("/sample/gone/approved").status_code == 303  # the action itself knows better
    set_role(caller=admin, user_id=rita.pk, role=None)
    answer = web.get("/sample/a")
    assert answer.status_code == 403
    assert b"has no role yet" in answer.content


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_a_page_is_only_read_and_an_action_only_posted(web_as: Web, rita: User, method: str) -> None:
    web = web_as(rita)
    assert getattr(web, method)("/sample/a").status_code == 405
    assert web.get("/sample/a/approved").status_code == 405


def test_a_page_is_never_kept_and_brings_the_strict_policy(web_as: Web, rita: User) -> None:
    answer = web_as(rita).get("/sample/a")
    assert "no-store" in answer["Cache-Control"]
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy
