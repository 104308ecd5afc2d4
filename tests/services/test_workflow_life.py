"""Contract 2: archive, reopen, label, clone and delete."""

import json
from typing import Any

import pytest
from django.apps import apps

from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, InvalidTransition, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
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
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.label_workflow import label_workflow
from workflows.services.reopen_workflow import reopen_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


# -- Archive and reopen ------------------------------------------------------------------------------


def test_a_draft_or_an_approved_workflow_is_archived(harness: Caller, reviewer: Caller) -> None:
    draft, approved = new_draft(harness), new_approved(reviewer)
    found = archive_workflow(caller=reviewer, workflow_id=draft["workflow_id"], reason="old")
    assert (found["status"], found["review"]) == ("archived", None)
    assert detail("workflow.archived")["from"] == "draft"
    archive_workflow(caller=reviewer, workflow_id=approved["workflow_id"])
    assert detail("workflow.archived")["from"] == "approved"


def test_what_is_archived_stays_so(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness)
    with refused(Forbidden, "archive a workflow.*relay"):
        archive_workflow(caller=harness, workflow_id=made["workflow_id"])
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "archived already"):
        archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "archived"):
        approve_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "only an approved one"):
        reopen_workflow(caller=reviewer, workflow_id=made["workflow_id"])


def test_a_reopened_workflow_is_a_draft_with_the_next_version(harness: Caller, reviewer: Caller) -> None:
    made = new_approved(reviewer)
    name = made["workflow_id"]
    found = reopen_workflow(caller=reviewer, workflow_id=name, reason="one more")
    assert (found["status"], found["version"], found["revision"]) == ("draft", 2, 1)
    assert (found["review"]["state"], found["review"]["reason"]) == ("waiting", "one more")
    assert detail("workflow.reopened")["version"] == 2
    revised(reviewer, made, task("z"))
    approve_workflow(caller=reviewer, workflow_id=name)
    first = selectors.get_version(caller=harness, workflow_id=name, number=1)
    second = selectors.get_version(caller=harness, workflow_id=name, number=2)
    assert (first["steps"], [step["id"] for step in second["steps"]]) == (made["steps"], ["z"])


def test_a_workflow_with_runs_is_not_reopened(reviewer: Caller, harness: Caller) -> None:
    run = new_run(reviewer)
    with refused(InvalidTransition, "has runs.*amendment"):
        reopen_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    with refused(Forbidden, "reopen"):
        reopen_workflow(caller=harness, workflow_id=run["workflow_id"])
    draft = new_draft(harness)
    with refused(InvalidTransition, "is draft"):
        reopen_workflow(caller=reviewer, workflow_id=draft["workflow_id"])


# -- Labels ------------------------------------------------------------------------------------------


def test_labels_change_at_any_status_and_the_audit_keeps_what_was(reviewer: Caller) -> None:
    made = new_approved(reviewer, project="P", origin_dir="/w")
    name = made["workflow_id"]
    archive_workflow(caller=reviewer, workflow_id=name)
    found = label_workflow(caller=reviewer, workflow_id=name, changes={"project": "Q", "origin_dir": "/w"})
    assert (found["project"], found["origin_dir"], found["title"]) == ("Q", "/w", "A plan")
    assert detail("workflow.labelled") == {"project": "Q", "project_was": "P", "via": "rest"}
    found = label_workflow(caller=reviewer, workflow_id=name, changes={"project": None, "title": "Other"})
    assert (found["project"], found["title"], found["revision"]) == (None, "Other", 1)
    rows = selectors.list_workflows(caller=reviewer, paging=Paging(), q="other").rows
    assert [each["workflow_id"] for each in rows] == [name]


def test_labels_that_are_the_same_write_nothing(reviewer: Caller, harness: Caller) -> None:
    made = new_draft(reviewer, project="P")
    before = contents()
    label_workflow(
        caller=reviewer, workflow_id=made["workflow_id"], changes={"project": "P", "title": "A plan"}
    )
    assert contents() == before
    with refused(ValidationFailed, "nothing to change"):
        label_workflow(caller=reviewer, workflow_id=made["workflow_id"], changes={})
    with refused(Forbidden, "label a workflow"):
        label_workflow(caller=harness, workflow_id=made["workflow_id"], changes={"project": "Q"})


# -- Clone -------------------------------------------------------------------------------------------


def test_a_clone_takes_the_plan_and_nothing_that_happened(harness: Caller, reviewer: Caller) -> None:
    groups = [{"path": "g", "description": "G"}]
    made = new_draft(
        reviewer, task("a", group="g"), groups=groups, project="P", origin_dir="/w", generated_by="me"
    )
    add_review_note(caller=reviewer, workflow_id=made["workflow_id"], body="x")
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    found = clone_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert found["workflow_id"] != made["workflow_id"]
    same = ("steps", "groups", "project", "origin_dir")
    assert {key: found[key] for key in same} == {key: made[key] for key in same}
    assert (found["title"], found["source"], found["generated_by"]) == ("A plan (copy)", "import", None)
    assert (found["status"], found["version"], found["revision"]) == ("draft", 1, 1)
    assert (found["review_notes"], found["from_template"]) == ([], None)
    assert detail("workflow.cloned")["cloned_from"] == made["workflow_id"]
    assert not AuditEntry.objects.filter(event="workflow.created", workflow_id=found["workflow_id"]).exists()


def test_a_clone_of_a_run_takes_its_amended_plan(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", run_id="r1")
    amend(reviewer, insert_after("a", task("new")), run_id="r1")
    found = clone_workflow(caller=reviewer, workflow_id=run["workflow_id"], run_id="r1")
    assert [step["id"] for step in found["steps"]] == ["a", "new"]


def test_a_run_of_another_workflow_is_not_cloned(reviewer: Caller, viewer: Caller) -> None:
    run = new_run(reviewer, run_id="r1")
    other = new_draft(reviewer)
    with refused(ValidationFailed, "run 'r1' is of workflow"):
        clone_workflow(caller=reviewer, workflow_id=other["workflow_id"], run_id="r1")
    with refused(NotFound, "no run 'r9'"):
        clone_workflow(caller=reviewer, workflow_id=run["workflow_id"], run_id="r9")
    with refused(Forbidden, "clone a workflow"):
        clone_workflow(caller=viewer, workflow_id=run["workflow_id"])


# -- Delete ------------------------------------------------------------------------------------------


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
