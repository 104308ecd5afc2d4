"""Contract 2: a draft is revised wholesale, and nobody's revision is overwritten unread."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    ChiefError,
    Forbidden,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
from tests.plans import task
from tests.refusals import refused
from tests.workflows import new_approved, new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.archive_workflow import archive_workflow
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db


def etag(caller: Caller, workflow: dict[str, Any]) -> int:
    return selectors.workflow_etag(caller=caller, workflow_id=workflow["workflow_id"])


def test_a_revision_replaces_title_and_steps_and_keeps_the_version(harness: Caller) -> None:
    draft = new_draft(harness, project="P", origin_dir="/w")
    found = revised(harness, draft, task("x"), task("y"), task("z"), title="New", reason="smaller steps")
    assert (found["title"], [step["id"] for step in found["steps"]]) == ("New", ["x", "y", "z"])
    assert (found["status"], found["version"], found["revision"]) == ("draft", 1, 2)
    assert (found["project"], found["origin_dir"], found["created_at"]) == ("P", "/w", draft["created_at"])
    assert selectors.get_workflow(caller=harness, workflow_id=draft["workflow_id"]) == found


def test_every_revision_is_kept_with_who_and_why(harness: Caller) -> None:
    draft = new_draft(harness)
    revised(harness, draft, task("x"), reason="because")
    kept = models.Revision.objects.order_by("number")
    assert [(each.number, each.by, each.reason, each.plan.step_count) for each in kept] == [
        (1, "planner", None, 2),
        (2, "planner", "because", 1),
    ]
    detail = json.loads(AuditEntry.objects.get(event="workflow.revised").text)["detail"]
    assert (detail["reason"], detail["steps_before"], detail["steps_after"]) == ("because", 2, 1)


def test_a_draft_that_was_sent_back_waits_for_a_person_again(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    back = send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"], reason="too big")
    assert back["review"]["state"] == "sent_back"
    review = revised(harness, draft, task("x"), reason="smaller")["review"]
    assert (review["state"], review["revision"], review["by"], review["reason"]) == (
        "waiting",
        2,
        "planner",
        "smaller",
    )


def test_groups_that_are_left_out_stay_where_they_are_still_there(harness: Caller) -> None:
    groups = [
        {"path": "g", "description": "G"},
        {"path": "g/h", "description": "H"},
        {"path": "i", "description": "I"},
    ]
    draft = new_draft(harness, task("a", group="g/h"), task("b", group="i"), groups=groups)
    found = revised(harness, draft, task("a", group="g"), task("b", group="i/j"))
    assert found["groups"] == [groups[0], groups[2]]
    assert revised(harness, draft, task("a", group="g"), groups=[])["groups"] == []


def test_notes_survive_a_revision_and_are_orphaned_while_their_step_is_gone(
    harness: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness, "a", "b")
    add_review_note(caller=reviewer, workflow_id=draft["workflow_id"], body="why?", step_id="b")
    note = revised(harness, draft, task("a"))["review_notes"][0]
    assert (note["orphaned"], note["step_goal"], note["resolved"]) == (True, "Do b", False)
    assert revised(harness, draft, task("b", goal="other"))["review_notes"][0]["orphaned"] is False


def test_another_ones_revision_is_not_overwritten_unread(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness, "a")
    revised(reviewer, draft, task("a"), task("b"), based_on=1)
    with refused(PreconditionFailed, "not yours but rita's.*'based_on': 2") as found:
        revised(harness, draft, task("a"))
    assert found.value.details["revision"] == 2
    assert found.value.details["since"] == 1
    assert [step["id"] for step in found.value.details["difference"]["added"]] == ["b"]
    assert revised(harness, draft, task("a"), based_on=2)["revision"] == 3


def test_if_match_says_as_well_that_the_newest_was_read(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    newest = etag(reviewer, draft)
    revised(reviewer, draft, task("a"), if_match=newest)
    with refused(PreconditionFailed, "has changed since you read it") as found:
        revised(harness, draft, task("c"), if_match=newest)
    assert [step["id"] for step in found.value.details["difference"]["removed"]] == ["b"]
    assert revised(harness, draft, task("c"), if_match=etag(harness, draft))["revision"] == 3


def test_one_who_never_revised_is_shown_the_last_change(
    harness: Caller, relay: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness, "a")
    with refused(PreconditionFailed, "not yours but planner's") as found:
        revised(relay, draft, task("x"))
    assert found.value.details["difference"] is None
    revised(harness, draft, task("a"), task("b"))
    with refused(PreconditionFailed, "not yours but planner's") as found:
        revised(reviewer, draft, task("x"))
    assert [step["id"] for step in found.value.details["difference"]["added"]] == ["b"]


@pytest.mark.parametrize("based_on", [1, 3])
def test_a_revision_based_on_another_than_the_newest_is_refused(harness: Caller, based_on: int) -> None:
    draft = new_draft(harness, "a")
    revised(harness, draft, task("b"))
    with refused(PreconditionFailed, f"revision {based_on}, and workflow .* is at revision 2"):
        revised(harness, draft, task("c"), based_on=based_on)


def test_what_is_approved_takes_an_amendment(harness: Caller, reviewer: Caller) -> None:
    made = new_approved(reviewer)
    with refused(InvalidTransition, "only a draft.*amendment"):
        revised(reviewer, made, task("a"))
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "archived.*clone"):
        revised(reviewer, made, task("a"))


@pytest.mark.parametrize(
    ("steps", "keys", "kind", "said"),
    [
        ([task("a", depends_on=["a"])], {}, ValidationFailed, "depends on itself"),
        ([], {}, ValidationFailed, "at least one step"),
        ([task("a")], {"groups": [{"path": "g"}]}, ValidationFailed, "neither a step's group"),
    ],
)
def test_a_revision_that_breaks_a_rule_leaves_the_draft(
    harness: Caller, steps: list[dict[str, Any]], keys: dict[str, Any], kind: type[ChiefError], said: str
) -> None:
    draft = new_draft(harness)
    with refused(kind, said):
        revised(harness, draft, *steps, **keys)


def test_who_may_not_plan_may_not_revise(harness: Caller, viewer: Caller) -> None:
    draft = new_draft(harness)
    with refused(Forbidden, "may not revise a draft"):
        revised(viewer, draft, task("a"), based_on=1)
    with refused(NotFound, "no workflow 'nowhere'"):
        revised(harness, {"workflow_id": "nowhere"}, task("a"))


def test_a_revised_plan_is_found_by_its_new_words(harness: Caller) -> None:
    draft = new_draft(harness, task("a", goal="Paint the fence"))
    revised(harness, draft, task("a", goal="Mow the lawn"), title="Garden")
    paging = Paging()
    found = lambda q: selectors.list_workflows(caller=harness, paging=paging, q=q).rows  # noqa: E731
    assert [len(found(q)) for q in ("lawn gard", "fence")] == [1, 0]
