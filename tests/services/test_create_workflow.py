"""Contract 2: a submitted plan becomes a draft, whole or not at all."""

from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, ValidationFailed
from chief_project.shared.models import AuditEntry, UsedId
from tests.plans import checkpoint, loop, parallel, task
from tests.workflows import new_draft
from workflows import models, selectors
from workflows.mappers import plan_cache

pytestmark = pytest.mark.django_db

EVERYTHING: list[dict[str, Any]] = [
    task(
        "a",
        criteria=["it holds", {"id": "mine", "text": "and so does this"}],
        inputs={"n": 2**70, "x": 1.5, "deep": {"list": [1, None, True, "é"]}},
        outputs={"o": "a note"},
        group="g/h",
    ),
    loop("l", ["q", "p"], exit_when="enough", depends_on=["a"], on_instance_failure="continue"),
    task("p"),
    parallel(
        "q",
        ["r", "c"],
        depends_on=["p"],
        instance_params=[{"name": "who"}, {"name": "why", "description": "the reason", "required": False}],
    ),
    task("r", harness="human"),
    checkpoint(
        "c",
        depends_on=["r"],
        fields=[{"name": "x"}, {"name": "y", "label": "Y", "hint": "why", "required": False}],
    ),
    task("z", depends_on=["l", "a"]),
]
GROUPS = [{"path": "g", "description": "all of it"}, {"path": "g/h", "description": ""}]


def test_a_submitted_plan_is_a_draft_at_version_1_revision_1(harness: Caller) -> None:
    made = new_draft(harness, title="T", source="human", generated_by="me", project="P", origin_dir="/w")
    assert made["workflow_id"].startswith("wf_")
    assert made | {
        "steps": None,
        "created_at": None,
        "updated_at": None,
        "review": None,
        "workflow_id": None,
    } == {
        "workflow_id": None,
        "title": "T",
        "source": "human",
        "generated_by": "me",
        "status": "draft",
        "version": 1,
        "revision": 1,
        "review": None,
        "steps": None,
        "groups": [],
        "project": "P",
        "origin_dir": "/w",
        "from_template": None,
        "created_at": None,
        "updated_at": None,
        "review_notes": [],
    }
    assert made["review"] == {
        "state": "waiting",
        "revision": 1,
        "by": "planner",
        "actor": "planner",
        "at": made["created_at"],
        "reason": None,
    }
    assert made["created_at"] == made["updated_at"]


def test_every_key_of_a_step_comes_back(harness: Caller) -> None:
    made = new_draft(harness, *EVERYTHING, groups=GROUPS)
    assert made["groups"] == GROUPS
    assert made["steps"][0] == {
        "id": "a",
        "type": "task",
        "goal": "Do a",
        "harness": "any",
        "depends_on": [],
        "inputs": {"n": 2**70, "x": 1.5, "deep": {"list": [1, None, True, "é"]}},
        "outputs": {"o": "a note"},
        "criteria": [{"id": "c1", "text": "it holds"}, {"id": "c2", "text": "and so does this"}],
        "body": None,
        "on_instance_failure": None,
        "exit_when": None,
        "instance_params": [],
        "fields": [],
        "group": "g/h",
        "ref_template_id": None,
        "ref_parameters": {},
    }
    assert [step["on_instance_failure"] for step in made["steps"]] == [
        None,
        "continue",
        None,
        "fail_fast",
        None,
        None,
        None,
    ]
    assert made["steps"][5]["fields"] == [
        {"name": "x", "label": None, "hint": None, "required": True},
        {"name": "y", "label": "Y", "hint": "why", "required": False},
    ]


def test_what_was_answered_is_what_is_stored(harness: Caller) -> None:
    made = new_draft(harness, *EVERYTHING, groups=GROUPS)
    plan_cache.clear()
    assert selectors.get_workflow(caller=harness, workflow_id=made["workflow_id"]) == made


def test_a_large_plan_is_stored_as_a_small_one_is(harness: Caller) -> None:
    """The tab, the backslash and the end of a line mean something to the way that large plans take."""
    steps = [task(f"s{n}", goal=f"Do\t{n}\\N\n", inputs={"n": n}, exit_when=None) for n in range(3_000)]
    for number, step in enumerate(steps[1:]):
        step["depends_on"] = [f"s{number}"]
        step["criteria"] = ["\\.", "\\N"]
    made = new_draft(harness, loop("l", [step["id"] for step in steps]), *steps)
    plan_cache.clear()
    assert selectors.get_workflow(caller=harness, workflow_id=made["workflow_id"]) == made


def test_its_first_revision_and_an_audit_entry_are_kept(harness: Caller) -> None:
    made = new_draft(harness, workflow_id="mine")
    revision = models.Revision.objects.get()
    assert (revision.number, revision.title, revision.by, revision.at) == (
        1,
        "A plan",
        "planner",
        made["created_at"],
    )
    entry = AuditEntry.objects.get(event="workflow.created")
    assert (entry.workflow_id, entry.stream, entry.position) == ("mine", "workflow:mine", 1)
    assert '"steps":2' in entry.text


def test_an_id_is_never_used_twice(harness: Caller) -> None:
    new_draft(harness, workflow_id="mine")
    with pytest.raises(Conflict, match="in use"):
        new_draft(harness, workflow_id="mine")
    assert models.Workflow.objects.count() == 1
    assert models.Plan.objects.count() == 1


def test_a_plan_that_breaks_rules_is_refused_whole(harness: Caller) -> None:
    with pytest.raises(ValidationFailed, match="unknown step 'b'") as refused:
        new_draft(harness, task("a", depends_on=["b"]))
    assert refused.value.details["pointer"] == "/steps/0/depends_on/0"
    assert not models.Plan.objects.exists()
    assert not UsedId.objects.exists()
    assert not AuditEntry.objects.filter(workflow_id__isnull=False).exists()


def test_a_viewer_may_not_plan(viewer: Caller) -> None:
    with pytest.raises(Forbidden, match="may not submit a plan"):
        new_draft(viewer)
    assert not models.Workflow.objects.exists()
