"""Many writers at once: nothing is lost, nothing is done twice, nobody waits for ever.

SQLite queues its writers; PostgreSQL shows what isn't locked. Each test ends by looking at everything that is stored.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from amendments.models import Amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.delete_workflow import delete_workflow
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ChiefError
from chief_project.shared.models import AuditEntry, KeptAnswer, User
from runs.models import Artifact, Question, Report, Run, StepInstance
from runs.selectors.runs import get_run
from runs.services.register_run import register_run
from tests.amendments import approve, insert_after, propose
from tests.amendments import update as change
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.run_calls import (
    acknowledge,
    answer,
    ask,
    asked,
    node_at,
    register,
    resolve,
    update,
    update_instance,
    withdraw,
)
from tests.runs import new_run
from tests.threads import refusals, together
from tests.workflows import new_approved
from workflows.models import Workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.reopen_workflow import reopen_workflow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

THREADS = 20
ROUNDS = 5


def assert_whole(*run_ids: str) -> None:
    """Derived fields, report numbers and the audit log are as if the writers had come one after the other."""
    for run_id in run_ids:
        assert_derived(run_id)
        run = Run.objects.get(run_id=run_id)
        numbers = list(Report.objects.filter(run=run).order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, run.reports + 1))
        # Every write moves the revision by one, the registration first. A cancellation is one write with two entries.
        entries = AuditEntry.objects.filter(stream=f"run:{run_id}").exclude(event="amendment.withdrawn")
        assert run.revision == entries.count()
    call_command("verify_audit", stdout=StringIO())


# -- Nothing is lost ---------------------------------------------------------------------------------


def test_a_thousand_reports_on_twenty_branches_of_one_run(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, parallel("p", ["x"]), task("x"))
    for _ in range(THREADS):
        register(harness, "p")
    each = 50

    def work(branch: int) -> Callable[[], None]:
        path = f"p/inst_{branch:02d}/x"

        def reports() -> None:
            for number in range(each - 1):
                update(harness, path, "running", metadata={f"k{number}": branch})
            update(harness, path, "failed" if branch == 0 else "completed")

        return reports

    assert refusals(together(*map(work, range(THREADS)))) == []
    run = Run.objects.get()
    assert run.reports == THREADS + THREADS * each
    fan = node_at(get_run(caller=harness, run_id="r1"), "p")
    assert Counter(branch["status"] for branch in fan["instances"]) == {"completed": 19, "failed": 1}
    for place, branch in enumerate(fan["instances"]):
        assert branch["step_states"]["x"]["metadata"] == {f"k{number}": place for number in range(each - 1)}
    assert (fan["status"], run.status) == ("failed", "failed")
    paths = Counter(Report.objects.filter(kind="step_update").values_list("path", flat=True))
    assert set(paths.values()) == {each}
    assert_whole("r1")


def test_reports_that_fail_and_finish_everywhere_at_once(reviewer: Caller, harness: Caller) -> None:
    """Tallies at three levels, skips at two, tolerated failures: every branch ends in the same moments."""
    new_run(
        reviewer,
        loop("out", ["in", "then"], on_instance_failure="continue"),
        parallel("in", ["x", "y"]),
        task("x"),
        task("y", depends_on=["x"]),
        task("then", depends_on=["in"]),
        task("after", depends_on=["out"]),
    )
    for outer in range(4):
        register(harness, "out")
        for _ in range(4):
            register(harness, f"out/inst_{outer:02d}/in")

    def work(outer: int, inner: int) -> Callable[[], None]:
        path = f"out/inst_{outer:02d}/in/inst_{inner:02d}"

        def reports() -> None:
            update(harness, f"{path}/x", "running")
            update(harness, f"{path}/x", "failed" if inner == outer == 1 else "completed")
            if not inner == outer == 1:
                update(harness, f"{path}/y", "completed")

        return reports

    outcomes = together(*(work(outer, inner) for outer in range(4) for inner in range(4)))
    assert refusals(outcomes) == []
    run = get_run(caller=harness, run_id="r1")
    assert [
        (node_at(run, f"out/inst_{n:02d}/in")["status"], node_at(run, f"out/inst_{n:02d}")["failures"])
        for n in range(4)
    ] == [("running", 0), ("failed", 1), ("running", 0), ("running", 0)]
    assert node_at(run, "out/inst_01/then")["status"] == "skipped"
    assert node_at(run, "out/inst_01")["status"] == "completed"
    assert_whole("r1")


def test_twenty_threads_register_instances_without_saying_which(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, parallel("p", ["x", "y"]), task("x"), task("y"))
    each = 3
    outcomes = together(
        *(lambda: [register(harness, "p").minimal["state"]["index"] for _ in range(each)],) * THREADS
    )
    assert refusals(outcomes) == []
    answered = sorted(index for indexes in outcomes for index in indexes)
    assert answered == list(range(THREADS * each))
    stored = StepInstance.objects.order_by("index").values_list("index", "instance_id")
    assert list(stored) == [(index, f"inst_{index:02d}") for index in range(THREADS * each)]
    assert_whole("r1")


def test_the_same_index_is_given_once(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, parallel("p", ["x"]), task("x"))
    for index in range(ROUNDS):
        outcomes = together(
            lambda: register(harness, "p", index=index),  # noqa: B023
            lambda: register(harness, "p", index=index, instance_id="mine"),  # noqa: B023
            lambda: register(harness, "p", instance_id=f"n{index}"),  # noqa: B023
        )
        assert {(refused.status, refused.code) for refused in refusals(outcomes)} == {(409, "conflict")}
    indexes = list(StepInstance.objects.values_list("index", flat=True))
    assert len(indexes) == len(set(indexes))
    assert_whole("r1")


def test_the_same_artifact_id_is_given_once(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b")
    for number in range(ROUNDS):
        one = {"artifact_id": f"one{number}", "type": "t", "ref": "r"}
        outcomes = together(
            lambda: update(harness, "a", "running", artifacts=[one]),  # noqa: B023
            lambda: update(harness, "b", "running", artifacts=[one]),  # noqa: B023
        )
        (refused,) = refusals(outcomes)
        assert (refused.code, refused.details["artifact_ids"]) == ("conflict", [f"one{number}"])
    assert Artifact.objects.count() == ROUNDS
    assert_whole("r1")


# -- Once and no more --------------------------------------------------------------------------------


def test_of_two_resolutions_one_wins_and_the_other_hears_so(reviewer: Caller, admin: Caller) -> None:
    gates = [f"g{number}" for number in range(ROUNDS)]
    new_run(reviewer, *map(checkpoint, gates))
    for gate in gates:
        update(reviewer, gate, "running")
        outcomes = together(
            lambda: resolve(reviewer, gate),  # noqa: B023
            lambda: resolve(admin, gate, "rejected", note="no"),  # noqa: B023
        )
        (refused,) = refusals(outcomes)
        assert (refused.status, refused.code) == (409, "invalid_transition")
        assert "already been decided" in refused.message
    assert AuditEntry.objects.filter(event="checkpoint.resolved").count() == ROUNDS
    assert_whole("r1")


def test_of_an_answer_another_and_a_withdrawal_one_wins(
    reviewer: Caller, admin: Caller, harness: Caller
) -> None:
    new_run(reviewer, "a")
    for _ in range(ROUNDS):
        question = asked(harness, "a")
        outcomes = together(
            lambda: answer(reviewer, "a", question),  # noqa: B023
            lambda: answer(admin, "a", question),  # noqa: B023
            lambda: withdraw(harness, "a", question),  # noqa: B023
        )
        lost = refusals(outcomes)
        assert [refused.status for refused in lost] == [409, 409]
        row = Question.objects.get(question_id=question)
        assert (row.answered_at is None) == (row.closed is not None)
        ended = f"answered by {row.answered_by}" if row.closed is None else "closed by planner"
        assert all(ended in refused.message for refused in lost)
    assert_whole("r1")


def test_of_two_questions_one_is_open(reviewer: Caller, harness: Caller, relay: Caller) -> None:
    new_run(reviewer, "a")
    for _ in range(ROUNDS):
        update(harness, "a", "running")
        outcomes = together(lambda: ask(harness, "a"), lambda: ask(relay, "a"), lambda: ask(reviewer, "a"))
        assert [refused.status for refused in refusals(outcomes)] == [409, 409]
        answer(reviewer, "a", Question.objects.get(answered_at=None).question_id)
    assert_whole("r1")


def test_a_step_is_completed_by_one_of_two_reports(reviewer: Caller, harness: Caller, relay: Caller) -> None:
    steps = [f"s{number}" for number in range(ROUNDS)]
    new_run(reviewer, *steps, "rest")
    for step in steps:
        outcomes = together(
            lambda: update(harness, step, "completed", metadata={"by": "harness"}),  # noqa: B023
            lambda: update(relay, step, "failed", metadata={"by": "relay"}),  # noqa: B023
        )
        (refused,) = refusals(outcomes)
        assert (refused.status, refused.code) == (409, "invalid_transition")
        assert "immutable" in refused.message
    assert Report.objects.count() == ROUNDS
    assert_whole("r1")


def test_an_instance_and_its_step_are_reported_on_at_once(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    for number in range(ROUNDS):
        register(harness, "l")
        path = f"l/inst_{number:02d}"
        outcomes = together(
            lambda: update_instance(harness, path, "completed", metadata={"n": 1}),  # noqa: B023
            lambda: update(relay, f"{path}/x", "completed"),  # noqa: B023
            lambda: update_instance(relay, path, metadata={"m": 1}),  # noqa: B023
        )
        assert all(refused.status == 409 for refused in refusals(outcomes))
    assert_whole("r1")


def test_a_construct_is_closed_while_its_last_instance_ends_and_another_comes(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        new_run(reviewer, loop("l", ["x"]), task("x"), "a", run_id=run_id)
        register(harness, "l", run_id=run_id)
        outcomes = together(
            lambda: update(harness, "l", instances_closed=True, run_id=run_id),  # noqa: B023
            lambda: update(relay, "l/inst_00/x", "completed", run_id=run_id),  # noqa: B023
            lambda: register(relay, "l", run_id=run_id),  # noqa: B023
        )
        assert not isinstance(outcomes[0], ChiefError)
        assert not isinstance(outcomes[1], ChiefError)
        fan = node_at(get_run(caller=harness, run_id=run_id), "l")
        late = isinstance(outcomes[2], ChiefError)
        assert (len(fan["instances"]), fan["status"]) == ((1, "completed") if late else (2, "running"))
        assert_whole(run_id)


def test_a_failure_is_acknowledged_once(reviewer: Caller, admin: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        new_run(reviewer, "a", "b", run_id=run_id)
        update(harness, "a", "failed", run_id=run_id)
        outcomes = together(
            lambda: acknowledge(reviewer, run_id=run_id),  # noqa: B023
            lambda: acknowledge(admin, run_id=run_id),  # noqa: B023
            lambda: update(harness, "b", "running", run_id=run_id),  # noqa: B023
        )
        (refused,) = refusals(outcomes)
        assert "already" in refused.message
        assert_whole(run_id)


# -- Against what changes the plan, the run or the workflow ------------------------------------------


def test_reports_among_approvals_and_a_cancellation(reviewer: Caller, admin: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        new_run(reviewer, parallel("p", ["x"]), task("x"), "a", run_id=run_id)
        for _ in range(4):
            register(harness, "p", run_id=run_id)
        made = propose(
            harness, insert_after("x", task("y")), change(parallel("p", ["x", "y"])), run_id=run_id
        )

        def branch(place: int, run_id: str = run_id) -> Callable[[], Any]:
            return lambda: [
                update(harness, f"p/inst_{place:02d}/x", status, run_id=run_id)
                for status in ("running", "completed")
            ]

        outcomes = together(
            *map(branch, range(4)),
            lambda: approve(reviewer, made["amendment_id"]),  # noqa: B023
            lambda: register(harness, "p", run_id=run_id),  # noqa: B023
            lambda: cancel_run(caller=admin, run_id=run_id) if run_id.endswith("3") else None,  # noqa: B023
        )
        if run_id == "r3":
            assert Run.objects.get(run_id=run_id).status == "cancelled"
        else:
            assert all(isinstance(outcome, list) for outcome in outcomes[:4])
        assert_whole(run_id)


def test_a_run_is_registered_before_its_workflow_is_archived_or_not_at_all(
    reviewer: Caller, harness: Caller
) -> None:
    for number in range(ROUNDS):
        made = new_approved(reviewer, workflow_id=f"w{number}")["workflow_id"]
        registered, archived = together(
            lambda: register_run(caller=harness, workflow_id=made, run_id=made),  # noqa: B023
            lambda: archive_workflow(caller=reviewer, workflow_id=made),  # noqa: B023
        )
        assert not isinstance(archived, ChiefError)
        if isinstance(registered, ChiefError):
            assert "archived" in registered.message
            assert not Run.objects.filter(run_id=made).exists()
        else:
            assert_whole(made)


def test_a_workflow_with_a_run_is_not_reopened(reviewer: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        made = new_approved(reviewer, workflow_id=f"w{number}")["workflow_id"]
        outcomes = together(
            lambda: register_run(caller=harness, workflow_id=made, run_id=made),  # noqa: B023
            lambda: reopen_workflow(caller=reviewer, workflow_id=made),  # noqa: B023
        )
        assert [refused.status for refused in refusals(outcomes)] == [409]
        has_run = Run.objects.filter(run_id=made).exists()
        assert Workflow.objects.get(workflow_id=made).status == ("approved" if has_run else "draft")


def test_one_run_id_is_registered_once(reviewer: Caller, harness: Caller) -> None:
    workflows = [new_approved(reviewer)["workflow_id"] for _ in range(4)]
    for number in range(ROUNDS):
        outcomes = together(
            *(
                lambda workflow_id=each: register_run(
                    caller=harness,
                    workflow_id=workflow_id,
                    run_id=f"r{number}",  # noqa: B023
                )
                for each in workflows
            )
        )
        assert [(refused.status, refused.code) for refused in refusals(outcomes)] == [(409, "conflict")] * 3
    assert_whole(*(f"r{number}" for number in range(ROUNDS)))


def test_a_deletion_among_reports_leaves_no_row_behind(admin: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        run = new_run(admin, parallel("p", ["x"]), task("x"), run_id=run_id)
        for _ in range(4):
            register(harness, "p", run_id=run_id)
        outcomes = together(
            *(
                lambda place=place: [
                    update(harness, f"p/inst_{place:02d}/x", "running", run_id=run_id)  # noqa: B023
                    for _ in range(3)
                ]
                for place in range(4)
            ),
            lambda: register(harness, "p", run_id=run_id),  # noqa: B023
            lambda: delete_workflow(caller=admin, workflow_id=run["workflow_id"]),  # noqa: B023
        )
        assert not isinstance(outcomes[-1], ChiefError)
        assert all(refused.status == 404 for refused in refusals(outcomes))
        assert not StepInstance.objects.exists()
        assert not Report.objects.exists()
    call_command("verify_audit", stdout=StringIO())


# -- The same request twice --------------------------------------------------------------------------


def test_the_same_key_at_once_is_one_write_and_one_answer(
    reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    new_run(reviewer, parallel("p", ["x"]), task("x"))
    clients = [api_as(harness_token) for _ in range(4)]
    for number in range(ROUNDS):
        key = str(uuid.uuid4())
        answers = together(
            *(
                lambda client=client: client.post(
                    "/v1/runs/r1/steps/p/instances",
                    {"metadata": {"n": number}},  # noqa: B023
                    headers={"Idempotency-Key": key, "Prefer": "return=minimal"},  # noqa: B023
                )
                for client in clients
            )
        )
        assert [one.status_code for one in answers] == [201] * 4
        assert len({one.content for one in answers}) == 1
        assert sum("Idempotency-Replayed" in one for one in answers) == 3
    assert StepInstance.objects.count() == ROUNDS
    assert KeptAnswer.objects.count() == ROUNDS
    assert_whole("r1")


# -- Everything at once ------------------------------------------------------------------------------


def test_proposals_approvals_reports_registrations_cancellations_and_a_deletion_never_deadlock(
    admin: Caller, rita: User, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    """Several runs of one workflow, and eight clients that do what they like with them: nobody gets a 5xx."""
    workflow_id = new_approved(
        admin, "a", task("b", depends_on=["a"]), parallel("p", ["x"]), task("x"), workflow_id="w1"
    )["workflow_id"]
    runs = [f"r{number}" for number in range(4)]
    for run_id in runs:
        register_run(caller=admin, workflow_id=workflow_id, run_id=run_id)
    owner = User.objects.get(username="owner")
    statuses: Counter[tuple[str, int]] = Counter()

    def client_of(place: int) -> Callable[[], None]:
        person, agent = api_as(rita), api_as(harness_token)
        chance = random.Random(place)

        def act(number: int) -> None:
            run_id = chance.choice(runs)
            run = f"/v1/runs/{run_id}"

            def send(client: APIClient, path: str, body: Any) -> Any:
                keyed = {"Idempotency-Key": f"{place}-{number}"} if number % 2 else {}
                return client.post(path, body, headers=keyed)

            verb = chance.choice(
                [
                    "propose",
                    "propose",
                    "decide",
                    "decide",
                    "report",
                    "report",
                    "instance",
                    "branch",
                    "register",
                ]
                + ["cancel", "read"] * (number % 5 == 4)
            )
            match verb:
                case "propose":
                    step = {"id": f"n{place}-{number}", "type": "task", "goal": "More", "harness": "any"}
                    operation = {"op": "insert_after", "target_step_id": "a", "step": step}
                    body = {
                        "proposed_by": "planner",
                        "kind": "forward",
                        "reason": "because",
                        "operations": [operation],
                    }
                    answered = send(agent, f"{run}/amendments", body)
                case "decide":
                    found = person.get(f"/v1/amendments?status=pending_approval&run_id={run_id}")
                    pending = found.json() if found.status_code == 200 else []
                    if not pending:
                        return
                    how = chance.choice(["approve", "approve", "reject"])
                    answered = send(person, f"/v1/amendments/{pending[0]['amendment_id']}/{how}", {})
                case "report":
                    answered = send(
                        agent,
                        f"{run}/steps/a/updates",
                        {"summary": "so far", "status": "running", "metadata": {f"{place}": number}},
                    )
                case "instance":
                    answered = send(agent, f"{run}/steps/p/instances", {})
                case "branch":
                    answered = send(
                        agent,
                        f"{run}/steps/p/instances/inst_00/steps/x/updates",
                        {"summary": "so far", "status": "running"},
                    )
                case "register":
                    answered = send(agent, f"/v1/workflows/{workflow_id}/runs", {})
                case "cancel":
                    answered = send(person, f"{run}/cancel", {})
                case _:
                    answered = agent.get(run)
            assert answered.status_code in {200, 201, 404, 409}, (verb, answered.content)
            statuses[verb, answered.status_code] += 1

        return lambda: [act(number) for number in range(25)] and None

    def delete() -> None:
        client = api_as(owner)
        # Late, so that the others have met each other by then; what they do afterwards is a 404.
        while sum(statuses.values()) < 120:
            client.get("/v1/me")
        answered = client.delete(f"/v1/workflows/{workflow_id}")
        assert answered.status_code == 200, answered.content

    together(*map(client_of, range(8)), delete)
    for verb in ("propose", "decide", "report", "instance", "register"):
        assert any(done == verb and status < 300 for done, status in statuses), statuses
    assert not Run.objects.filter(workflow__workflow_id=workflow_id).exists()
    assert not Amendment.objects.exists()
    call_command("verify_audit", stdout=StringIO())


def test_decisions_on_sibling_runs_and_their_workflow_keep_the_lock_order(
    reviewer: Caller, admin: Caller, harness: Caller
) -> None:
    """What locks the workflow first meets what locks a run first, again and again."""
    workflow_id = new_approved(admin, "a", "b", parallel("p", ["x"]), task("x"))["workflow_id"]
    runs = [f"r{number}" for number in range(3)]
    for run_id in runs:
        register_run(caller=harness, workflow_id=workflow_id, run_id=run_id)
        register(harness, "p", run_id=run_id)

    def amend_again_and_again(place: int) -> Callable[[], None]:
        def act() -> None:
            for number in range(6):
                made = propose(harness, insert_after("a", task(f"n{place}-{number}")), run_id=runs[place])[
                    "amendment_id"
                ]
                if number % 3 == 2:
                    reject_amendment(caller=reviewer, amendment_id=made)
                else:
                    approve(reviewer, made)

        return act

    def report_again_and_again(place: int) -> Callable[[], None]:
        def act() -> None:
            for number in range(25):
                update(harness, "p/inst_00/x", "running", run_id=runs[place], metadata={f"k{number}": 1})
                register(harness, "p", run_id=runs[place])

        return act

    def register_again_and_again() -> None:
        for _ in range(10):
            register_run(caller=harness, workflow_id=workflow_id)

    outcomes = together(
        *map(amend_again_and_again, range(3)),
        *map(report_again_and_again, range(3)),
        register_again_and_again,
    )
    assert refusals(outcomes) == []
    assert Workflow.objects.get().version == 1 + 3 * 4
    assert_whole(*runs)
