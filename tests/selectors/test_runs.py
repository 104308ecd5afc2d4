"""Reads of runs: the documents of contract 3, in a fixed number of statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.shared.wire.rendering import dumps
from runs.models import (
    AppliedAmendment,
    Artifact,
    ArtifactComment,
    Question,
    Run,
    Snapshot,
    StepInstance,
    StepState,
)
from runs.selectors.next import get_next
from runs.selectors.runs import get_run, get_run_definition, list_runs, list_updates, run_revision
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.resolve_checkpoint import resolve_checkpoint
from runs.services.withdraw_question import withdraw_question
from tests.plans import checkpoint, loop, parallel, task
from tests.run_rows import THEN, instance_rows, run_row, state_row
from tests.runs import add_instance, new_run, report
from workflows.documents import StepDocument, plan_value
from workflows.mappers import save_plan

STATE_KEYS = {
    *("step_id", "status", "summary", "artifacts", "metadata", "started_at", "completed_at", "instances"),
    *(
        "instances_closed",
        "checkpoint",
        "criteria_met",
        "questions",
        "stale",
        "history",
        "skip_cause",
        "failures",
    ),
}
INSTANCE_KEYS = {
    *("instance_id", "parent_step_id", "kind", "index", "status", "summary", "artifacts", "metadata"),
    *("step_states", "started_at", "completed_at", "body", "stale", "history", "failures"),
}
RUN_KEYS = {
    *("run_id", "workflow_id", "base_version", "applied_amendment_ids", "status", "metadata", "step_states"),
    *("revision", "created_at", "updated_at", "last_report_at", "acknowledged", "cancelled"),
    *("pending_amendment_id", "title"),
}


@contextmanager
def statements(at_most: int) -> Iterator[CaptureQueriesContext]:
    with CaptureQueriesContext(connection) as caught:
        yield caught
    assert len(caught) <= at_most, "\n".join(query["sql"][:200] for query in caught.captured_queries)


def answered_rows(run: Run, states: list[StepState], *, each: int) -> None:
    """``each`` answered questions of every one of these states."""
    Question.objects.bulk_create(
        Question(
            run=run,
            state=state,
            question_id=f"{run.run_id}-{state.pk}-{number}",
            text=f"Question {number}: " + "q" * 200,
            asked_at=THEN,
            asked_actor="harness",
            response={"text": "r" * 400},
            answered_at=THEN,
            answered_by="ann",
            actor="ann",
            via="rest",
        )
        for state in states
        for number in range(each)
    )
    StepState.objects.filter(pk__in=[state.pk for state in states]).update(question_count=each)


def amended(run: Run, number: int, amendment_id: str, *steps: dict[str, Any]) -> None:
    """The run's plan becomes this one, as the ``number``-th amendment would leave it."""
    value = plan_value([StepDocument.model_validate(step) for step in steps], [])
    saved = save_plan(value, at=THEN)
    AppliedAmendment.objects.create(run=run, number=number, amendment_id=amendment_id, plan=saved)
    Run.objects.filter(pk=run.pk).update(plan=saved, amendments_applied=number)
    run.refresh_from_db()


# -- The whole tree ----------------------------------------------------------------------------------


