"""Needs you: what its cards say, what a decision on one does, and what is refused."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from amendments.models import Amendment
from amendments.selectors.waiting import list_waiting
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from chief_project.shared.paging import Paging
from chief_project.web.needs_you import CARDS
from runs.models import Question, Run, StepState
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.amendments import propose, remove, replay
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report
from tests.selectors.test_waiting import ask
from tests.together import at_once
from tests.workflows import new_draft, revised
from workflows.models import Workflow
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.mark_seen import mark_seen

WebAs = Callable[..., Client]
HTMX = {"HX-Request": "true", "HX-Target": "card"}


def text_of(content: bytes) -> str:
    """What is read, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content.decode())).split())


def seen(client: Client, path: str = "/") -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return text_of(answer.content)


def decide(client: Client, card: str, *, htmx: bool = False, **fields: str) -> Any:
    headers = HTMX if htmx else {}
    return client.post(f"/needs-you/decide/{card}", {"form": card} | fields, headers=headers)


# -- What is shown -----------------------------------------------------------------------------------


def test_strangers_are_sent_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/")["Location"] == "/signin?next=%2F"
    assert client.get("/needs-you/draft:x@1")["Location"].startswith("/signin")
    assert client.post("/needs-you/decide/draft:x@1", {}).status_code == 401


