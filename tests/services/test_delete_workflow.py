"""Contract 2: what a deletion takes, and what outlives it."""

import json
from typing import Any

import pytest
from django.apps import apps

from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, NotFound
from chief_project.shared.models import AuditEntry
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.register_run import register_run
from tests.amendments import amend, insert_after, propose, remove, replay
from tests.plans import checkpoint, parallel, task
from tests.refusals import contents, refused
from tests.runs import add_instance, new_run, report
from tests.workflows import new_approved, new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def eventful(caller: Caller) -> dict[str, Any]:
    """A workflow to which everything happened, with a run that runs."""
    steps = [
        task("a", criteria=["it holds"], group="g"),
        parallel("p", ["b"], depends_on=["a"], instance_params=[{"name": "who"}]),
        task("b"),
        checkpoint("c", depends_on=["p"], fields=[{"name": "why"}]),
    ]
    draft = new_draft(caller, *steps, groups=[{"path": "g"}], workflow_id="w1")
    revised(caller, draft, *steps, groups=[{"path": "g"}])
    add_review_note(caller=caller, workflow_id="w1", body="x", step_id="a")
    approve_workflow(caller=caller, workflow_id="w1")
    for run_id in ("r1", "r2"):
        register_run(caller=caller, workflow_id="w1", run_id=run_id)
    artifact = {"artifact_id": "art", "type": "text", "data": "x"}
    report(caller, "a", "completed", artifacts=[artifact], criteria_met={"c1": "it does"})
    comment_on_artifact(caller=caller, run_id="r1", artifact_id="art", comment={"body": "nice"})
    add_instance(caller, "p", metadata={"who": "me"})
    report(caller, "p/inst_00/b", "running")
    ask_question(caller=caller, run_id="r1", path=("p", "inst_00", "b"), question={"text": "Which?"})
    amend(caller, insert_after("a", task("new")), replay("a"), remove("c"), kind="history_edit")
    propose(caller, insert_after("a", task("newer")))
    return draft


def kept(tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Without what outlives a workflow: audit, used ids, and where ``rest`` stands."""
    outlive = {"shared.AuditEntry", "shared.AuditStream", "shared.UsedId"}
    return {name: rows for name, rows in tables.items() if name not in outlive}


def test_a_deleted_workflow_leaves_no_row_behind(admin: Caller) -> None:
    other = new_run(admin, run_id="other")
    before = kept(contents())
    eventful(admin)
    found = delete_workflow(caller=admin, workflow_id="w1")
    assert kept(contents()) == before
    assert (found["workflow_id"], found["title"]) == ("w1", "A plan")
    counts = ("runs", "revisions", "versions", "notes", "amendments", "instances", "artifacts")
    assert {kind: found["removed"][kind] for kind in counts} == {
        "runs": 2,
        "revisions": 2,
        "versions": 2,
        "notes": 1,
        "amendments": 2,
        "instances": 1,
        "artifacts": 1,
    }
    assert selectors.get_workflow(caller=admin, workflow_id=other["workflow_id"])
    with pytest.raises(NotFound):
        selectors.get_workflow(caller=admin, workflow_id="w1")


def test_the_audit_outlives_the_workflow_and_says_where_its_streams_end(admin: Caller) -> None:
    eventful(admin)
    streams = ("workflow:w1", "run:r1", "run:r2")
    ends = {name: AuditEntry.objects.filter(stream=name).latest("position") for name in streams}
    entries = AuditEntry.objects.count()
    delete_workflow(caller=admin, workflow_id="w1")
    assert AuditEntry.objects.count() == entries + 1
    last = AuditEntry.objects.latest("id")
    assert (last.stream, last.event, last.workflow_id) == ("rest", "workflow.deleted", "w1")
    told = detail("workflow.deleted")
    assert told["streams"] == {name: {"length": end.position, "hash": end.hash} for name, end in ends.items()}
    assert (told["title"], told["status"], told["version"]) == ("A plan", "approved", 2)
    assert (told["runs"], told["removed"]["runs"]) == (["r1", "r2"], 2)


def test_ids_of_what_was_deleted_are_never_used_again(admin: Caller) -> None:
    eventful(admin)
    delete_workflow(caller=admin, workflow_id="w1")
    with refused(Conflict, "never used again"):
        new_draft(admin, workflow_id="w1")
    other = new_approved(admin)
    with refused(Conflict, "never used again"):
        register_run(caller=admin, workflow_id=other["workflow_id"], run_id="r1")


def test_only_a_person_who_administers_deletes(harness: Caller, relay: Caller, reviewer: Caller) -> None:
    made = new_draft(harness)
    for caller in (harness, relay, reviewer):
        with refused(Forbidden, "delete a workflow"):
            delete_workflow(caller=caller, workflow_id=made["workflow_id"])


def test_a_deletion_is_tried_on_every_table(admin: Caller) -> None:
    """So a table that is added later, and forgotten in the deletion, is noticed above."""
    eventful(admin)
    tables = contents()
    for label in ("workflows", "runs", "amendments"):
        for model in apps.get_app_config(label).get_models():
            assert tables[model._meta.label] or model is models.WorkflowTemplate, model