def test_a_run_has_every_key_of_the_contract(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"), task("a"))
    add_instance(relay, "p")
    run = get_run(caller=relay, run_id="r1")
    assert run.keys() == RUN_KEYS
    assert run["step_states"]["p"].keys() == STATE_KEYS
    assert run["step_states"]["a"]["instances"] is None
    (instance,) = run["step_states"]["p"]["instances"]
    assert instance.keys() == INSTANCE_KEYS
    assert instance["parent_step_id"] == "p"
    assert instance["kind"] == "branch"
    assert instance["step_states"]["b"].keys() == STATE_KEYS


def test_steps_stand_in_plan_order_bodies_in_body_order_and_instances_by_index(relay: Caller) -> None:
    new_run(relay, task("z", depends_on=["m"]), loop("m", ["y", "x"]), task("x"), task("y"), task("a"))
    for index in (2, 0, 1):
        add_instance(relay, "m", index=index)
    states = get_run(caller=relay, run_id="r1")["step_states"]
    assert list(states) == ["z", "m", "a"]
    assert [one["index"] for one in states["m"]["instances"]] == [0, 1, 2]
    assert list(states["m"]["instances"][0]["step_states"]) == ["y", "x"]
    assert states["m"]["instances"][0]["body"] == ["y", "x"]


def test_a_skipped_step_says_which_failure_it_waits_for(relay: Caller) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b"]))
    report(relay, "a", "failed")
    states = get_run(caller=relay, run_id="r1")["step_states"]
    assert states["c"]["status"] == "skipped"
    assert states["c"]["skip_cause"] == "dependency"
    assert states["c"]["summary"] == "Skipped: it waits for 'a', which failed."


def test_a_skip_inside_an_instance_names_the_failure_of_that_instance(relay: Caller) -> None:
    new_run(
        relay,
        parallel("p", ["x", "y"], on_instance_failure="continue"),
        task("x"),
        task("y", depends_on=["x"]),
    )
    add_instance(relay, "p")
    add_instance(relay, "p")
    report(relay, "p/inst_01/x", "failed")
    first, second = get_run(caller=relay, run_id="r1")["step_states"]["p"]["instances"]
    assert second["step_states"]["y"]["summary"] == "Skipped: it waits for 'x', which failed."
    assert first["step_states"]["y"]["summary"] is None
    assert second["failures"] == 1


@pytest.mark.django_db
def test_a_removed_step_names_its_amendment_and_stands_behind_the_plan(viewer: Caller) -> None:
    run = run_row(task("a"), task("b"), task("c"))
    amended(run, 1, "amd_one", task("a"), task("c"), task("n"))
    amended(run, 2, "amd_two", task("c"), task("n"))
    StepState.objects.create(run=run, step_id="n", type="task")
    for step_id in ("a", "b"):
        state_row(run, step_id, status="skipped", skip_cause="removed", summary="What was reported")
    document = get_run(caller=viewer, run_id="r1")
    assert document["applied_amendment_ids"] == ["amd_one", "amd_two"]
    assert list(document["step_states"]) == ["c", "n", "a", "b"]
    assert document["step_states"]["a"]["summary"] == "Removed by amendment amd_two."
    assert document["step_states"]["b"]["summary"] == "Removed by amendment amd_one."


@pytest.mark.django_db
def test_a_cancelled_step_says_so(viewer: Caller) -> None:
    run = run_row(task("a"))
    state_row(run, "a", status="skipped", skip_cause="cancelled")
    assert (
        get_run(caller=viewer, run_id="r1")["step_states"]["a"]["summary"]
        == "Skipped: the run was cancelled."
    )


def test_artifacts_questions_and_comments_hang_on_their_step(relay: Caller, reviewer: Caller) -> None:
    new_run(relay, task("a"), task("b"))
    report(relay, "a", "running", artifacts=[{"artifact_id": "art", "type": "text/plain", "ref": "a.txt"}])
    ask_question(caller=relay, run_id="r1", path=("a",), question={"text": "Which?", "fields": []})
    for words in ("First.", "Second."):
        comment_on_artifact(caller=reviewer, run_id="r1", artifact_id="art", comment={"body": words})
    state = get_run(caller=relay, run_id="r1")["step_states"]["a"]
    (artifact,) = state["artifacts"]
    assert {key: artifact[key] for key in ("artifact_id", "type", "description", "ref", "data")} == {
        "artifact_id": "art",
        "type": "text/plain",
        "description": None,
        "ref": "a.txt",
        "data": None,
    }
    assert [said["body"] for said in artifact["comments"]] == ["First.", "Second."]
    assert {said["actor"] for said in artifact["comments"]} == {reviewer.actor}
    (question,) = state["questions"]
    assert question["text"] == "Which?"
    assert question["asked_actor"] == relay.actor
    assert question["response"] is None
    assert question["closed"] is None


@pytest.mark.django_db
def test_history_shows_the_result_as_it_stood_with_what_was_said_about_it_since(viewer: Caller) -> None:
    run = run_row(parallel("p", ["b"]), task("b"), task("a"))
    construct, plain = state_row(run, "p"), state_row(run, "a")
    (instance,) = instance_rows(run, construct, 1)
    for name in ("old", "inner"):
        old = Artifact.objects.create(
            run=run, artifact_id=name, type="text", ref="x", superseded=True, created_at=THEN
        )
        ArtifactComment.objects.create(
            artifact=old,
            comment_id=f"cmt_{name}",
            body=f"About {name}",
            author="rita",
            actor="rita",
            via="rest",
            created_at=THEN,
        )
    kept = {"step_id": "a", "status": "failed", "artifacts": [{"artifact_id": "old", "type": "text"}]}
    deep = {
        "step_id": "p",
        "instances": [{"step_states": {"b": {"artifacts": [{"artifact_id": "inner"}], "history": []}}}],
    }
    common = {"run": run, "superseded_at": THEN, "amendment_id": "amd_1"}
    Snapshot.objects.create(state=plain, document=kept, **common)
    Snapshot.objects.create(state=construct, document=deep, **common)
    Snapshot.objects.create(instance=instance, document={"instance_id": "inst_00"}, **common)
    states = get_run(caller=viewer, run_id="r1")["step_states"]
    (entry,) = states["a"]["history"]
    assert entry["status"] == "failed"
    assert entry["superseded_at"] == THEN
    assert entry["amendment_id"] == "amd_1"
    assert entry["artifacts"][0]["comments"][0]["body"] == "About old"
    below = states["p"]["history"][0]["instances"][0]["step_states"]["b"]
    assert below["artifacts"][0]["comments"][0]["body"] == "About inner"
    assert states["p"]["history"][0]["instances"][0]["parent_step_id"] == "p"
    (earlier,) = states["p"]["instances"][0]["history"]
    assert (earlier["amendment_id"], earlier["parent_step_id"]) == ("amd_1", "p")
    assert states["a"]["artifacts"] == []


@pytest.mark.django_db
def test_a_whole_tree_takes_as_many_statements_with_two_hundred_branches_as_with_two(viewer: Caller) -> None:
    counts = []
    for number, branches in enumerate((2, 200)):
        run = run_row(parallel("p", ["b", "c"]), task("b"), task("c"), run_id=f"r{number}")
        instance_rows(run, state_row(run, "p"), branches)
        for step_id in ("b", "c"):
            StepState.objects.filter(run=run, step_id=step_id).update(
                status="skipped", skip_cause="dependency"
            )
        with statements(at_most=12) as caught:
            document = get_run(caller=viewer, run_id=f"r{number}")
        counts.append(len(caught))
        assert len(document["step_states"]["p"]["instances"]) == branches
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_with_removals_and_an_unknown_plan_it_is_still_twelve_statements(viewer: Caller) -> None:
    run = run_row(task("a"), task("b"))
    amended(run, 1, "amd_one", task("a"))
    state_row(run, "b", status="skipped", skip_cause="removed")
    with statements(at_most=12):
        get_run(caller=viewer, run_id="r1")


@pytest.mark.django_db
def test_a_tree_sixty_four_constructs_deep_is_read_and_written_without_recursion(viewer: Caller) -> None:
    steps = [loop(f"l{number}", [f"l{number + 1}"]) for number in range(64)] + [task("l64")]
    run = run_row(*steps)
    inside: StepInstance | None = None
    for number in range(64):
        (inside,) = instance_rows(run, state_row(run, f"l{number}", inside), 1)
    state_row(run, "l64", inside, summary="The innermost.")
    with statements(at_most=12):
        document = get_run(caller=viewer, run_id="r1")
    assert b"The innermost." in dumps(document)
    here = document["step_states"]
    for number in range(64):
        here = here[f"l{number}"]["instances"][0]["step_states"]
    assert here["l64"]["summary"] == "The innermost."


def test_the_plan_comes_along_when_it_is_asked_for(relay: Caller) -> None:
    new_run(relay, task("a", group="g"), groups=[{"path": "g", "description": "A group"}])
    document = get_run(caller=relay, run_id="r1", include_plan=True)
    assert [step["id"] for step in document["plan"]["steps"]] == ["a"]
    assert document["plan"]["groups"] == [{"path": "g", "description": "A group"}]
    assert "plan" not in get_run(caller=relay, run_id="r1")


def test_an_unknown_run_is_not_found_by_name(relay: Caller) -> None:
    for read in (get_run, get_run_definition, get_next, run_revision):
        with pytest.raises(NotFound, match="nowhere"):
            read(caller=relay, run_id="nowhere")
    with pytest.raises(NotFound, match="nowhere"):
        list_updates(caller=relay, run_id="nowhere", paging=Paging())


def test_the_revision_is_read_in_one_statement(relay: Caller) -> None:
    new_run(relay, task("a"))
    before = run_revision(caller=relay, run_id="r1")
    report(relay, "a", "running")
    with statements(at_most=1):
        assert run_revision(caller=relay, run_id="r1") == before + 1


# -- The effective plan ------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_definition_is_the_plan_now_or_after_the_first_k_amendments(viewer: Caller) -> None:
    run = run_row(task("a"))
    amended(run, 1, "amd_one", task("a"), task("b"))
    amended(run, 2, "amd_two", task("b"))

    def ids(applied: int | None) -> tuple[list[str], list[str]]:
        document = get_run_definition(caller=viewer, run_id="r1", applied=applied)
        return [step["id"] for step in document["steps"]], document["applied_amendment_ids"]

    assert ids(None) == (["b"], ["amd_one", "amd_two"])
    assert ids(0) == (["a"], [])
    assert ids(1) == (["a", "b"], ["amd_one"])
    assert ids(2) == (["b"], ["amd_one", "amd_two"])
    document = get_run_definition(caller=viewer, run_id="r1")
    assert document["workflow_id"] == "w1"
    assert document["title"] == "Title of w1"
    assert document["base_version"] == 1
    with pytest.raises(ValidationFailed, match=r"out of range.*0 \(as registered\) to 2") as refused:
        ids(3)
    assert refused.value.details["most"] == 2


# -- Lists -------------------------------------------------------------------------------------------


def listed(caller: Caller, **wanted: Any) -> list[str]:
    paging = wanted.pop("paging", Paging())
    return [row["run_id"] for row in list_runs(caller=caller, paging=paging, **wanted).rows]


def test_runs_are_listed_newest_first_without_their_trees(relay: Caller) -> None:
    new_run(relay, task("a"), run_id="r1")
    new_run(relay, task("a"), run_id="r2")
    report(relay, "a", "completed", run_id="r1")
    page = list_runs(caller=relay, paging=Paging())
    assert [row["run_id"] for row in page.rows] == ["r2", "r1"]
    assert page.rows[0].keys() == RUN_KEYS - {"step_states"}
    assert listed(relay, status="completed") == ["r1"]
    assert listed(relay, workflow_id=page.rows[0]["workflow_id"]) == ["r2"]
    assert listed(relay, workflow_id="other") == []


def test_the_longest_silent_run_comes_first_when_lists_sort_by_the_last_report(relay: Caller) -> None:
    for name in ("r1", "r2", "r3"):
        new_run(relay, task("a"), run_id=name)
    report(relay, "a", "running", run_id="r1")
    assert listed(relay, sort="last_report_at") == ["r2", "r3", "r1"]


def test_a_run_is_found_by_its_id_and_by_its_workflow(relay: Caller) -> None:
    new_run(relay, task("a", goal="Measure the tides"), title="Harbour survey", run_id="spring-2")
    new_run(relay, task("a"), title="Something else", run_id="other")
    assert listed(relay, q="harb") == ["spring-2"]
    assert listed(relay, q="tide") == ["spring-2"]
    assert listed(relay, q="spring") == ["spring-2"]
    assert listed(relay, q="arbour") == []


def test_pages_follow_each_other_in_either_order(relay: Caller) -> None:
    for name in ("r1", "r2", "r3"):
        new_run(relay, task("a"), run_id=name)
    for sort, order in (("created_at", ["r3", "r2", "r1"]), ("last_report_at", ["r1", "r2", "r3"])):
        first = list_runs(caller=relay, paging=Paging(limit=2), sort=sort)
        assert first.next_cursor is not None
        second = list_runs(caller=relay, paging=Paging(limit=2, cursor=first.next_cursor), sort=sort)
        assert [row["run_id"] for row in first.rows + second.rows] == order


@pytest.mark.django_db
def test_expanded_trees_are_read_together_whatever_the_number_of_runs(viewer: Caller) -> None:
    counts = []
    for total in (2, 12):
        for number in range(Run.objects.count(), total):
            run = run_row(parallel("p", ["b"]), task("b"), run_id=f"r{number}", workflow_id=f"w{number}")
            instance_rows(run, state_row(run, "p"), 2)
        with CaptureQueriesContext(connection) as caught:
            page = list_runs(caller=viewer, paging=Paging(), expand_step_states=True)
        counts.append(len(caught))
        assert [len(row["step_states"]["p"]["instances"]) for row in page.rows] == [2] * total
    assert counts[0] == counts[1] <= 12


# -- The report log ----------------------------------------------------------------------------------


def test_every_report_is_kept_whole_and_in_order(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"), task("a"))
    add_instance(relay, "p", metadata={"k": 1})
    report(relay, "a", "running", metadata={"n": 1})
    report(relay, "p/inst_00/b", "completed")
    page = list_updates(caller=relay, run_id="r1", paging=Paging())
    assert [row["path"] for row in page.rows if row["path"] != "p"][-2:] == ["a", "p/inst_00/b"]
    assert [row["number"] for row in page.rows] == sorted(row["number"] for row in page.rows)
    (about_a,) = [row for row in page.rows if row["path"] == "a"]
    assert about_a["payload"] == {"summary": "a is running", "status": "running", "metadata": {"n": 1}}
    assert about_a.keys() == {"number", "at", "kind", "path", "payload", "actor", "via"}
    assert about_a["actor"] == relay.actor


def test_reports_of_a_path_are_those_at_it_and_below_and_no_others(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"), task("P"), task("p2"), task("quiet"))
    add_instance(relay, "p")
    for path in ("p/inst_00/b", "P", "p2"):
        report(relay, path, "running")

    def of(*path: str) -> set[str]:
        return {
            row["path"] for row in list_updates(caller=relay, run_id="r1", path=path, paging=Paging()).rows
        }

    assert "p/inst_00/b" in of("p")
    assert of("p") <= {"p", "p/inst_00", "p/inst_00/b"}
    assert of("P") == {"P"}
    assert of("p", "inst_00", "b") == {"p/inst_00/b"}
    assert of("quiet") == set()
    with pytest.raises(NotFound, match="inst_07"):
        of("p", "inst_07")


# -- What is next ------------------------------------------------------------------------------------


def nexts(caller: Caller, **wanted: Any) -> dict[str, Any]:
    return get_next(caller=caller, run_id="r1", **wanted)


def place(path: str, **known: Any) -> dict[str, Any]:
    """A place where a step is ready or running, and where nobody said anything yet."""
    nothing: dict[str, Any] = {"unanswered": [], "answers": [], "more_answers": 0, "decisions": []}
    return {"path": path, "parameters": {}} | nothing | known


def ask(caller: Caller, step_id: str, text: str) -> str:
    """The id of a question that is open now."""
    answer = ask_question(caller=caller, run_id="r1", path=(step_id,), question={"text": text, "fields": []})
    question_id: str = answer.minimal["state"]["questions"][-1]["question_id"]
    return question_id


def ask_and_answer(caller: Caller, step_id: str, text: str, response: str) -> None:
    """The step is running before and after."""
    answer = {"question_id": ask(caller, step_id, text), "response": {"text": response}, "answered_by": "ann"}
    answer_question(caller=caller, run_id="r1", path=(step_id,), answer=answer)


def decide(caller: Caller, path: str, decision: str, **keys: Any) -> None:
    """Report that the checkpoint is reached, and decide it."""
    report(caller, path, "running")
    resolution = {"decision": decision, "response": {}, "note": None, "decided_by": "ann"} | keys
    resolve_checkpoint(caller=caller, run_id="r1", path=tuple(path.split("/")), resolution=resolution)


def test_a_ready_step_comes_with_what_is_needed_to_do_it(relay: Caller) -> None:
    new_run(
        relay,
        task("a", criteria=["First", "Second"], inputs={"file": "x"}, goal="Do it well"),
        task("b", depends_on=["a"]),
    )
    report(relay, "a", "running", criteria_met={"c2": "Seen."})
    found = nexts(relay)
    (entry,) = found["ready"]
    assert entry["path"] == "a"
    assert entry["status"] == "running"
    assert entry["goal"] == "Do it well"
    assert entry["inputs"] == {"file": "x"}
    assert entry["criteria"] == [{"id": "c1", "text": "First"}, {"id": "c2", "text": "Second"}]
    assert entry["places"] == [place("a", unanswered=["c1"])]
    assert found["counts"]["waiting"] == 1
    assert found["run_status"] == "running"
    assert not found["done"]


def test_after_a_step_completes_its_dependents_are_ready(relay: Caller) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]))
    report(relay, "a", "completed")
    assert [entry["path"] for entry in nexts(relay)["ready"]] == ["b"]
    report(relay, "b", "completed")
    found = nexts(relay)
    assert found["done"]
    assert found["ready"] == []
    assert "completed" in found["hint"]


