"""The list of labels."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import User
from tests.plans import task
from tests.runs import new_run, report
from tests.web.test_needs_you import seen
from tests.web.test_workflows_page import rows
from tests.workflows import new_draft

WebAs = Callable[..., Client]


def test_each_label_tells_its_states_and_what_waits_and_unfiled_comes_last(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_draft(relay, task("a"), title="Mills", project=None)
    new_draft(relay, task("a"), title="Tides", project="sea & shore")
    new_run(relay, task("a"), title="Trains", project="land")
    client = web_as(rita)
    page = seen(client, "/projects")
    table = page[page.index("Last change") :]
    assert re.findall(r"land 1 workflow Running 1 nothing", table)
    assert re.findall(r"sea & shore 1 workflow Drafts 1 1 decision ", table)
    assert re.findall(r"Unfiled 1 workflow Drafts 1 1 decision ", table)
    assert table.index("land") < table.index("sea & shore") < table.index("Unfiled")


def test_every_count_leads_to_what_it_counts(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), title="Mills", project=None)
    new_draft(relay, task("a"), title="Tides", project="sea & shore")
    new_run(relay, task("a"), title="Trains", project="sea & shore")
    report(relay, "a", "failed")
    client = web_as(rita)
    content = client.get("/projects").content.decode()
    links = [html.unescape(each) for each in re.findall(r'href="(/[^"]*\?[^"]*)"', content)]
    lists = [each.removeprefix("/workflows") for each in links if each.startswith("/workflows")]
    assert {each: rows(client, each) for each in lists} == {
        "?project=sea+%26+shore": ["Trains", "Tides"],
        "?project=sea+%26+shore&state=draft": ["Tides"],
        "?project=sea+%26+shore&state=failed": ["Trains"],
        "?project=+": ["Mills"],
        "?project=+&state=draft": ["Mills"],
    }
    assert [each for each in links if each.startswith("/?")] == ["/?project=sea+%26+shore", "/?project=+"]
    assert "2 decisions wait" in seen(client, "/?project=sea+%26+shore")


def test_it_takes_as_many_statements_however_many_labels(web_as: WebAs, relay: Caller, rita: User) -> None:
    client = web_as(rita)
    counts = []
    for count in (1, 12):
        for number in range(count):
            new_draft(relay, task("a"), project=f"{count}-{number}")
        client.get("/projects")
        with CaptureQueriesContext(connection) as asked:
            client.get("/projects")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_an_empty_list_says_where_labels_come_from(web_as: WebAs, rita: User) -> None:
    assert "No project yet." in seen(web_as(rita), "/projects")
