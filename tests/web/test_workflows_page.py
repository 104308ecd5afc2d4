"""The list of plans and their runs."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from chief_project.web.workflows import ROWS
from tests.plans import checkpoint, task
from tests.runs import new_run, report
from tests.selectors.test_overview import every_state
from tests.web.test_needs_you import seen, text_of
from tests.workflows import new_draft
from workflows.services.add_review_note import add_review_note

WebAs = Callable[..., Client]


def rows(client: Client, query: str = "") -> list[str]:
    """The titles, in order."""
    content = client.get(f"/workflows{query}").content.decode()
    return [
        html.unescape(each)
        for each in re.findall(r'<a class="t" href="[^"]*" data-item-link>([^<]*)</a>', content)
    ]


def chips(client: Client, query: str = "") -> dict[str, str]:
    content = client.get(f"/workflows{query}").content.decode()
    found = re.findall(r'<a class="chip" href="([^"]*)"[^>]*>(.*?)</a>', content, re.DOTALL)
    return {text_of(inner.encode()): html.unescape(href) for href, inner in found}


def test_each_state_has_its_button_and_leads_to_its_rows(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    every_state(relay, reviewer)
    client = web_as(rita)
    buttons = chips(client)
    assert list(buttons) == [
        "All 9",
        "Drafts 1",
        "Sent back 1",
        "Waiting 1",
        "Running 1",
        "Failed 1",
        "Approved 1",
        "Completed 1",
        "Cancelled 1",
        "Archived 1",
    ]
    led_to = []
    for href in list(buttons.values())[1:]:
        query = href.removeprefix("/workflows")
        led_to += re.findall(r'href="([^"]*)" data-item-link', client.get(href).content.decode())
        assert list(chips(client, query)) == list(buttons), "each counts the whole list, whichever is chosen"
    assert [href.rpartition("/")[2] for href in led_to] == [
        "draft",
        "sent_back",
        "waiting",
        "running",
        "failed",
        "approved",
        "completed",
        "cancelled",
        "archived",
    ]


def test_a_row_says_how_far_it_is_who_waits_and_what_happened(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User, vic: User
) -> None:
    every_state(relay, reviewer)
    add_review_note(caller=reviewer, workflow_id="sent_back", body="Why?")
    page = seen(web_as(rita), "/workflows")
    for said in (
        "Draft 1",
        "You , approval, ",
        "relayer, to revise: 1 note",
        "A harness, to start it",
        "You , checkpoint, ",
        "You , failed run, ",
        "nobody",
        "2 of 2",
        "0 of 2, 1 failed",
        "1 step, no run yet",
        "note by you",
        "cancelled by you",
        "reported by relayer",
        "submitted by relayer",
        "9 workflows",
    ):
        assert said in page, said
    assert "A reviewer , approval" in seen(web_as(vic), "/workflows")


def test_titles_lead_to_the_run_and_ids_to_the_plan(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(relay, task("a"), workflow_id="w1", run_id="r1", title="Tides")
    new_draft(relay, task("a"), workflow_id="w2", title="Trains")
    content = web_as(rita).get("/workflows").content.decode()
    assert '<a class="t" href="/runs/r1" data-item-link>Tides</a>' in content
    assert 'href="/workflows/w1"' in content
    assert '<a class="t" href="/workflows/w2" data-item-link>Trains</a>' in content


def test_it_is_kept_to_words_and_projects_and_remembers_both(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_draft(relay, task("a"), title="Tides", project="sea & shore")
    new_draft(relay, task("a"), title="Tidal mills", project=None)
    new_draft(relay, task("a"), title="Trains", project="sea & shore")
    client = web_as(rita)
    assert rows(client, "?q=tid") == ["Tidal mills", "Tides"]
    assert rows(client, "?project=sea+%26+shore") == ["Trains", "Tides"]
    assert rows(client, "?project=+") == ["Tidal mills"]
    assert rows(client, "?project=") == ["Trains", "Tidal mills", "Tides"]
    content = client.get("/workflows?q=tid&project=sea+%26+shore&sort=title").content.decode()
    assert 'value="tid"' in content
    assert '<option value="sea &amp; shore" selected>' in content
    assert '<option value=" ">Unfiled (1)</option>' in content
    buttons = chips(client, "?q=tid&project=sea+%26+shore&sort=title")
    assert buttons["Drafts 1"] == "/workflows?project=sea+%26+shore&q=tid&state=draft&sort=title"
    assert "Nothing here matches." in seen(client, "/workflows?q=nothing")


def test_its_heads_sort_by_link(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), title="beta")
    new_draft(relay, task("a"), title="Alpha")
    new_run(relay, checkpoint("g"), title="gamma")
    report(relay, "g", "running")
    client = web_as(rita)
    assert rows(client) == ["gamma", "Alpha", "beta"]
    assert rows(client, "?sort=title") == ["Alpha", "beta", "gamma"]
    assert rows(client, "?sort=waiting") == ["beta", "Alpha", "gamma"]
    assert rows(client, "?sort=nonsense&state=nonsense") == ["gamma", "Alpha", "beta"]
    content = client.get("/workflows?sort=title").content.decode()
    assert 'aria-sort="ascending"><a href="/workflows?sort=title"' in content


def test_pages_go_on_and_back_to_the_start(web_as: WebAs, relay: Caller, rita: User) -> None:
    for number in range(ROWS + 2):
        new_draft(relay, task("a"), title=f"Plan {number:02}")
    client = web_as(rita)
    content = client.get("/workflows?sort=title").content.decode()
    (further,) = re.findall(r'href="([^"]*)" rel="next"', content)
    second = html.unescape(further).removeprefix("/workflows")
    assert rows(client, second) == [f"Plan {ROWS:02}", f"Plan {ROWS + 1:02}"]
    assert "From the start" in seen(client, f"/workflows{second}")
    assert f"{ROWS + 2} workflows" in seen(client, "/workflows")


def test_with_htmx_the_list_comes_alone(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), title="Tides")
    answer = web_as(rita).get("/workflows?q=tid", headers={"HX-Request": "true", "HX-Target": "list"})
    content = answer.content.decode()
    assert "Tides" in content
    assert "<html" not in content
    assert "<form" not in content


def test_an_empty_list_teaches_how_the_first_plan_comes(web_as: WebAs, owner: User, vic: User) -> None:
    page = seen(web_as(owner), "/workflows")
    assert "No plan yet." in page
    assert "Make a token" in page
    page = seen(web_as(vic), "/workflows")
    assert "Make a token" not in page
    assert "Write a plan yourself" not in page


def test_what_a_harness_wrote_stays_text(web_as: WebAs, relay: Caller, rita: User) -> None:
    evil = "<script>alert(1)</script>"
    new_draft(relay, task("a"), title=evil, project=evil, generated_by=evil)
    client = web_as(rita)
    for path in ("/workflows", "/workflows?q=%3Cscript%3E", "/projects"):
        content = client.get(path).content.decode()
        assert "<script>" not in content
    assert "&lt;script&gt;" in client.get("/workflows").content.decode()


@pytest.mark.parametrize("query", ["?q=%00", "?q=%27%22", "?project=%00", "?cursor=nonsense", "?sort=%00"])
def test_nonsense_in_an_address_breaks_nothing(web_as: WebAs, relay: Caller, rita: User, query: str) -> None:
    new_draft(relay, task("a"))
    assert web_as(rita).get(f"/workflows{query}").status_code in (200, 422)
    assert web_as(rita).get(f"/{query}").status_code in (200, 422)


def test_it_takes_as_many_statements_however_many_rows(web_as: WebAs, relay: Caller, rita: User) -> None:
    client = web_as(rita)
    counts = []
    for count in (2, 20):
        for number in range(count):
            new_run(relay, checkpoint("g"), run_id=f"r{count}-{number}")
            report(relay, "g", "running", run_id=f"r{count}-{number}")
            new_draft(relay, task("a"))
        client.get("/workflows")
        with CaptureQueriesContext(connection) as asked:
            client.get("/workflows")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_looking_writes_nothing(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"))
    before = AuditEntry.objects.count()
    assert web_as(rita).get("/workflows").status_code == 200
    assert web_as(rita).get("/projects").status_code == 200
    assert AuditEntry.objects.count() == before