def test_a_construct_says_what_an_instance_needs_and_when_it_may_be_closed(relay: Caller) -> None:
    new_run(
        relay,
        loop("l", ["b"], instance_params=[{"name": "chapter"}], exit_when="All are done"),
        task("b"),
    )
    (entry,) = nexts(relay)["constructs"]
    assert entry["instance_params"] == [{"name": "chapter", "description": None, "required": True}]
    assert entry["exit_when"] == "All are done"
    assert entry["places"][0] == {
        "path": "l",
        "parameters": {},
        "next_index": 0,
        "registered": 0,
        "open": 0,
        "all_done": False,
        "decisions": [],
    }
    add_instance(relay, "l", metadata={"chapter": "one", "extra": 1})
    found = nexts(relay)
    assert found["constructs"][0]["places"][0]["open"] == 1
    assert found["constructs"][0]["places"][0]["next_index"] == 1
    assert found["ready"][0]["path"] == "l/*/b"
    assert found["ready"][0]["places"] == [place("l/inst_00/b", parameters={"chapter": "one"})]
    report(relay, "l/inst_00/b", "completed")
    (entry,) = nexts(relay)["constructs"]
    assert entry["places"][0]["all_done"]
    assert "close" in entry["hint"].lower()
    report(relay, "l", instances_closed=True)
    assert nexts(relay)["done"]


