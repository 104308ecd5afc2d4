"""The pages of a run: what they tell, what is decided there, what a refusal says, and what they cost."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from runs.models import Question, Run, StepInstance, StepState
from runs.selectors.runs import get_run
from tests.amendments import amend, insert_after, propose, remove, replay
from tests.plans import checkpoint, loop, parallel, task
from tests.run_calls import acknowledge, answer, asked, comment, mark, resolve, update
from tests.run_rows import instance_rows, run_row
from tests.runs import add_instance, new_run, report

pytestmark = pytest.mark.django_db

WebAs = Callable[..., Client]
TABS = ["", "/timeline", "/table", "/reports", "/artifacts", "/amendments", "/questions", "/audit"]
HOSTILE = '"><script>alert(1)</script>{{ 7|add:1 }}'

STEPS = [
    task("a", goal="Read *everything*", criteria=["It works", "It is fast"]),
    parallel("p", ["x", "y"], instance_params=[{"name": "paper"}], depends_on=["a"]),
    task("x", goal="Read {{ paper }}"),
    task("y", depends_on=["x"]),
    checkpoint("ok", depends_on=["p"], fields=[{"name": "grade", "hint": "A to F"}]),
]


@pytest.fixture
def run(harness: Caller, reviewer: Caller) -> None:
    """``a`` is done, two branches have begun, the checkpoint is blocked."""
    new_run(reviewer, *STEPS, project="apollo")
    made = [{"artifact_id": "log", "type": "text/plain", "description": "The log", "ref": "out/log.txt"}]
    met = {"c1": "All 212 pass.", "c2": "2 ms"}
    report(harness, "a", "completed", criteria_met=met, metadata={"tokens": 1204}, artifacts=made)
    for paper in ("p0", "p1"):
        add_instance(harness, "p", metadata={"paper": paper})
    report(harness, "p/inst_00/x", "running")
    report(harness, "ok", "running", summary="Ready to look at.")


def page(client: Client, tab: str, /, **query: str) -> str:
    answered: HttpResponse = client.get(f"/runs/r1{tab}", query)
    assert answered.status_code == 200, answered.content[:500]
    return answered.content.decode()


def text_of(said: str) -> str:
    """Without the places where an id may break."""
    return said.replace("<wbr>", "")


def drawing(said: str) -> str:
    return said[said.index('<svg class="graph') : said.index("</section>", said.index('<svg class="graph'))]


def status(caller: Caller, step_id: str) -> str:
    return str(get_run(caller=caller, run_id="r1")["step_states"][step_id]["status"])


# -- What is told ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tab", TABS)
def test_every_view_is_read_by_everybody_and_writes_nothing(
    web_as: WebAs, vic: User, run: None, reviewer: Caller, tab: str
) -> None:
    propose(reviewer, insert_after("a", task("n")))
    before = AuditEntry.objects.count(), Run.objects.get().revision
    client = web_as(vic)
    assert "A plan" in page(client, tab)
    assert client.head(f"/runs/r1{tab}").status_code == 200
    assert (AuditEntry.objects.count(), Run.objects.get().revision) == before
    assert web_as(None).get(f"/runs/r1{tab}").status_code == 302
    assert client.post(f"/runs/r1{tab}").status_code == 405
    gone = client.get(f"/runs/nowhere{tab}")
    assert gone.status_code == 404
    assert "no run" in text_of(gone.content.decode())


def test_the_head_says_how_far_it_is_and_who_waits(web_as: WebAs, rita: User, vic: User, run: None) -> None:
    said = page(web_as(rita), "")
    assert "<b>1</b> of 6 done" in said
    assert "1 waits for you" in said
    assert "Waiting for you" in drawing(said)
    read = page(web_as(vic), "")
    assert "1 waits for a person" in read
    assert "Waiting for a person" in drawing(read)
    assert "for you" not in drawing(read)
    assert "/v1/runs/r1/events?since=" in said
    assert "apollo" in said


def test_a_step_shows_evidence_files_facts_reports_and_what_is_around_it(
    web_as: WebAs, rita: User, run: None, reviewer: Caller
) -> None:
    comment(reviewer, "log")
    said = text_of(page(web_as(rita), "", step="a"))
    panel = said[said.index('id="panel"') :]
    for told in (
        "Read <em>everything</em>",
        "2 of 2 met",
        "All 212 pass.",
        "The log",
        "/runs/r1/artifacts/log",
        "out/log.txt",
        "<dt>tokens</dt><dd>1204</dd>",
        "?step=p",
        "Mark as stale…",
    ):
        assert told in panel, told


def test_a_branch_and_a_construct_are_shown_too(web_as: WebAs, rita: User, run: None) -> None:
    client = web_as(rita)
    branch = text_of(page(client, "", step="p/inst_01"))
    assert "paper=p1" in branch
    assert "Read p1" in branch
    construct = text_of(page(client, "", step="p"))
    assert "Branches" in construct
    assert "?step=p/inst_01" in construct
    assert web_as(rita).get("/runs/r1", {"step": "p/inst_77"}).status_code == 404
    assert web_as(rita).get("/runs/r1", {"step": "//"}).status_code == 422


def test_the_panel_alone_comes_without_a_drawing(web_as: WebAs, rita: User, run: None) -> None:
    answered = web_as(rita).get("/runs/r1", {"step": "a"}, HTTP_HX_REQUEST="true", HTTP_HX_TARGET="panel")
    said = answered.content.decode()
    assert said.strip().startswith("<aside")
    assert "<html" not in said
    assert 'class="graph' not in said


def test_an_earlier_result_and_a_removed_step_are_told(web_as: WebAs, rita: User, reviewer: Caller) -> None:
    new_run(reviewer, task("a"), task("b"))
    report(reviewer, "a", "completed", summary="The first result.")
    amend(reviewer, replay("a"), kind="history_edit")
    amend(reviewer, remove("b"))
    client = web_as(rita)
    said = page(client, "", step="a")
    assert "Earlier results" in said
    assert "The first result." in said
    assert "An amendment took this step out" in page(client, "", step="b")
    amendments = text_of(page(client, "/amendments"))
    assert "edits history" in amendments
    assert "removes" in amendments


def test_the_table_and_the_reports_are_narrowed(web_as: WebAs, rita: User, run: None) -> None:
    client = web_as(rita)

    waiting = page(client, "/table", state="waiting")
    assert waiting.count("data-list-item") == 1
    assert 'data-row="ok"' in waiting
    assert 'data-row="p/inst_01"' in page(client, "/table", q="paper=p1")
    assert "Nothing here is like that" in page(client, "/table", q="nowhere", state="stale")
    assert page(client, "/table", page="99", state="nonsense").count("data-list-item") == 9
    below = page(client, "/reports", path="p")
    assert below.count("data-list-item") == 3
    assert "Reports at and below" in below


def test_reports_say_what_began_and_with_which_facts(web_as: WebAs, rita: User, run: None) -> None:
    said = text_of(page(web_as(rita), "/reports", path="p/inst_01"))
    assert "Begun" in said
    assert "<dt>paper</dt><dd>p1</dd>" in said
    assert "<dt>tokens</dt><dd>1204</dd>" in page(web_as(rita), "/reports", path="a")


def test_the_audit_of_a_run_says_how_each_step_stood(web_as: WebAs, rita: User, run: None) -> None:
    said = text_of(page(web_as(rita), "/audit"))
    row = said[: said.index('step=a"')].rpartition("<tr")[2]
    assert "Completed" in row
    assert "status_was" in said


def test_the_timeline_shows_waits_and_pauses(web_as: WebAs, rita: User, run: None, reviewer: Caller) -> None:
    propose(reviewer, insert_after("a", task("n")))
    said = page(web_as(rita), "/timeline")
    assert "Waited for a decision" in said
    assert "Paused for an amendment" in said
    assert 'data-row="p/inst_00/x"' in said
    only = page(web_as(rita), "/timeline", waits="1")
    assert 'data-row="ok"' in only
    assert 'data-row="a"' not in only


def test_questions_come_with_their_answers(
    web_as: WebAs, rita: User, run: None, harness: Caller, reviewer: Caller
) -> None:
    update(harness, "p/inst_00/x")
    question = asked(harness, "p/inst_01/x")
    assert "Answer it" in page(web_as(rita), "/questions")
    answer(reviewer, "p/inst_01/x", question, {"text": "Both of them"})
    said = page(web_as(rita), "/questions")
    assert "Both of them" in said
    assert "Answer it" not in said


@pytest.mark.parametrize("tab", [*TABS, "?step=a", "?step=l", "?step=l/inst_00/b"])
def test_what_a_harness_wrote_is_text(web_as: WebAs, rita: User, reviewer: Caller, tab: str) -> None:
    new_run(
        reviewer,
        task("a", goal=HOSTILE, criteria=[HOSTILE], harness=HOSTILE, inputs={HOSTILE: HOSTILE}, group="g"),
        loop("l", ["b"], exit_when=HOSTILE, instance_params=[{"name": "v"}]),
        task("b", goal="{{ v }}"),
        title=HOSTILE,
        project=HOSTILE,
        groups=[{"path": "g", "description": HOSTILE}],
    )
    made = [{"type": HOSTILE, "description": HOSTILE, "ref": "javascript:alert(1)"}]
    report(reviewer, "a", "running", summary=HOSTILE, metadata={HOSTILE: {HOSTILE: HOSTILE}}, artifacts=made)
    update(reviewer, "a", criteria_met={"c1": HOSTILE})
    add_instance(reviewer, "l", metadata={"v": HOSTILE}, summary=HOSTILE)
    asked(reviewer, "l/inst_00/b", {"name": HOSTILE, "label": HOSTILE, "hint": HOSTILE, "required": True})
    Question.objects.update(text=HOSTILE)
    mark(reviewer, "a", HOSTILE)
    propose(reviewer, insert_after("a", task("n", goal=HOSTILE)), reason=HOSTILE, proposed_by=HOSTILE)
    path, _, query = tab.partition("?step=")
    said = page(web_as(rita), path, **({"step": query} if query else {}))
    assert "alert(1)</script>" not in said
    assert 'href="javascript' not in said


# -- What is decided ---------------------------------------------------------------------------------


def test_a_checkpoint_is_approved_with_what_it_asks_for(
    web_as: WebAs, rita: User, run: None, reviewer: Caller
) -> None:
    client = web_as(rita)
    assert 'name="field:grade"' in page(client, "", step="ok")
    done = client.post(
        "/runs/r1/resolve/ok",
        {"form": "resolve:", "decision": "approved", "field:grade": "A\r\nwith honours", "note": ""},
    )
    assert (done.status_code, done["Location"]) == (303, "/runs/r1?step=ok")
    state = get_run(caller=reviewer, run_id="r1")["step_states"]["ok"]
    assert (state["status"], state["checkpoint"]["response"]) == ("completed", {"grade": "A\nwith honours"})
    assert (state["checkpoint"]["decided_by"], state["checkpoint"]["via"]) == ("rita", "web")
    said = page(client, "", step="ok")
    assert "with honours" in said
    assert "Approved. The harness may go on." in said


def test_a_refusal_keeps_what_was_written_and_changes_nothing(
    web_as: WebAs, rita: User, run: None, reviewer: Caller
) -> None:
    entries = AuditEntry.objects.count()
    refused = web_as(rita).post(
        "/runs/r1/resolve/ok",
        {"form": "resolve:", "decision": "rejected", "field:grade": "Half written", "note": " "},
    )
    said = refused.content.decode()
    assert refused.status_code == 422
    assert "needs a note saying why" in said
    assert "Half written</textarea>" in said
    assert (status(reviewer, "ok"), AuditEntry.objects.count()) == ("blocked", entries)
    odd = web_as(rita).post("/runs/r1/resolve/ok", {"decision": "perhaps"})
    assert odd.status_code == 422
    assert status(reviewer, "ok") == "blocked"


def test_whoever_comes_second_is_told_who_decided_and_keeps_their_words(
    web_as: WebAs, owner: User, run: None, reviewer: Caller
) -> None:
    resolve(reviewer, "ok", response={"grade": "B"})
    refused = web_as(owner).post(
        "/runs/r1/resolve/ok", {"form": "resolve:", "decision": "rejected", "note": "Not good enough"}
    )
    said = refused.content.decode()
    assert refused.status_code == 409
    assert "already been decided: approved by rita" in said.replace("&#x27;", "'")
    assert "Not good enough" in said
    assert status(reviewer, "ok") == "completed"


def test_a_question_is_answered_and_a_late_answer_says_who_was_first(
    web_as: WebAs, rita: User, owner: User, run: None, harness: Caller, reviewer: Caller
) -> None:
    question = asked(harness, "p/inst_01/x")
    client = web_as(rita)
    sent = {"form": f"answer:{question}", "question_id": question, "field:text": "The second one."}
    assert "Which?" in page(client, "", step="p/inst_01/x")
    done = client.post("/runs/r1/answer/p/inst_01/x", sent)
    assert (done.status_code, unquote(done["Location"])) == (303, "/runs/r1?step=p/inst_01/x")
    assert Question.objects.get().response == {"text": "The second one."}
    late = web_as(owner).post("/runs/r1/answer/p/inst_01/x", sent | {"field:text": "The first one."})
    assert late.status_code == 409
    assert "was answered by rita" in late.content.decode()
    assert "The first one." in late.content.decode()
    assert Question.objects.get().response == {"text": "The second one."}


def test_a_question_with_fields_asks_for_each(web_as: WebAs, rita: User, run: None, harness: Caller) -> None:
    fields = [
        {"name": "a", "label": "First", "required": True},
        {"name": "b", "label": None, "required": False},
    ]
    question = asked(harness, "p/inst_01/x", *[{"hint": None} | field for field in fields])
    said = page(web_as(rita), "", step="p/inst_01/x")
    assert 'name="field:a"' in said
    assert 'name="field:b"' in said
    sent = {"form": f"answer:{question}", "question_id": question, "field:a": "1", "field:b": ""}
    assert web_as(rita).post("/runs/r1/answer/p/inst_01/x", sent).status_code == 303
    assert Question.objects.get().response == {"a": "1"}


def test_steps_and_branches_are_marked_as_stale_and_count_again(
    web_as: WebAs, rita: User, run: None, reviewer: Caller
) -> None:
    client = web_as(rita)
    refused = client.post("/runs/r1/stale/a", {"form": "stale", "reason": " "})
    assert refused.status_code == 422
    assert "a mark needs a reason" in refused.content.decode()
    assert client.post("/runs/r1/stale/a", {"form": "stale", "reason": "Old edition"}).status_code == 303
    assert client.post("/runs/r1/stale/p/inst_01", {"form": "stale", "reason": "Doubled"}).status_code == 303
    assert StepState.objects.get(step_id="a").stale["reason"] == "Old edition"  # type: ignore[index]
    assert StepInstance.objects.get(instance_id="inst_01").stale["reason"] == "Doubled"  # type: ignore[index]
    assert "Old edition" in page(client, "", step="a")
    assert page(client, "/table", state="stale").count("data-list-item") == 2
    assert client.post("/runs/r1/stale/a", {"form": "stale", "clear": "1"}).status_code == 303
    assert StepState.objects.get(step_id="a").stale is None


def test_a_run_is_cancelled_after_saying_what_that_does(
    web_as: WebAs, rita: User, run: None, reviewer: Caller
) -> None:
    client = web_as(rita)
    said = page(client, "/cancel")
    assert "5 unfinished steps are skipped" in said
    assert "1 finished step" in said
    assert client.post("/runs/r1/cancel/do", {"reason": "The data set was withdrawn."}).status_code == 303
    assert status(reviewer, "ok") == "skipped"
    after = page(client, "")
    assert "Cancelled by rita" in after
    assert "The data set was withdrawn." in after
    assert "Cancel run…" not in after
    again = client.post("/runs/r1/cancel/do", {"form": "cancel", "reason": "Once more"})
    assert again.status_code == 409
    assert "Once more</textarea>" in again.content.decode()


def test_a_failed_run_is_left_failed(web_as: WebAs, rita: User, harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a"))
    report(harness, "a", "failed", summary="It broke.")
    client = web_as(rita)
    said = page(client, "")
    assert "Leave it failed" in said
    assert client.post("/runs/r1/acknowledge").status_code == 303
    after = page(client, "")
    assert "Left failed by rita" in after
    assert "Leave it failed" not in after
    assert client.post("/runs/r1/acknowledge").status_code == 409


def test_a_viewer_reads_and_is_offered_no_decision(
    web_as: WebAs, vic: User, run: None, reviewer: Caller
) -> None:
    client = web_as(vic)
    said = page(client, "", step="ok")
    assert "Deciding takes a reviewer" in said
    assert "/runs/r1/resolve/ok" not in said.split("Deciding takes")[1]
    assert "btn--primary" not in said
    entries = AuditEntry.objects.count()
    for path, sent in (
        ("resolve/ok", {"decision": "approved", "field:grade": "A"}),
        ("stale/a", {"reason": "x"}),
        ("cancel/do", {}),
        ("acknowledge", {}),
    ):
        refused = client.post(f"/runs/r1/{path}", sent)
        assert refused.status_code == 403, path
        assert "may not" in refused.content.decode()
    assert AuditEntry.objects.count() == entries
    assert status(reviewer, "ok") == "blocked"


def test_an_acknowledged_run_says_so_to_whoever_was_late(
    web_as: WebAs, owner: User, harness: Caller, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    report(harness, "a", "failed")
    acknowledge(reviewer)
    refused = web_as(owner).post("/runs/r1/acknowledge")
    assert refused.status_code == 409


# -- What it costs -----------------------------------------------------------------------------------


def statements(client: Client, path: str) -> int:
    client.get(path)  # plans, sessions and layouts are known from here on
    with CaptureQueriesContext(connection) as caught:
        assert client.get(path).status_code == 200
    return len(caught)


@pytest.mark.parametrize("tab", [*TABS, "?step=p", "?step=p/inst_03", "?step=p/inst_03/x"])
def test_a_view_costs_the_same_however_many_branches(web_as: WebAs, vic: User, tab: str) -> None:
    found = []
    for count in (20, 200):
        made = run_row(*STEPS, run_id=f"r{count}", workflow_id=f"w{count}")
        instance_rows(made, StepState.objects.get(run=made, step_id="p"), count)
        found.append(statements(web_as(vic), f"/runs/r{count}{tab}"))
    assert found[0] == found[1]
    assert found[0] <= 70


def test_a_run_of_a_thousand_steps_stays_a_small_page(web_as: WebAs, vic: User, reviewer: Caller) -> None:
    names = [f"align_{number:04d}" for number in range(1000)]
    steps = [task(name, depends_on=["index"], goal=f"Align part {name} to the reference") for name in names]
    new_run(reviewer, task("index"), *steps, task("merge", depends_on=names))
    report(reviewer, "index", "completed")
    client = web_as(vic)
    for tab in TABS:
        assert len(page(client, tab)) < 1_000_000, tab
    assert "of 1002 done" in page(client, "").replace(",", "")


def test_long_metadata_is_cut_where_it_is_shown_and_left_to_the_api(
    web_as: WebAs, vic: User, reviewer: Caller
) -> None:
    new_run(reviewer, *(task(f"t{number}") for number in range(60)))
    long = {"note": "n" * 20_000, "k" * 5000: True, "deep": {"a": {"b": 1}}, "many": list(range(9))}
    for number in range(60):
        report(reviewer, f"t{number}", "running", metadata=long)
    client = web_as(vic)
    for tab in ("", "/table", "/reports"):
        assert len(page(client, tab)) < 1_000_000, tab
    panel = page(client, "", step="t1")
    assert f"<dd>{'n' * 120}…</dd>" in panel
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8" in panel
    report(reviewer, "t2", metadata={"note": "n" * 50_000})
    assert "Too long for a page" in page(client, "", step="t2")


def test_the_panel_alone_reads_no_tree(web_as: WebAs, vic: User) -> None:
    made = run_row(*STEPS)
    instance_rows(made, StepState.objects.get(run=made, step_id="p"), 50)
    client = web_as(vic)
    whole = statements(client, "/runs/r1?step=a")
    with CaptureQueriesContext(connection) as caught:
        client.get("/runs/r1?step=a", HTTP_HX_REQUEST="true", HTTP_HX_TARGET="panel")
    assert len(caught) <= whole - 12


def test_turning_the_pages_of_a_list_keeps_it_narrowed_down(
    web_as: WebAs, vic: User, reviewer: Caller
) -> None:
    new_run(reviewer, "a", "b")
    for step in ("a", "b"):
        made = [{"artifact_id": f"{step}{number}", "type": f"log-{step}", "ref": "x"} for number in range(51)]
        report(reviewer, step, "running", artifacts=made)
        for _ in range(50):
            report(reviewer, step)
    client = web_as(vic)
    for tab, narrowed, other in (
        ("/artifacts", {"q": "log-a"}, 'data-row="b'),
        ("/reports", {"path": "a"}, "?step=b#panel"),
    ):
        first = page(client, tab, **narrowed)
        older = html.unescape(re.findall(r'rel="next" href="([^"]+)"', first)[0])
        second = client.get(older).content.decode()
        assert second.count("data-list-item") == 1
        newest = html.unescape(re.findall(r'href="([^"]+)">Newest<', second)[0])
        again = client.get(newest).content.decode()
        assert again.count("data-list-item") == 50
        assert other not in first + second + again


@pytest.mark.parametrize(
    "query",
    [
        "?step=%00",
        "?step=a%00",
        "?step=" + "a/" * 200 + "a",
        "?open=" + "x" * 3000,
        "/table?q=%00&page=-1",
        "/table?q=%25_%27%22&state=%3Cscript%3E",
        "/table?page=99999999999999999999",
        "/reports?cursor=nonsense",
        "/reports?cursor=",
        "/reports?path=%00a",
        "/artifacts?q=%00%F0%9F%98%80",
        "/timeline?waits=%27",
    ],
)
def test_odd_addresses_are_answered(web_as: WebAs, vic: User, run: None, query: str) -> None:
    answered = web_as(vic).get(f"/runs/r1{query}")
    assert answered.status_code in (200, 404, 422)
