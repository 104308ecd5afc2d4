"""A run as people look at it: its head, timeline, table and single places, in a fixed number of statements."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Paging
from runs.domain.board import waited
from runs.models import Run, StepState
from runs.selectors.board import PAGE, get_board, get_run_head, get_table, get_timeline
from runs.selectors.kept import list_artifacts, list_questions
from runs.selectors.places import get_place
from runs.selectors.runs import list_updates
from tests.amendments import amend, remove, replay
from tests.plans import checkpoint, loop, parallel, task
from tests.run_calls import answer, asked, comment, mark, resolve, update, update_instance
from tests.run_rows import THEN, instance_rows, run_row
from tests.runs import add_instance, new_run, report

pytestmark = pytest.mark.django_db

STEPS = [
    task("a", criteria=["It works", "It is fast"]),
    parallel("p", ["x", "y"], instance_params=[{"name": "paper"}], depends_on=["a"]),
    task("x", goal="Read {{ paper }}"),
    task("y", depends_on=["x"]),
    checkpoint("ok", depends_on=["p"], fields=[{"name": "grade"}]),
]


def a_run(caller: Caller, branches: int = 2) -> None:
    """``a`` done with evidence, branches of which the first asked something and goes on, the checkpoint pending."""
    new_run(caller, *STEPS)
    report(
        caller,
        "a",
        "completed",
        criteria_met={"c1": "Yes", "c2": "Very"},
        metadata={"tokens": 12},
        artifacts=[{"type": "text", "ref": "a.txt"}],
    )
    for number in range(branches):
        add_instance(caller, "p", metadata={"paper": f"p{number}"})
    question = asked(caller, "p/inst_00/x")
    answer(caller, "p/inst_00/x", question)


def paths(rows: Any) -> list[str]:
    return ["/".join(row.node.path) for row in rows]


def statements(act: Any) -> int:
    with CaptureQueriesContext(connection) as caught:
        act()
    return len(caught)


# -- The head ----------------------------------------------------------------------------------------


def test_the_head_counts_steps_and_says_who_began(reviewer: Caller, viewer: Caller) -> None:
    a_run(reviewer)
    report(reviewer, "ok", "running")
    head = get_run_head(caller=viewer, run_id="r1")
    assert head.counts == {"completed": 1, "running": 1, "pending": 3, "waiting": 1}
    assert (head.done, head.unfinished, head.total, head.rows) == (1, 5, 6, 9)
    assert (head.by, head.reports, head.artifacts, head.questions) == ("rita", 5, 1, 1)
    assert head.run["status"] == "waiting_on_human"
    assert "step_states" not in head.run
    assert sorted(span.cause for span in head.spans) == ["checkpoint", "question"]
    with pytest.raises(NotFound, match="no run 'r9'"):
        get_run_head(caller=viewer, run_id="r9")


def test_what_an_amendment_took_out_does_not_count(reviewer: Caller) -> None:
    new_run(reviewer, task("a"), task("b"))
    amend(reviewer, remove("b"))
    head = get_run_head(caller=reviewer, run_id="r1")
    assert (head.total, head.rows) == (1, 2)
    assert len(head.run["applied_amendment_ids"]) == 1


def test_the_head_says_when_it_ended(reviewer: Caller) -> None:
    new_run(reviewer, task("a"))
    assert get_run_head(caller=reviewer, run_id="r1").ended_at is None
    report(reviewer, "a", "completed")
    head = get_run_head(caller=reviewer, run_id="r1")
    assert head.ended_at == get_board(caller=reviewer, run_id="r1")[0].completed_at
    new_run(reviewer, task("a"), run_id="r2")
    cancel_run(caller=reviewer, run_id="r2")
    cancelled = get_run_head(caller=reviewer, run_id="r2")
    assert cancelled.ended_at == cancelled.run["updated_at"]


# -- The table ---------------------------------------------------------------------------------------


def test_the_table_lists_everything_flat_with_evidence_files_and_facts(reviewer: Caller) -> None:
    a_run(reviewer)
    table = get_table(caller=reviewer, run_id="r1")
    assert paths(table.rows) == [
        "a",
        "p",
        "p/inst_00",
        "p/inst_00/x",
        "p/inst_00/y",
        "p/inst_01",
        "p/inst_01/x",
        "p/inst_01/y",
        "ok",
    ]
    first = table.rows[0]
    assert (first.met, first.criteria, first.files, first.facts) == (2, 2, 1, {"tokens": 12})
    assert table.rows[2].facts == {"paper": "p0"}
    assert table.rows[3].node.goal == "Read p0"
    assert (table.total, table.found, table.pages) == (9, 9, 1)
    assert table.counts == {"completed": 1, "running": 3, "pending": 5}


def test_the_table_is_narrowed_by_state_mark_and_text(reviewer: Caller) -> None:
    a_run(reviewer)
    report(reviewer, "ok", "running")
    mark(reviewer, "p/inst_01/x", "Wrong edition")

    def found(**wanted: Any) -> list[str]:
        return paths(get_table(caller=reviewer, run_id="r1", **wanted).rows)

    assert found(state="waiting") == ["ok"]
    assert found(state="completed") == ["a"]
    assert found(stale=True) == ["p/inst_01/x"]
    assert found(q="PAPER=P1") == ["p/inst_01", "p/inst_01/x", "p/inst_01/y"]
    assert found(q="tokens") == ["a"]
    assert found(q="inst_00/y") == ["p/inst_00/y"]
    assert found(q="look at ok") == ["ok"]
    assert found(q="nowhere") == []
    assert get_table(caller=reviewer, run_id="r1", q="nowhere").total == 9


def test_a_branch_of_one_step_is_its_steps_row_with_the_branchs_facts(reviewer: Caller) -> None:
    new_run(reviewer, parallel("p", ["x"], instance_params=[{"name": "ref"}]), task("x"))
    add_instance(reviewer, "p", metadata={"ref": "10.1145"})
    update(reviewer, "p/inst_00/x", "running", metadata={"page": 3})
    mark(reviewer, "p/inst_00", "Doubled")
    table = get_table(caller=reviewer, run_id="r1")
    assert paths(table.rows) == ["p", "p/inst_00/x"]
    assert table.rows[1].facts == {"ref": "10.1145", "page": 3}
    assert table.rows[1].stale is not None
    assert table.stale == 1
    assert paths(get_table(caller=reviewer, run_id="r1", q="10.1145").rows) == ["p/inst_00/x"]


def big_run(count: int) -> Run:
    run = run_row(*STEPS)
    instance_rows(run, StepState.objects.get(run=run, step_id="p"), count)
    return run


@pytest.mark.parametrize("count", [10, 400])
def test_every_view_costs_the_same_however_many_branches(viewer: Caller, count: int) -> None:
    big_run(count)
    get_board(caller=viewer, run_id="r1")  # the plan is cached from here on
    assert statements(lambda: get_run_head(caller=viewer, run_id="r1")) == 9
    assert statements(lambda: get_board(caller=viewer, run_id="r1")) == 5
    assert statements(lambda: get_timeline(caller=viewer, run_id="r1")) == 5
    assert statements(lambda: get_timeline(caller=viewer, run_id="r1", since=THEN, until=THEN)) == 5
    assert statements(lambda: get_table(caller=viewer, run_id="r1")) == 7
    assert statements(lambda: get_table(caller=viewer, run_id="r1", q="x")) <= 9
    assert statements(lambda: get_place(caller=viewer, run_id="r1", path=("p",))) <= 18


def test_a_place_says_that_a_person_is_waited_for_in_it_however_deep(
    reviewer: Caller, viewer: Caller
) -> None:
    new_run(
        reviewer,
        task("a"),
        parallel("p", ["l"], depends_on=["a"]),
        loop("l", ["x"]),
        task("x"),
        task("z", depends_on=["p"]),
    )
    for path in ("p", "p", "p/inst_00/l", "p/inst_01/l"):
        add_instance(reviewer, path)
    asked(reviewer, "p/inst_01/l/inst_00/x")
    report(reviewer, "p/inst_00/l/inst_00/x", "running")

    def seen(*path: str) -> Any:
        return get_place(caller=viewer, run_id="r1", path=path)

    outer = seen("p")
    assert outer.waiting
    assert [each.look for each in outer.members] == ["running", "waiting"]
    assert (outer.tally["running"], outer.tally["blocked"]) == (1, 1)
    assert [each.look for each in seen("z").needs] == ["waiting"]
    assert [each.look for each in seen("p", "inst_01").members] == ["waiting"]
    assert not seen("p", "inst_00").waiting
    assert [each.look for each in seen("p", "inst_01", "l", "inst_00").members] == ["blocked"]


def test_a_long_table_comes_in_pages(viewer: Caller) -> None:
    big_run(100)
    first = get_table(caller=viewer, run_id="r1")
    assert (len(first.rows), first.pages, first.found) == (PAGE, 2, 303)
    last = get_table(caller=viewer, run_id="r1", page=9)
    assert (len(last.rows), last.page) == (303 - PAGE, 2)
    assert paths(last.rows)[-1] == "ok"


# -- The timeline ------------------------------------------------------------------------------------


def test_the_timeline_says_when_a_person_was_waited_for(reviewer: Caller) -> None:
    a_run(reviewer)
    report(reviewer, "ok", "running")
    resolve(reviewer, "ok", response={"grade": "A"})
    spans = {
        "/".join(row.node.path): row.node.spans
        for row in get_timeline(caller=reviewer, run_id="r1").rows
        if row.node
    }
    (asking,), (deciding,) = spans["p/inst_00/x"], spans["ok"]
    assert asking.until is not None
    assert deciding.until is not None
    assert (asking.cause, deciding.cause) == ("question", "checkpoint")
    assert spans["a"] == []
    only = get_timeline(caller=reviewer, run_id="r1", waits_only=True)
    assert paths(row for row in only.rows if row.node) == ["p", "p/inst_00", "p/inst_00/x", "ok"]


def test_of_a_part_of_the_time_it_counts_what_is_outside(reviewer: Caller) -> None:
    a_run(reviewer)
    began = StepState.objects.get(step_id="x", instance__instance_id="inst_00").started_at
    assert began is not None
    StepState.objects.filter(step_id="a").update(
        started_at=began - timedelta(hours=2), completed_at=began - timedelta(hours=1)
    )
    whole = get_timeline(caller=reviewer, run_id="r1")
    assert (whole.others, whole.going) == (0, True)
    early = get_timeline(caller=reviewer, run_id="r1", until=began - timedelta(minutes=90))
    assert paths(early.rows) == ["a"]
    assert (early.others, early.going) == (len(whole.rows) - 1, True)
    assert early.last == whole.last == began - timedelta(hours=1)
    late = get_timeline(caller=reviewer, run_id="r1", since=began - timedelta(minutes=30))
    assert "a" not in paths(late.rows)
    assert "ok" in paths(late.rows), "what is still to come"


def test_a_question_that_was_closed_was_waited_for_until_then(reviewer: Caller) -> None:
    new_run(reviewer, task("a"))
    asked(reviewer, "a")
    cancel_run(caller=reviewer, run_id="r1")
    (span,) = get_run_head(caller=reviewer, run_id="r1").spans
    assert span.until is not None
    assert waited([span], now=span.since) == span.until - span.since


# -- One place ---------------------------------------------------------------------------------------


def test_a_place_has_what_hangs_on_it_and_what_is_around_it(reviewer: Caller, viewer: Caller) -> None:
    a_run(reviewer)
    place = get_place(caller=viewer, run_id="r1", path=("p", "inst_00", "x"))
    assert (place.kind, place.goal, place.brought) == ("step", "Read p0", {"paper": "p0"})
    assert place.state["status"] == "running"
    assert [question["response"] for question in place.state["questions"]] == [{"text": "this one"}]
    assert ([each.name for each in place.needs], [each.name for each in place.then]) == ([], ["y"])
    assert place.before is None
    assert place.after is not None
    assert place.after.path == ("p", "inst_00", "y")
    assert (place.reported, place.reports[0]["payload"]["status"]) == (1, "running")


def test_a_construct_shows_its_instances_and_an_instance_its_steps(reviewer: Caller) -> None:
    a_run(reviewer, branches=30)
    report(reviewer, "p/inst_29/x", "running")
    construct = get_place(caller=reviewer, run_id="r1", path=("p",))
    names = [each.name for each in construct.members]
    assert names == ["paper=p0", "paper=p29", "paper=p1", "paper=p2", "paper=p3", "paper=p4"]
    assert construct.tally["running"] == 2
    branch = get_place(caller=reviewer, run_id="r1", path=("p", "inst_29"))
    assert (branch.kind, branch.name, branch.type) == ("instance", "paper=p29", "branch")
    assert [(each.name, each.goal, each.status) for each in branch.members] == [
        ("x", "Read p29", "running"),
        ("y", "Do y", "pending"),
    ]
    assert branch.before is not None
    assert branch.before.path == ("p", "inst_28")
    assert branch.after is None


def test_a_few_instances_are_all_members_in_their_order(reviewer: Caller) -> None:
    a_run(reviewer, branches=12)
    report(reviewer, "p/inst_11/x", "running")
    construct = get_place(caller=reviewer, run_id="r1", path=("p",))
    assert [each.name for each in construct.members] == [f"paper=p{number}" for number in range(12)]


def test_a_skipped_step_says_why(reviewer: Caller) -> None:
    new_run(reviewer, task("a"), task("b", depends_on=["a"]), task("c"))
    report(reviewer, "a", "failed")
    assert "'a', which failed" in get_place(caller=reviewer, run_id="r1", path=("b",)).state["summary"]
    amendment = amend(reviewer, remove("c"))["amendment_id"]
    gone = get_place(caller=reviewer, run_id="r1", path=("c",))
    assert amendment in gone.state["summary"]
    assert (gone.step, gone.goal) == (None, "")


def test_a_replayed_step_keeps_its_old_result_as_history(reviewer: Caller) -> None:
    new_run(reviewer, task("a"), loop("l", ["x"]), task("x"))
    report(reviewer, "a", "completed", metadata={"try": 1})
    amend(reviewer, replay("a"), kind="history_edit")
    place = get_place(caller=reviewer, run_id="r1", path=("a",))
    assert (place.state["status"], place.state["metadata"]) == ("pending", {})
    assert [old["metadata"] for old in place.state["history"]] == [{"try": 1}]


def test_a_path_that_leads_nowhere_says_where_it_ends(reviewer: Caller) -> None:
    a_run(reviewer)
    with pytest.raises(NotFound, match="no instance 'inst_77'"):
        get_place(caller=reviewer, run_id="r1", path=("p", "inst_77"))
    with pytest.raises(NotFound, match="no run 'r9'"):
        get_place(caller=reviewer, run_id="r9", path=("p",))


def test_times_are_moments_whatever_the_database(viewer: Caller) -> None:
    run = big_run(1)
    StepState.objects.filter(run=run, step_id="a").update(
        status="completed", started_at=THEN, completed_at=THEN
    )
    assert get_board(caller=viewer, run_id="r1")[0].completed_at == THEN


# -- Questions and artifacts -------------------------------------------------------------------------


def test_every_question_is_listed_with_its_answer_and_its_place(reviewer: Caller, viewer: Caller) -> None:
    a_run(reviewer)
    update(reviewer, "p/inst_00/x", "completed")
    asked(reviewer, "p/inst_01/x")
    page = list_questions(caller=viewer, run_id="r1", paging=Paging())
    assert [(row["path"], row["goal"], row["response"]) for row in page.rows] == [
        ("p/inst_01/x", "Read p1", None),
        ("p/inst_00/x", "Read p0", {"text": "this one"}),
    ]
    (newest,) = list_questions(caller=viewer, run_id="r1", paging=Paging(limit=1)).rows
    assert newest["path"] == "p/inst_01/x"


def test_everything_produced_is_listed_with_its_place_and_found_by_its_name(
    reviewer: Caller, viewer: Caller
) -> None:
    a_run(reviewer)
    made = {"artifact_id": "chart", "type": "image/png", "description": "The Chart", "ref": "out/p0.png"}
    update(reviewer, "p/inst_00/x", artifacts=[made])
    comment(reviewer, "chart")
    update_instance(reviewer, "p/inst_01", artifacts=[{"type": "note", "data": {"n": 1}}])
    rows = list_artifacts(caller=viewer, run_id="r1", paging=Paging()).rows
    assert [(row["path"], row["type"], row["remarks"]) for row in rows] == [
        ("p/inst_01", "note", 0),
        ("p/inst_00/x", "image/png", 1),
        ("a", "text", 0),
    ]
    assert rows[1]["goal"] == "Read p0"
    found = list_artifacts(caller=viewer, run_id="r1", paging=Paging(), q="CHART").rows
    assert [row["artifact_id"] for row in found] == ["chart"]


@pytest.mark.parametrize("count", [2, 30])
def test_lists_cost_the_same_however_long(reviewer: Caller, count: int) -> None:
    a_run(reviewer, branches=count)
    for number in range(count):
        path = f"p/inst_{number:02d}"
        if number:
            answer(reviewer, f"{path}/x", asked(reviewer, f"{path}/x"))
        update_instance(reviewer, path, artifacts=[{"type": "note", "data": {"n": 1}}])
    assert statements(lambda: list_questions(caller=reviewer, run_id="r1", paging=Paging())) == 3
    assert statements(lambda: list_artifacts(caller=reviewer, run_id="r1", paging=Paging())) == 4


def test_reports_come_newest_first_when_asked(reviewer: Caller) -> None:
    a_run(reviewer)
    ways = [
        [row["number"] for row in list_updates(caller=reviewer, run_id="r1", paging=Paging(), **way).rows]
        for way in ({}, {"newest_first": True})
    ]
    assert ways[0] == ways[1][::-1] == [1, 2, 3, 4]