def test_a_running_step_comes_with_what_its_questions_were_answered(relay: Caller) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    ask_and_answer(relay, "a", "Which dataset?", "The second.")
    withdrawal = {"question_id": ask(relay, "a", "And which year?"), "reason": "Found it."}
    assert nexts(relay)["ready"] == []
    withdraw_question(caller=relay, run_id="r1", path=("a",), withdrawal=withdrawal)
    (found,) = nexts(relay)["ready"][0]["places"]
    answered, closed = found["answers"]
    assert found["more_answers"] == 0
    assert answered["text"] == "Which dataset?"
    assert answered["response"] == {"text": "The second."}
    assert answered["answered_by"] == "ann"
    assert answered["answered_at"] is not None
    assert answered["closed"] is None
    assert closed["question_id"] == withdrawal["question_id"]
    assert closed["response"] is closed["answered_by"] is closed["answered_at"] is None
    assert closed["closed"]["reason"] == "Found it."
    ask(relay, "a", "And now?")
    assert nexts(relay)["blocked"][0]["places"][0]["question"]["text"] == "And now?"


def test_the_newest_answers_are_shown_and_the_older_ones_counted(relay: Caller) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    for number in range(7):
        ask_and_answer(relay, "a", f"Question {number}", f"Answer {number}")
    (found,) = nexts(relay)["ready"][0]["places"]
    assert [answer["text"] for answer in found["answers"]] == [f"Question {number}" for number in range(2, 7)]
    assert found["more_answers"] == 2


