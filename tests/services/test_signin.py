"""Signing in by password or one-time link, and out (contract 9, 11)."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from chief_project.shared import clock, credentials
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvariantViolation, NotFound
from chief_project.shared.models import AuditEntry, SigninLink, User
from chief_project.shared.services import sign_in_with_link as by_link
from chief_project.shared.services.create_signin_link import create_signin_link
from chief_project.shared.services.set_active import set_active
from chief_project.shared.services.set_role import set_role
from tests.together import at_once

PASSWORD = "correct horse battery"


def audited(event: str) -> list[dict[str, Any]]:
    return [json.loads(entry.text) for entry in AuditEntry.objects.filter(event=event).order_by("id")]


def signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


@pytest.fixture
def secret(admin: Caller, rita: User) -> str:
    link: str = create_signin_link(caller=admin, username="rita")["secret"]
    return link


@pytest.fixture
def password(rita: User) -> str:
    client = Client()
    client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/password", {"new": PASSWORD, "again": PASSWORD}).status_code == 302
    return PASSWORD


# -- By link -----------------------------------------------------------------------------------------


def test_a_link_signs_its_person_in_once(client: Client, secret: str) -> None:
    answer = client.post("/signin/link", {"secret": secret})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert b'<span class="rail-user">rita</span>' in client.get("/").content
    (entry,) = audited("auth.signed_in")
    assert (entry["actor"], entry["via"]) == ("rita", "web")
    assert entry["detail"] == {"username": "rita", "method": "link", "via": "web"}
    again = Client()
    answer = again.post("/signin/link", {"secret": secret})
    assert answer.status_code == 401
    assert b"used or too old" in answer.content
    assert not signed_in(again)
    (entry,) = audited("auth.signin_failed")
    assert entry["actor"] == "anonymous"
    assert entry["detail"]["reason"] == "used"


def test_opening_the_link_spends_nothing_and_writes_nothing(client: Client, secret: str) -> None:
    before = AuditEntry.objects.count()
    for _ in range(2):
        answer = client.get(f"/signin/link/{secret}")
        assert answer.status_code == 200
        assert secret in answer.content.decode()
    assert client.head(f"/signin/link/{secret}").status_code == 200
    assert SigninLink.objects.get().used_at is None
    assert AuditEntry.objects.count() == before
    assert not Session.objects.exists()
    assert client.post("/signin/link", {"secret": secret}).status_code == 302


def test_a_link_is_kept_by_its_digest_for_a_quarter_of_an_hour(secret: str) -> None:
    link = SigninLink.objects.get()
    assert link.digest == credentials.digest(secret)
    assert link.expires_at - link.created_at == timedelta(minutes=15)
    assert len(bytes.fromhex(secret)) == 32
    assert not AuditEntry.objects.filter(text__contains=secret).exists()


def test_an_expired_link_is_refused(client: Client, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    end = SigninLink.objects.get().expires_at
    monkeypatch.setattr(by_link, "now", lambda: end)
    assert client.post("/signin/link", {"secret": secret}).status_code == 401
    assert not signed_in(client)
    assert SigninLink.objects.get().used_at is None
    assert audited("auth.signin_failed")[0]["detail"]["reason"] == "expired"


@pytest.mark.parametrize("wrong", ["", "0" * 64, "x\0y", "é"])
def test_an_unknown_link_is_refused_and_leaves_no_trace(wrong: str, client: Client, db: None) -> None:
    assert client.post("/signin/link", {"secret": wrong}).status_code == 401
    assert not AuditEntry.objects.exists()


def test_a_deactivated_persons_link_is_refused(
    client: Client, secret: str, admin: Caller, rita: User
) -> None:
    set_active(caller=admin, user_id=rita.pk, active=False)
    assert client.post("/signin/link", {"secret": secret}).status_code == 401
    assert not signed_in(client)


def test_someone_whose_role_went_away_is_told_so_and_the_link_stays(
    client: Client, secret: str, admin: Caller, rita: User
) -> None:
    set_role(caller=admin, user_id=rita.pk, role=None)
    answer = client.post("/signin/link", {"secret": secret})
    assert answer.status_code == 403
    assert b"has no role yet" in answer.content
    assert SigninLink.objects.get().used_at is None


def test_links_are_made_by_admins_for_active_users_with_a_role(
    admin: Caller, reviewer: Caller, harness: Caller, rita: User
) -> None:
    for caller in (reviewer, harness):
        with pytest.raises(Forbidden, match="may not create a sign-in link"):
            create_signin_link(caller=caller, username="rita")
    with pytest.raises(NotFound, match="no active user is called 'nobody'"):
        create_signin_link(caller=admin, username="nobody")
    set_role(caller=admin, user_id=rita.pk, role=None)
    with pytest.raises(InvariantViolation, match="has no role"):
        create_signin_link(caller=admin, username="rita")
    assert not SigninLink.objects.exists()
    assert audited("auth.signin_link_created") == []


def test_links_long_gone_are_cleared_away(admin: Caller, secret: str) -> None:
    SigninLink.objects.update(expires_at=clock.now() - timedelta(days=8))
    create_signin_link(caller=admin, username="rita")
    assert SigninLink.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_link_that_two_browsers_press_at_once_lets_one_in(secret: str) -> None:
    browsers = [Client() for _ in range(4)]
    statuses = at_once([partial(each.post, "/signin/link", {"secret": secret}) for each in browsers])
    assert sorted(answer.status_code for answer in statuses) == [302, 401, 401, 401]
    assert [signed_in(each) for each in browsers].count(True) == 1
    assert len(audited("auth.signed_in")) == 1


# -- By password -------------------------------------------------------------------------------------


def test_a_password_signs_in(client: Client, password: str) -> None:
    answer = client.post("/signin", {"username": "rita", "password": password, "next": "/v1/docs/"})
    assert (answer.status_code, answer["Location"]) == (302, "/v1/docs/")
    assert audited("auth.signed_in")[0]["detail"]["method"] == "password"
    assert signed_in(client)


def test_signing_in_changes_the_session_key(client: Client, password: str) -> None:
    client.session["mark"] = 1
    session = client.session
    session["mark"] = 1
    session.save()
    client.cookies["chief_session"] = session.session_key
    client.post("/signin", {"username": "rita", "password": password})
    assert client.cookies["chief_session"].value != session.session_key
    assert not Session.objects.filter(session_key=session.session_key).exists()


def test_a_wrong_password_and_an_unknown_name_look_the_same(client: Client, password: str) -> None:
    wrong = client.post("/signin", {"username": "rita", "password": "nope"})
    unknown = client.post("/signin", {"username": "nobody", "password": "nope"})
    assert wrong.status_code == unknown.status_code == 401
    assert b"Name or password is wrong." in wrong.content
    assert b"Name or password is wrong." in unknown.content
    assert not signed_in(client)


def test_a_failure_is_audited_under_a_known_name_only_for_a_password_may_stand_there(
    client: Client, password: str
) -> None:
    client.post("/signin", {"username": "rita", "password": "nope"})
    client.post("/signin", {"username": "my secret password", "password": ""})
    (entry,) = audited("auth.signin_failed")
    assert (entry["actor"], entry["via"]) == ("anonymous", "web")
    assert entry["detail"] == {
        "username": "rita",
        "method": "password",
        "reason": "wrong password",
        "via": "web",
    }


@pytest.mark.parametrize(
    ("username", "sent"), [("rita\0", PASSWORD), ("x" * 5000, "y"), ("rita", "p" * 100_000), ("", "")]
)
def test_what_no_one_could_be_called_is_refused_like_any_other(
    username: str, sent: str, client: Client, password: str
) -> None:
    assert client.post("/signin", {"username": username, "password": sent}).status_code == 401
    assert client.post("/signin", {}).status_code == 401


def test_guessing_is_locked_for_that_name_and_address_but_a_link_still_works(
    client: Client, password: str, secret: str
) -> None:
    for _ in range(9):
        assert client.post("/signin", {"username": "rita", "password": "nope"}).status_code == 401
    answer = client.post("/signin", {"username": "rita", "password": "nope"})
    assert answer.status_code == 429
    assert b"Too many tries" in answer.content
    answer = client.post("/signin", {"username": "rita", "password": password})
    assert answer.status_code == 429
    assert not signed_in(client)
    elsewhere = Client(REMOTE_ADDR="10.0.0.7")
    assert elsewhere.post("/signin", {"username": "rita", "password": password}).status_code == 302
    assert client.post("/signin/link", {"secret": secret}).status_code == 302
    assert len(audited("auth.signin_failed")) < 12


def test_a_deactivated_person_cant_sign_in(client: Client, password: str, admin: Caller, rita: User) -> None:
    set_active(caller=admin, user_id=rita.pk, active=False)
    assert client.post("/signin", {"username": "rita", "password": password}).status_code == 401


def test_a_person_without_a_role_is_told_to_ask_for_one(
    client: Client, password: str, admin: Caller, rita: User
) -> None:
    set_role(caller=admin, user_id=rita.pk, role=None)
    answer = client.post("/signin", {"username": "rita", "password": password})
    assert answer.status_code == 403
    assert b"ask an admin" in answer.content
    assert "chief_session" not in client.cookies


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "http:evil", ""],
)
def test_signing_in_leads_to_pages_of_this_site_only(elsewhere: str, client: Client, password: str) -> None:
    answer = client.post("/signin", {"username": "rita", "password": password, "next": elsewhere})
    assert answer["Location"] == "/"


def test_the_form_keeps_where_to_go_and_the_name(client: Client, db: None) -> None:
    assert b'name="next" value="/v1/docs/"' in client.get("/signin?next=/v1/docs/").content
    again = client.post("/signin", {"username": "<b>rita", "password": "nope", "next": "/v1/docs/"})
    assert b'name="next" value="/v1/docs/"' in again.content
    assert b'value="&lt;b&gt;rita"' in again.content
    assert b"nope" not in again.content


# -- Choosing a password -----------------------------------------------------------------------------


def choose(client: Client, old: str, new: str, again: str | None = None) -> Any:
    return client.post("/password", {"old": old, "new": new, "again": new if again is None else again})


def test_a_person_without_a_password_chooses_one_and_stays_signed_in(client: Client, secret: str) -> None:
    client.post("/signin/link", {"secret": secret})
    assert b'name="old"' not in client.get("/password").content
    assert choose(client, "", PASSWORD).status_code == 302
    assert signed_in(client)
    assert Client().post("/signin", {"username": "rita", "password": PASSWORD}).status_code == 302
    (entry,) = audited("auth.password_set")
    assert (entry["actor"], entry["detail"]["username"]) == ("rita", "rita")
    assert not AuditEntry.objects.filter(text__contains=PASSWORD).exists()


def test_changing_a_password_needs_the_present_one_and_ends_other_sessions(
    client: Client, password: str
) -> None:
    other = Client()
    for each in (client, other):
        each.post("/signin", {"username": "rita", "password": password})
    assert b'name="old"' in client.get("/password").content
    refused = choose(client, "wrong", "another good battery")
    assert refused.status_code == 422
    assert b"present password is wrong" in refused.content
    assert signed_in(other)
    assert choose(client, password, "another good battery").status_code == 302
    assert signed_in(client)
    assert not signed_in(other)


@pytest.mark.parametrize(
    ("new", "again", "said"),
    [
        ("correct horse battery", "correct horse batterz", "differ"),
        ("short", "short", "too short"),
        ("123456789012345", "123456789012345", "entirely numeric"),
        ("", "", "too short"),
        ("nul\0nul\0nul\0nul\0", "nul\0nul\0nul\0nul\0", "at most"),
        ("x" * 5000, "x" * 5000, "at most"),
    ],
)
def test_a_password_that_wont_do_is_refused_and_nothing_changes(
    new: str, again: str, said: str, client: Client, secret: str, rita: User
) -> None:
    client.post("/signin/link", {"secret": secret})
    answer = choose(client, "", new, again)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    rita.refresh_from_db()
    assert not rita.has_usable_password()
    assert audited("auth.password_set") == []


def test_nobody_chooses_no_password(client: Client, db: None) -> None:
    assert client.get("/password")["Location"] == "/signin?next=%2Fpassword"
    assert choose(client, "", PASSWORD)["Location"] == "/signin?next=%2Fpassword"


# -- Out, and around -------------------------------------------------------------------------------


def test_signing_out_ends_the_session_and_is_audited(client: Client, secret: str) -> None:
    client.post("/signin/link", {"secret": secret})
    assert client.get("/signout").status_code == 405
    answer = client.post("/signout")
    assert (answer.status_code, answer["Location"]) == (302, "/signin")
    assert not signed_in(client)
    assert audited("auth.signed_out")[0]["actor"] == "rita"
    assert client.post("/signout").status_code == 302
    assert len(audited("auth.signed_out")) == 1


def test_home_sends_strangers_to_sign_in_and_leads_admins_to_everything_on_record(
    client: Client, rita: User, owner: User
) -> None:
    assert client.get("/")["Location"] == "/signin?next=%2F"
    client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get("/").content
    assert b"/admin/" not in page
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get("/").content
    links = re.findall(r'href="(/admin/[^"]*)"', page.decode())
    assert links
    for link in links:
        assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_home_tells_someone_without_a_role_and_lets_them_sign_out(
    client: Client, rita: User, admin: Caller
) -> None:
    client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    set_role(caller=admin, user_id=rita.pk, role=None)
    answer = client.get("/")
    assert answer.status_code == 403
    assert b"has no role yet" in answer.content
    assert b"Sign out" in answer.content


def test_a_form_without_its_csrf_token_changes_nothing_and_says_so(secret: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/signin/link", {"secret": secret})
    assert answer.status_code == 403
    assert b"nothing was changed" in answer.content
    assert SigninLink.objects.get().used_at is None


@pytest.mark.parametrize("path", ["/signin", "/signin/link/abc", "/"])
def test_pages_are_strict_and_not_kept(path: str, client: Client, rita: User) -> None:
    if path == "/":
        client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(path)
    assert "no-store" in answer["Cache-Control"]
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    page = answer.content.decode()
    assert not re.findall(r"<script(?![^>]* src=)", page)
    assert "style=" not in page
    assert "<style" not in page


@pytest.mark.parametrize(
    "content_type", ["multipart/form-data", "application/x-www-form-urlencoded; charset=utf-16"]
)
def test_a_form_that_cant_be_read_is_refused_and_is_no_fault(content_type: str, db: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.get("/signin")  # gives it the cookie, so that the check goes on to read the form
    answer = browser.post("/signin", data=b"username=owner", content_type=content_type)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "validation_failed"