def test_a_draft_says_what_it_holds_what_changed_and_which_notes_are_open(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    made = new_draft(relay, task("a"), loop("l", ["b"]), task("b"), title="Tides", workflow_id="w1")
    add_review_note(caller=reviewer, workflow_id="w1", body="Why?")
    revised(
        relay,
        made,
        task("a", goal="Better"),
        loop("l", ["b"]),
        task("b"),
        checkpoint("gate"),
        title="Tides",
        reason="With a gate.",
    )
    page = seen(web_as(rita))
    assert "1 decision waits for a person." in page
    assert "Draft to approve" in page
    assert "Tides" in page
    assert "4 steps: 1 loop, 1 checkpoint" in page
    assert "With a gate." in page
    assert "Since you last looked revision 1" in page
    assert "1 step added: gate" in page
    assert "Changed in a : the goal" in page
    assert "1 of your 1 notes is still open." in page
    assert "Approve revision 2" in page
    mark_seen(caller=reviewer, workflow_id="w1", revision=2)
    assert "You have read this revision." in seen(web_as(rita))


def test_a_draft_that_was_never_read_says_what_its_first_steps_are(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    steps = [task(f"s{n}", goal=f"Sail to *island* {n}") for n in range(8)]
    new_draft(relay, *steps, workflow_id="w1")
    page = seen(web_as(rita))
    assert "Sail to *island* 0" in page
    assert "Sail to *island* 5" in page
    assert "Sail to *island* 6" not in page
    assert "and 2 more" in page
    mark_seen(caller=reviewer, workflow_id="w1", revision=1)
    assert "island" not in seen(web_as(rita))


@pytest.mark.parametrize("path", ["/", "/workflows", "/workflows/w1", "/workflows/w1/outline"])
def test_no_title_and_no_goal_turns_what_is_read(web_as: WebAs, relay: Caller, rita: User, path: str) -> None:
    turned = "Keep \u202eelif eht eteled\u202c"
    new_draft(relay, task("a", goal=turned), title=turned, workflow_id="w1")
    page = web_as(rita).get(path).content.decode()
    assert "\u202e" not in page
    assert "Keep ⟦U+202E⟧elif eht eteled" in page


def test_an_amendment_is_told_in_plain_words(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(relay, task("a"), task("b"))
    report(relay, "a", "completed")
    propose(relay, replay("a"), remove("b"), kind="history_edit", reason="One seed is not enough.")
    page = seen(web_as(rita))
    assert "One seed is not enough." in page
    assert "Runs a again and keeps its old result." in page
    assert "Removes b , which has not started." in page
    assert "Edits history: a has a result that goes to its history. The run stands still" in page


def test_a_checkpoint_shows_its_fields_and_what_led_to_it(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(
        relay,
        task("soak", criteria=["no errors"]),
        checkpoint(
            "gate",
            depends_on=["soak"],
            goal="Go on?",
            fields=[
                {"name": "region", "label": "First region", "hint": "such as north-1"},
                {"name": "message", "required": False},
            ],
        ),
        task("after", depends_on=["gate"]),
    )
    report(
        relay,
        "soak",
        "completed",
        summary="48 h without errors.",
        criteria_met={"c1": "none"},
        artifacts=[{"artifact_id": "soak", "type": "text/markdown", "ref": "notes/soak.md"}],
    )
    report(relay, "gate", "running")
    client = web_as(rita)
    page = seen(client)
    for said in (
        "Go on?",
        "First region",
        "such as north-1",
        "message optional",
        "48 h without errors.",
        "1 of 1 criterion answered",
        "soak.md",
        "Holds up 1 step",
    ):
        assert said in page
    content = client.get("/").content.decode()
    assert 'href="/runs/r1?step=gate"' in content
    assert 'href="/runs/r1/artifacts/soak"' in content


def test_a_question_fills_its_goal_with_what_its_branch_brought(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_run(
        relay,
        loop("l", ["read"], instance_params=[{"name": "paper"}]),
        task("read", goal="Read {{ paper }}"),
    )
    add_instance(relay, "l", metadata={"paper": "2203.15556"})
    report(relay, "l/inst_00/read", "running")
    ask(relay, "l/inst_00/read", "Which *unit*?")
    page = seen(web_as(rita))
    assert "Read 2203.15556" in page
    assert "Which unit ?" in page
    assert "Your answer" in page


def test_a_failed_run_says_where_it_stopped_and_what_will_not_run(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]), task("c"))
    report(relay, "a", "failed", summary="Checksums differ.")
    page = seen(web_as(rita))
    for said in (
        "Stopped at a .",
        "Checksums differ.",
        "Done 0 of 3",
        "Will not run 1 step",
        "Leave it failed",
    ):
        assert said in page


def test_a_viewer_reads_the_cards_and_who_decides_them(web_as: WebAs, relay: Caller, vic: User) -> None:
    new_draft(relay, task("a"), title="Tides")
    client = web_as(vic)
    page = seen(client)
    assert "Tides" in page
    assert "A reviewer or an admin decides this. You may read it." in page
    assert 'class="decide" method="post"' not in client.get("/").content.decode()
    (item,) = list_waiting(caller=relay, paging=Paging()).rows
    answer = decide(client, f"draft:{item['workflow_id']}@1", decision="approved")
    assert answer.status_code == 403
    assert Workflow.objects.get().status == "draft"


def test_projects_keep_the_cards_and_unfiled_comes_last(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), title="Tides", project="sea & shore")
    new_draft(relay, task("a"), title="Trains", project=None)
    client = web_as(rita)
    chips = re.findall(r'<a class="chip" href="([^"]*)"', client.get("/").content.decode())
    assert chips == ["/", "?project=sea+%26+shore", "?project=+"]
    assert "Trains" not in seen(client, f"/{chips[1]}")
    assert "Tides" not in seen(client, f"/{chips[2]}")
    assert "Nothing here waits for you." in seen(client, "/?project=other")


def test_what_a_harness_wrote_stays_text(web_as: WebAs, relay: Caller, rita: User) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    new_draft(relay, task("a"), title=evil, project=evil)
    new_run(relay, task("a", goal=evil), title=evil)
    report(relay, "a", "failed", summary=evil)
    new_run(
        relay, checkpoint("g", goal=evil, fields=[{"name": evil, "label": evil, "hint": evil}]), run_id="r2"
    )
    report(relay, "g", "running", run_id="r2")
    content = web_as(rita).get("/").content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content
    assert "&lt;script&gt;" in content


def test_the_page_takes_as_many_statements_however_many_cards(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    client = web_as(rita)
    counts = []
    for count in (1, 8):
        for number in range(count):
            name = f"{count}-{number}"
            new_draft(relay, task("a"), workflow_id=f"d{name}")
            new_run(relay, task("a"), task("b"), checkpoint("g"), run_id=f"q{name}")
            report(relay, "a", "running", run_id=f"q{name}")
            report(relay, "g", "running", run_id=f"q{name}")
            ask(relay, "a", "Which?", run_id=f"q{name}")
            propose(relay, remove("b"), run_id=f"q{name}")
            new_run(relay, task("a"), run_id=f"f{name}")
            report(relay, "a", "failed", run_id=f"f{name}")
        client.get("/")
        with CaptureQueriesContext(connection) as asked:
            client.get("/")
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_more_than_a_page_goes_on_behind_a_link(web_as: WebAs, relay: Caller, rita: User) -> None:
    for number in range(CARDS + 1):
        new_draft(relay, task("a"), title=f"Plan {number:02}")
    client = web_as(rita)
    content = client.get("/").content.decode()
    first = set(re.findall(r"Plan \d\d", content))
    assert len(first) == CARDS
    (more,) = re.findall(r'href="([^"]*)" rel="next"', content)
    second = seen(client, "/" + html.unescape(more))
    (last,) = set(re.findall(r"Plan \d\d", second))
    assert first | {last} == {f"Plan {number:02}" for number in range(CARDS + 1)}


def test_a_later_page_hears_of_what_belongs_on_it_and_is_come_back_to(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    for number in range(CARDS + 3):
        new_draft(relay, task("a"), workflow_id=f"w{number:02}")
    client = web_as(rita)
    (more,) = re.findall(r'href="([^"]*)" rel="next"', client.get("/").content.decode())
    later = "/" + html.unescape(more)
    content = client.get(later).content.decode()
    cards = re.findall(r'<li class="asks" data-card="([^"]*)"', content)
    assert cards == [f"draft:w{number}@1" for number in range(CARDS, CARDS + 3)]
    (news,) = re.findall(r'data-news="([^"]*)"', content)
    news = html.unescape(news) + "".join(f"&card={card}" for card in cards)
    told = client.get(news).content.decode()
    assert 'data-new="0"' in told
    assert re.findall(r'data-age-of="([^"]*)"', told) == cards
    new_draft(relay, task("a"), workflow_id="w99")
    told = client.get(news).content.decode()
    assert 'data-new="1"' in told
    (came_from,) = {html.unescape(each) for each in re.findall(r'name="query" value="([^"]*)"', content)}
    answer = decide(client, cards[0], decision="approved", query=came_from)
    assert answer["Location"] == later
    for card in (*cards[1:], "draft:w99@1"):
        decide(client, card, decision="approved", query=came_from)
    answer = client.get(later)
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_an_empty_page_teaches_how_the_first_plan_comes(
    web_as: WebAs, rita: User, owner: User, relay: Caller
) -> None:
    page = seen(web_as(owner))
    assert "No plan has come yet." in page
    assert "Make a token" in page
    assert "/mcp" in page
    assert "An admin makes tokens." in seen(web_as(rita))
    new_run(relay, task("a"), title="Tides")
    page = seen(web_as(rita))
    assert "All decided. 1 run is under way." in page
    assert "Decided lately" in page
    assert "Tides" in page


# -- Decisions ---------------------------------------------------------------------------------------


def test_a_draft_is_approved_with_its_reason_and_the_next_card_follows(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_draft(relay, task("a"), title="Tides", workflow_id="w1", project="sea")
    new_draft(relay, task("a"), title="Trains", workflow_id="w2", project="sea")
    client = web_as(rita)
    content = client.get("/?project=sea").content.decode()
    fields = dict(re.findall(r'type="hidden" name="(next|query)" value="([^"]*)"', content)[:2])
    answer = decide(client, "draft:w1@1", decision="approved", reason=" Small steps. ", **fields)
    assert (answer.status_code, answer["Location"]) == (303, "/?project=sea#draft:w2@1")
    row = Workflow.objects.get(workflow_id="w1")
    assert (row.status, row.decided_by) == ("approved", "rita")
    entry = AuditEntry.objects.get(event="workflow.approved")
    assert (entry.actor, entry.via) == ("rita", "web")
    assert '"reason":"Small steps."' in entry.text
    assert "Approved: Tides" in seen(client, "/?project=sea")


def test_with_htmx_a_decision_answers_its_card_alone(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), title="Tides", workflow_id="w1")
    answer = decide(web_as(rita), "draft:w1@1", htmx=True, decision="sent_back", reason="Say why.")
    assert answer.status_code == 200
    content = answer.content.decode().strip()
    assert content.startswith('<li class="is-gone" data-card="draft:w1@1"')
    assert content.endswith("</li>")
    assert "<html" not in content
    assert "Sent back by you" in text_of(answer.content)
    assert "Say why." in text_of(answer.content)
    assert Workflow.objects.get().review_state == "sent_back"


@pytest.mark.parametrize("htmx", [False, True])
def test_a_plan_that_moved_on_is_not_approved_and_shows_what_changed(
    web_as: WebAs, relay: Caller, rita: User, htmx: bool
) -> None:
    made = new_draft(relay, task("a"), title="Tides", workflow_id="w1")
    revised(relay, made, task("a"), task("sneaky"), title="Tides")
    answer = decide(web_as(rita), "draft:w1@1", htmx=htmx, decision="approved", reason="Small steps.")
    assert answer.status_code == 412
    page = text_of(answer.content)
    assert "The plan moved on while you were reading. Nothing was decided." in page
    assert "1 step added: sneaky" in page
    assert "Approve revision 2" in page
    assert "Small steps." in page
    assert 'action="/needs-you/decide/draft:w1@2"' in answer.content.decode()
    assert Workflow.objects.get().status == "draft"


@pytest.mark.parametrize(("decision", "status"), [("approved", "approved"), ("rejected", "rejected")])
def test_an_amendment_is_decided(
    web_as: WebAs, relay: Caller, rita: User, decision: str, status: str
) -> None:
    new_run(relay, task("a"), task("b"))
    amendment = propose(relay, remove("b"))["amendment_id"]
    answer = decide(web_as(rita), f"amendment:{amendment}", decision=decision, reason="Yes or no.")
    assert answer.status_code == 303
    row = Amendment.objects.get()
    assert (row.status, row.decided_by, row.decided_via, row.decision_reason) == (
        status,
        "rita",
        "web",
        "Yes or no.",
    )


def test_a_checkpoint_is_approved_with_its_fields(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(
        relay,
        loop("l", ["gate"]),
        checkpoint("gate", fields=[{"name": "region"}, {"name": "message", "required": False}]),
    )
    add_instance(relay, "l")
    report(relay, "l/inst_00/gate", "running")
    card = "checkpoint:r1@l/inst_00/gate"
    client = web_as(rita)
    refused = decide(client, card, decision="approved", **{"field:region": "", "field:message": "Hello"})
    assert refused.status_code == 422
    assert "Hello" in text_of(refused.content)
    assert "Nothing was changed." in text_of(refused.content)
    assert StepState.objects.get(step_id="gate").status == "blocked"
    done = decide(client, card, decision="approved", **{"field:region": "north-1", "field:message": " "})
    assert done.status_code == 303
    state = StepState.objects.get(step_id="gate")
    assert (state.status, state.checkpoint["response"], state.checkpoint["decided_by"]) == (
        "completed",
        {"region": "north-1"},
        "rita",
    )


def test_rejecting_a_checkpoint_needs_a_note_and_keeps_what_was_typed(
    web_as: WebAs, relay: Caller, rita: User
) -> None:
    new_run(relay, checkpoint("gate", fields=[{"name": "region"}]))
    report(relay, "gate", "running")
    client = web_as(rita)
    refused = decide(client, "checkpoint:r1@gate", decision="rejected", **{"field:region": "north-1"})
    assert refused.status_code == 422
    page = text_of(refused.content)
    assert "needs a note saying why" in page
    assert "north-1" in page
    done = decide(client, "checkpoint:r1@gate", decision="rejected", note="Too slow.")
    assert done.status_code == 303
    assert StepState.objects.get(step_id="gate").status == "failed"


def test_a_question_is_answered(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    question = ask(relay, "a", "Which?")
    where = {"run_id": "r1", "path": "a"}
    client = web_as(rita)
    refused = decide(client, f"question:{question}", decision="answered", **where, **{"field:text": " "})
    assert refused.status_code == 422
    done = decide(
        client, f"question:{question}", decision="answered", **where, **{"field:text": "This\r\none."}
    )
    assert done.status_code == 303
    row = Question.objects.get()
    assert (row.response, row.answered_by, row.via) == ({"text": "This\none."}, "rita", "web")


def test_a_failed_run_is_left_failed(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "failed")
    assert decide(web_as(rita), "failed_run:r1", decision="acknowledged").status_code == 303
    assert Run.objects.get().acknowledged["by"] == "rita"


def test_what_someone_else_decided_says_who_and_keeps_what_was_written(
    web_as: WebAs, relay: Caller, reviewer: Caller, owner: User
) -> None:
    new_run(relay, task("a"), task("b"))
    amendment = propose(relay, remove("b"))["amendment_id"]
    approve_amendment(caller=reviewer, amendment_id=amendment, reason="Fine.")
    answer = decide(
        web_as(owner), f"amendment:{amendment}", htmx=True, decision="rejected", reason="My words."
    )
    assert answer.status_code == 409
    page = text_of(answer.content)
    assert "Approved by rita" in page
    assert "over REST" in page
    assert "nothing was changed by it" in page
    assert "My words." in page
    assert 'class="is-gone"' in answer.content.decode()
    assert Amendment.objects.get().status == "approved"


@pytest.mark.parametrize(
    ("card", "status"),
    [
        ("draft:nothing@1", 404),
        ("amendment:nothing", 404),
        ("checkpoint:nothing@gate", 404),
        ("question:nothing", 404),
        ("failed_run:nothing", 404),
        ("other:thing", 404),
        ("draft", 404),
        ("draft:%00@1", 404),
        ("draft:%C3%A9@1", 404),
    ],
)
def test_what_is_nothing_can_not_be_decided(web_as: WebAs, rita: User, card: str, status: int) -> None:
    answer = decide(web_as(rita), card, decision="approved", run_id="r1", path="a")
    assert answer.status_code == status
    assert not AuditEntry.objects.filter(via="web").exists()


def test_a_nul_in_a_form_is_left_out(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    answer = decide(web_as(rita), "draft:w1@1", decision="approved", reason="Small\0 steps.")
    assert answer.status_code == 303
    assert '"reason":"Small steps."' in AuditEntry.objects.get(event="workflow.approved").text
    assert web_as(rita).get("/needs-you/news?card=draft:%00@1&card=x").status_code == 200


def test_a_decision_names_a_button(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    for decision in ("", "rejected", "anything"):
        assert decide(web_as(rita), "draft:w1@1", decision=decision).status_code == 422
    assert Workflow.objects.get().status == "draft"


def test_a_decision_needs_a_post_and_its_csrf_token(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    assert web_as(rita).get("/needs-you/decide/draft:w1@1").status_code == 405
    strict = web_as(rita, csrf=True)
    assert decide(strict, "draft:w1@1", decision="approved").status_code == 403
    assert Workflow.objects.get().status == "draft"


def test_the_list_it_came_from_can_not_lead_elsewhere(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    answer = decide(
        web_as(rita), "draft:w1@1", decision="approved", query="/evil.example\r\nX: y", next="//evil.example"
    )
    assert answer.status_code == 303
    assert answer["Location"].startswith("/?")
    assert "\n" not in answer["Location"]


# -- One card, and news ------------------------------------------------------------------------------


def test_one_card_has_an_address_of_its_own(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    new_draft(relay, task("a"), title="Tides", workflow_id="w1")
    client = web_as(rita)
    page = seen(client, "/needs-you/draft:w1@1")
    assert "Tides" in page
    assert "Approve revision 1" in page
    approve_workflow(caller=reviewer, workflow_id="w1")
    page = seen(client, "/needs-you/draft:w1@1")
    assert "Approved by you" in page
    assert "Approve revision" not in page
    assert "No longer there" in seen(client, "/needs-you/draft:nothing@1")


def test_news_tell_what_is_gone_and_how_many_are_new(
    web_as: WebAs, relay: Caller, reviewer: Caller, owner: User
) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    new_draft(relay, task("a"), workflow_id="w2")
    client = web_as(owner)
    shown = {"card": ["draft:w1@1", "draft:w2@1"]}
    content = client.get("/needs-you/news", shown).content.decode()
    assert 'data-new="0"' in content
    assert "data-gone" not in content
    assert re.findall(r'data-age-of="([^"]*)"', content) == ["draft:w1@1", "draft:w2@1"]
    assert "2 decisions wait for a person" in text_of(content.encode())
    approve_workflow(caller=reviewer, workflow_id="w1")
    new_draft(relay, task("a"), workflow_id="w3", project="sea")
    content = client.get("/needs-you/news", shown).content.decode()
    assert re.findall(r'<li class="is-gone" data-card="([^"]*)"', content) == ["draft:w1@1"]
    assert "Approved by rita" in text_of(content.encode())
    assert 'data-new="1"' in content
    assert "1 new, show" in content
    counts = dict(re.findall(r'data-count-of="([^"]*)">(\d+)<', content))
    assert counts == {"": "2", "project=sea": "1", "project=+": "1"}
    assert 'data-new="0"' in client.get("/needs-you/news", shown | {"project": "land"}).content.decode()


def test_looking_writes_nothing(web_as: WebAs, relay: Caller, rita: User) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    before = AuditEntry.objects.count()
    client = web_as(rita)
    for path in ("/", "/needs-you/draft:w1@1", "/needs-you/news?card=draft:w1@1"):
        assert client.get(path).status_code == 200
    assert AuditEntry.objects.count() == before


# -- Nothing listed can be undecidable ---------------------------------------------------------------


def cards_of(client: Client) -> list[str]:
    return re.findall(r'<li class="asks" data-card="([^"]*)"', client.get("/").content.decode())


def press(client: Client, card: str) -> Any:
    """Press the first button of a card as it is shown, with something in each field that it needs."""
    content = client.get(f"/needs-you/{card}").content.decode()
    (form,) = re.findall(r'<form class="decide" method="post".*?</form>', content, re.DOTALL)
    action = re.findall(r'action="([^"]*)"', form)[0]
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
    fields |= dict.fromkeys(re.findall(r'<textarea[^>]* name="([^"]*)"', form), "something")
    fields["decision"] = re.findall(r'name="decision" value="([^"]*)"', form)[0]
    return client.post(action, fields)


def test_whatever_is_listed_can_be_decided_also_of_an_archived_workflow(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    steps = [
        checkpoint("gate", fields=[{"name": "why"}]),
        task("a"),
        task("b"),
        loop("l", ["inner"]),
        checkpoint("inner"),
    ]
    for run_id in ("r1", "r2"):
        new_run(relay, *steps, task("z"), run_id=run_id, workflow_id=f"w{run_id}")
        report(relay, "gate", "running", run_id=run_id)
        report(relay, "a", "running", run_id=run_id)
        ask(relay, "a", "Which?", run_id=run_id)
        add_instance(relay, "l", run_id=run_id)
        report(relay, "l/inst_00/inner", "running", run_id=run_id)
        propose(relay, remove("z"), run_id=run_id)
    new_run(relay, task("a"), checkpoint("gate"), run_id="r3", workflow_id="wr3")
    report(relay, "gate", "running", run_id="r3")
    report(relay, "a", "failed", run_id="r3")
    new_draft(relay, task("a"), workflow_id="d1")
    new_draft(relay, task("a"), workflow_id="d2")
    for workflow_id in ("wr2", "wr3", "d2"):
        archive_workflow(caller=reviewer, workflow_id=workflow_id)
    client = web_as(rita)
    cards = cards_of(client)
    assert len(cards) == 11
    for card in cards:
        answer = press(client, card)
        assert answer.status_code == 303, (card, text_of(answer.content))
    assert cards_of(client) == []


def test_ending_a_run_takes_its_cards_off_at_once(
    web_as: WebAs, relay: Caller, reviewer: Caller, rita: User
) -> None:
    new_run(relay, checkpoint("gate"), task("a"), task("b"))
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    propose(relay, remove("b"))
    client = web_as(rita)
    cards = cards_of(client)
    assert len(cards) == 3
    cancel_run(caller=reviewer, run_id="r1")
    assert cards_of(client) == []
    for card in cards:
        assert "by you" in seen(client, f"/needs-you/{card}") or "by rita" in seen(
            client, f"/needs-you/{card}"
        )


# -- Two reviewers -----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_fifty_decisions_on_one_card_one_counts_and_the_others_are_told_whose(
    web_as: WebAs, relay: Caller, rita: User, owner: User
) -> None:
    new_run(relay, task("a"), checkpoint("gate"))
    report(relay, "gate", "running")
    clients = [web_as(user) for user in (rita, owner) for _ in range(25)]
    answers = at_once(
        [
            lambda client=client, place=place: decide(
                client,
                "checkpoint:r1@gate",
                htmx=True,
                decision="approved" if place % 2 else "rejected",
                note=f"Words of {place}.",
            )
            for place, client in enumerate(clients)
        ]
    )
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    statuses = [answer.status_code for answer in answers]
    assert sorted(statuses) == [200] + [409] * 49
    state = StepState.objects.get(step_id="gate")
    winner = state.checkpoint["decided_by"]
    assert AuditEntry.objects.filter(event="checkpoint.resolved").count() == 1
    for place, answer in enumerate(answers):
        page = text_of(answer.content)
        mine = (place < 25) == (winner == "rita")
        assert 'class="is-gone"' in answer.content.decode()
        assert ("by you" if mine else f"by {winner}") in page
        if answer.status_code == 409:
            assert f"Words of {place}." in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decisions", [("approved",), ("approved", "sent_back")])
def test_of_fifty_decisions_on_one_draft_one_counts_whatever_they_say(
    web_as: WebAs, relay: Caller, rita: User, owner: User, decisions: tuple[str, ...]
) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    clients = [web_as(user) for user in (rita, owner) for _ in range(25)]
    answers = at_once(
        [
            lambda client=client, place=place: decide(
                client, "draft:w1@1", htmx=True, decision=decisions[place % len(decisions)]
            )
            for place, client in enumerate(clients)
        ]
    )
    statuses = [answer.status_code for answer in answers]
    assert sorted(statuses) == [200] + [409] * 49
    entry = AuditEntry.objects.get(event__in=["workflow.approved", "workflow.sent_back"])
    done = "Approved" if entry.event == "workflow.approved" else "Sent back"
    assert Workflow.objects.get().status == ("approved" if done == "Approved" else "draft")
    for place, answer in enumerate(answers):
        mine = (place < 25) == (entry.actor == "rita")
        assert (f"{done} by you" if mine else f"{done} by {entry.actor}") in text_of(answer.content)


def test_a_draft_that_a_colleague_sent_back_is_not_approved_over_their_head(
    web_as: WebAs, relay: Caller, rita: User, owner: User
) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    assert decide(web_as(owner), "draft:w1@1", decision="sent_back", reason="Too big.").status_code == 303
    answer = decide(web_as(rita), "draft:w1@1", htmx=True, decision="approved", reason="Fine by me.")
    assert answer.status_code == 409
    page = text_of(answer.content)
    assert "Sent back by owner" in page
    assert "Fine by me." in page
    assert Workflow.objects.get().status == "draft"
    assert not AuditEntry.objects.filter(event="workflow.approved").exists()


def test_a_checkpoint_decided_elsewhere_meanwhile_is_told_with_its_door(
    web_as: WebAs, relay: Caller, owner: User
) -> None:
    new_run(relay, checkpoint("gate"), task("a"))
    report(relay, "gate", "running")
    resolve_checkpoint(
        caller=relay,
        run_id="r1",
        path=("gate",),
        resolution={"decision": "approved", "decided_by": "Robin"},
    )
    report(relay, "a", "running")
    page = seen(web_as(owner), "/needs-you/checkpoint:r1@gate")
    assert "Approved by Robin" in page
    assert "over REST" in page
    assert "relayer first reported after it" in page