def test_a_step_comes_with_what_was_decided_at_the_checkpoints_it_depends_on(relay: Caller) -> None:
    new_run(
        relay,
        checkpoint("style", fields=[{"name": "voice"}]),
        checkpoint("budget"),
        checkpoint("unrelated"),
        task("a", depends_on=["budget", "style"]),
        loop("l", ["c"], depends_on=["style"]),
        task("c"),
    )
    decide(relay, "style", "approved", response={"voice": "Plain."}, note="Short, too.")
    decide(relay, "unrelated", "approved")
    report(relay, "a", "running")  # order is recorded, not enforced
    found = nexts(relay)
    style = {
        "step_id": "style",
        "decision": "approved",
        "response": {"voice": "Plain."},
        "note": "Short, too.",
        "shortened": False,
    }
    assert found["ready"][1]["places"] == [place("a", decisions=[style])]
    assert found["constructs"][0]["places"][0]["decisions"] == [style]
    decide(relay, "budget", "rejected", note="Too dear.")
    (entry,) = (entry for entry in nexts(relay)["ready"] if entry["step_id"] == "a")
    budget, also = entry["places"][0]["decisions"]
    assert (budget["step_id"], budget["decision"], budget["note"]) == ("budget", "rejected", "Too dear.")
    assert also == style


