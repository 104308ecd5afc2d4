"""The profile, and the list of keys: what a person chooses is kept, and takes hold at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from chief_project.shared.models import AuditEntry, Preferences, User
from chief_project.shared.preferences import preferences_of_user

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
FORM = {"form": "profile", "time_zone": "", "language": "", "theme": "system"}


def test_it_shows_who_one_is_and_what_one_chose(web_as: WebAs, vic: User) -> None:
    page = web_as(vic).get("/profile")
    assert page.status_code == 200
    said = page.content.decode()
    assert "<b>vic</b>" in said
    assert '<option value="" selected>My browser’s: UTC</option>' in said
    assert '<option value="Europe/Berlin">Berlin (UTC+' in said
    assert 'name="theme" value="system" checked' in said
    assert 'name="single_keys" value="1" checked' in said
    assert 'value="draft" checked' not in said
    assert 'href="/password"' in said
    assert 'action="/signout"' in said


def test_what_is_saved_is_kept_and_said(web_as: WebAs, vic: User) -> None:
    web = web_as(vic)
    web.cookies["chief_theme"] = "light"
    entries = AuditEntry.objects.count()
    chosen = {"time_zone": "Asia/Tokyo", "theme": "dark", "notify": ["question", "draft"]}
    answer = web.post("/profile/update", FORM | chosen)
    assert (answer.status_code, answer["Location"]) == (303, "/profile")
    kept = preferences_of_user(vic.pk)
    assert (kept.time_zone, kept.theme, kept.keys) == ("Asia/Tokyo", "dark", False)
    assert kept.notify == {"draft", "question"}
    assert web.cookies["chief_theme"].value == ""  # the frame's button doesn't go on overruling it
    page = web.get("/profile").content.decode()
    assert "Your profile is saved." in page
    assert 'data-theme="dark"' in page
    assert 'data-keys="off"' in page
    assert '<option value="Asia/Tokyo" selected>' in page
    assert 'value="question" checked' in page
    assert AuditEntry.objects.count() == entries


def test_who_chose_no_zone_reads_times_in_the_browsers(web_as: WebAs, vic: User) -> None:
    web = web_as(vic)
    web.cookies["chief_zone"] = "Asia/Tokyo"
    assert "My browser’s: Asia/Tokyo" in web.get("/profile").content.decode()
    assert "Times are in your zone, Asia/Tokyo." in web.get("/audit").content.decode()
    web.cookies["chief_zone"] = "Mars/Olympus"
    assert "Times are in your zone, UTC." in web.get("/audit").content.decode()
    web.cookies["chief_zone"] = "Asia/Tokyo"
    web.post("/profile/update", FORM | {"time_zone": "UTC"})
    assert "Times are in your zone, UTC." in web.get("/audit").content.decode()
    assert '<option value="UTC" selected>' in web.get("/profile").content.decode()


def test_the_language_takes_hold_at_once(web_as: WebAs, vic: User) -> None:
    web = web_as(vic)
    web.post("/profile/update", FORM | {"language": "de"})
    page = web.get("/profile", headers={"Accept-Language": "en"}).content.decode()
    assert '<html lang="de"' in page
    web.post("/profile/update", FORM)
    assert '<html lang="en"' in web.get("/profile", headers={"Accept-Language": "en"}).content.decode()


def test_a_refused_choice_writes_nothing_and_keeps_the_rest(web_as: WebAs, vic: User) -> None:
    answer = web_as(vic).post(
        "/profile/update", FORM | {"time_zone": "Mars/Olympus", "theme": "dark", "notify": ["amendment"]}
    )
    assert answer.status_code == 422
    said = answer.content.decode()
    assert "time zone &#x27;Mars/Olympus&#x27; is unknown here" in said
    assert 'name="theme" value="dark" checked' in said
    assert 'value="amendment" checked' in said
    assert 'name="single_keys" value="1" checked' not in said
    assert not Preferences.objects.exists()


def test_a_zone_out_of_the_way_stays_chosen(web_as: WebAs, vic: User) -> None:
    Preferences.objects.create(user=vic, time_zone="Etc/GMT+3")
    said = web_as(vic).get("/profile").content.decode()
    assert "<option selected>Etc/GMT+3</option>" in said


def test_only_who_is_signed_in_has_a_profile_and_it_is_saved_by_a_form_of_this_site(
    web_as: WebAs, vic: User
) -> None:
    assert web_as(None).get("/profile")["Location"] == "/signin?next=%2Fprofile"
    assert web_as(vic, csrf=True).post("/profile/update", FORM).status_code == 403
    loaded = web_as(vic).get("/profile/update")
    assert (loaded.status_code, loaded["Allow"]) == (405, "POST")
    assert "Time zone" in loaded.content.decode(), "who loads it again sees the page it belongs to"
    assert not web_as(None).get("/profile/update").content
    assert not Preferences.objects.exists()


def test_one_signs_out_everywhere_else(web_as: WebAs, vic: User) -> None:
    here, there = web_as(vic), web_as(vic)
    answer = here.post("/profile/sessions/end")
    assert (answer.status_code, answer["Location"]) == (303, "/profile")
    assert "1 other session ended." in here.get("/profile").content.decode()
    assert there.get("/profile").status_code == 302
    here.post("/profile/sessions/end")
    assert "You are signed in nowhere else." in here.get("/profile").content.decode()


def test_the_keys_are_a_page_too(web_as: WebAs, vic: User) -> None:
    web = web_as(vic)
    assert "what needs you" in web.get("/keys").content.decode()
    assert "switched off" not in web.get("/keys").content.decode()
    Preferences.objects.create(user=vic, keys=False)
    assert "Single keys are switched off in your profile." in web.get("/keys").content.decode()