def test_a_decision_counts_in_the_instance_where_it_was_made(relay: Caller) -> None:
    new_run(relay, parallel("p", ["gate", "b"]), checkpoint("gate"), task("b", depends_on=["gate"]))
    for instance_id in ("inst_00", "inst_01"):
        add_instance(relay, "p")
        report(relay, f"p/{instance_id}/b", "running")
    decide(relay, "p/inst_01/gate", "approved", note="Go.")
    (entry,) = (entry for entry in nexts(relay)["ready"] if entry["step_id"] == "b")
    first, second = entry["places"]
    assert first["decisions"] == []
    assert [decision["note"] for decision in second["decisions"]] == ["Go."]


def test_what_people_wrote_at_length_is_shortened_where_it_says_so_and_whole_below_a_path(
    relay: Caller,
) -> None:
    new_run(relay, checkpoint("gate"), *(task(f"a{number}", depends_on=["gate"]) for number in range(40)))
    decide(relay, "gate", "approved", note="n" * 3000)
    report(relay, "a0", "running")
    ask_and_answer(relay, "a0", "Which?", "r" * 3500)
    found = nexts(relay)
    assert len(dumps(found)) < 30_000
    (first,), (last,) = found["ready"][0]["places"], found["ready"][-1]["places"]
    (answer,), (decision,) = first["answers"], last["decisions"]
    assert answer["response"] == {"text": "r" * 3500}
    assert not answer["shortened"]
    assert decision["note"] == "n" * 80 + "…"
    assert decision["shortened"]
    (whole,) = nexts(relay, path=("a39",))["ready"][0]["places"]
    assert whole["decisions"][0]["note"] == "n" * 3000
    assert not whole["decisions"][0]["shortened"]


def test_what_is_blocked_says_on_whom_and_since_when(relay: Caller) -> None:
    new_run(relay, checkpoint("gate", fields=[{"name": "why"}]), task("a"))
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask_question(caller=relay, run_id="r1", path=("a",), question={"text": "Which?", "fields": []})
    found = nexts(relay)
    gate, question = found["blocked"]
    assert (gate["kind"], question["kind"]) == ("checkpoint", "question")
    assert [asked["name"] for asked in gate["fields"]] == ["why"]
    assert gate["waits_for"] == "person"
    assert gate["places"][0]["since"] is not None
    assert question["places"][0]["question"]["text"] == "Which?"
    assert question["places"][0]["since"] is not None
    assert not found["done"]


def test_a_failed_run_names_the_failure_and_goes_on_elsewhere(relay: Caller) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]), task("other"))
    report(relay, "a", "failed", summary="No network.")
    found = nexts(relay)
    assert found["run_status"] == "failed"
    assert found["failed"][0]["places"] == [{"path": "a", "parameters": {}, "summary": "No network."}]
    assert [entry["path"] for entry in found["ready"]] == ["other"]
    assert not found["done"]
    report(relay, "other", "completed")
    assert nexts(relay)["done"]


@pytest.mark.django_db
def test_a_pending_amendment_is_named(viewer: Caller) -> None:
    run_row(task("a"), status="paused_for_approval", pending_amendment_id="amd_1")
    found = nexts(viewer)
    assert found["pending_amendment"] == {"amendment_id": "amd_1"}
    assert "amd_1" in found["hint"]
    assert [entry["path"] for entry in found["ready"]] == ["a"]


@pytest.mark.django_db
def test_ten_thousand_branches_are_one_entry_in_a_small_answer_and_as_many_statements(viewer: Caller) -> None:
    counts = []
    for number, branches in enumerate((10, 10_000)):
        run = run_row(
            parallel("p", ["gate", "b", "c"]),
            checkpoint("gate"),
            task("b", depends_on=["gate"]),
            task("c", depends_on=["b"]),
            run_id=f"r{number}",
        )
        instance_rows(run, state_row(run, "p"), branches)
        decided = {"decision": "approved", "response": {"why": "w" * 400}, "note": None}
        StepState.objects.filter(run=run, step_id="gate").update(status="completed", checkpoint=decided)
        answered_rows(run, list(StepState.objects.filter(run=run, step_id="b")[:20]), each=7)
        get_next(caller=viewer, run_id=f"r{number}")
        with statements(at_most=8) as caught:
            found = get_next(caller=viewer, run_id=f"r{number}")
        counts.append(len(caught))
        (entry,) = found["ready"]
        assert entry["count"] == branches
        assert len(entry["places"]) == 5
        assert all(place["answers"] and place["decisions"] for place in entry["places"])
        assert found["counts"]["waiting"] == branches
        assert len(dumps(found)) < 20_000
    assert counts[0] == counts[1]


@pytest.mark.django_db
def test_a_path_narrows_what_is_next_and_lists_more_places(viewer: Caller) -> None:
    run = run_row(parallel("p", ["b"]), task("b"), task("a"))
    instance_rows(run, state_row(run, "p"), 30)
    assert {entry["path"] for entry in nexts(viewer)["ready"]} == {"p/*/b", "a"}
    (entry,) = nexts(viewer, path=("p",))["ready"]
    assert len(entry["places"]) == 30
    (entry,) = nexts(viewer, path=("p", "inst_07"))["ready"]
    assert [place["path"] for place in entry["places"]] == ["p/inst_07/b"]
    with pytest.raises(NotFound, match="inst_99"):
        nexts(viewer, path=("p", "inst_99"))


@pytest.mark.django_db
def test_the_limit_bounds_each_list_and_says_how_many_are_left_out(viewer: Caller) -> None:
    run_row(*(task(f"a{number}") for number in range(7)))
    found = nexts(viewer, limit=3)
    assert len(found["ready"]) == 3
    assert found["more"] == {"ready": 4, "constructs": 0, "blocked": 0, "failed": 0}
    assert found["counts"]["ready"] == 7


def test_documents_are_plain_json(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"))
    add_instance(relay, "p")
    reads: list[Callable[[], Any]] = [
        lambda: get_run(caller=relay, run_id="r1", include_plan=True),
        lambda: get_next(caller=relay, run_id="r1"),
        lambda: list_updates(caller=relay, run_id="r1", paging=Paging()).rows,
    ]
    for read in reads:
        assert json.loads(dumps(read()))
