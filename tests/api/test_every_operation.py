"""Every operation of the description, called as described, succeeds and answers as described."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from chief_project.shared.models import User
from tests.api.described import DescribedApi

pytestmark = pytest.mark.django_db(transaction=True)

STEPS: list[dict[str, Any]] = [
    {"id": "read", "type": "task", "goal": "Read the tutorial.", "criteria": ["Every chapter is listed."]},
    {"id": "write", "type": "task", "goal": "Write the summary.", "depends_on": ["read"]},
    {"id": "check", "type": "checkpoint", "goal": "Is it good?", "harness": "human", "fields": [{"name": "grade"}]},
    {"id": "sign", "type": "checkpoint", "goal": "May it go out?", "harness": "human"},
    {"id": "chapters", "type": "parallel", "goal": "Each chapter.", "body": ["test", "note"]},
    {"id": "test", "type": "task", "goal": "Run its code."},
    {"id": "note", "type": "task", "goal": "Note what failed."},
]  # fmt: skip
SKETCH = {"title": "Sketch", "source": "human", "steps": STEPS[:2]}
ARTIFACT = {"artifact_id": "a1", "type": "text/markdown", "data": "# Findings"}


class Story:
    """Both principals, and the calls they make."""

    def __init__(self, harness: APIClient, person: APIClient) -> None:
        self.api = DescribedApi()
        self.by_harness, self.by_person = harness, person

    def harness(self, operation_id: str, **call: Any) -> Any:
        return self.api.call(self.by_harness, operation_id, **call)

    def person(self, operation_id: str, **call: Any) -> Any:
        return self.api.call(self.by_person, operation_id, **call)

    def plan(self) -> None:
        self.harness("me")
        self.harness(
            "create_workflow",
            body={
                "workflow_id": "w",
                "title": "Tutorial",
                "source": "generated",
                "steps": STEPS,
                "project": "docs",
            },
        )
        self.harness("list_workflows", query={"q": "tuto", "limit": 5})
        self.harness("get_workflow", workflow_id="w")
        self.person("list_waiting")
        note = self.person("add_review_note", workflow_id="w", body={"body": "Say how.", "step_id": "read"})
        self.person("mark_seen", workflow_id="w", body={"revision": 1})
        self.person("send_back_workflow", workflow_id="w", body={"reason": "Too vague."})
        self.harness("list_review_notes", workflow_id="w")
        self.harness(
            "revise_draft", workflow_id="w", body={"title": "Tutorial, tested", "steps": STEPS, "based_on": 1}
        )
        self.person("resolve_review_note", workflow_id="w", note_id=note["note_id"], body={"resolved": True})
        self.person("label_workflow", workflow_id="w", body={"project": "guides"})
        self.harness("list_revisions", workflow_id="w")
        self.harness("get_revision", workflow_id="w", number=1)
        self.harness("get_workflow_diff", workflow_id="w", query={"from": "r1", "to": "r2"})
        self.person("approve_workflow", workflow_id="w", body={"revision": 2})
        self.harness("list_versions", workflow_id="w")
        self.harness("get_version", workflow_id="w", number=1)
        self.harness("list_projects")

    def copies(self) -> None:
        copy = self.harness("clone_workflow", workflow_id="w")["workflow_id"]
        self.person("approve_workflow", workflow_id=copy)
        self.person("reopen_workflow", workflow_id=copy)
        self.person("archive_workflow", workflow_id=copy, body={"reason": "Not needed."})
        self.person("delete_workflow", workflow_id=copy)

    def run(self) -> None:
        self.harness("register_run", workflow_id="w", body={"run_id": "r", "metadata": {"ticket": "OPS-12"}})
        self.harness("get_next", run_id="r")
        self.harness(
            "report_step_update_at_top",
            run_id="r",
            step_id="read",
            body={"status": "running", "summary": "Begun."},
        )
        self.harness(
            "report_step_update", run_id="r", path="read",
            body={"status": "completed", "summary": "Read.", "criteria_met": {"c1": "All nine."}, "artifacts": [ARTIFACT]},
        )  # fmt: skip
        self.person("comment_on_artifact", run_id="r", artifact_id="a1", body={"body": "Nice."})
        self.harness("list_runs", query={"workflow_id": "w", "expand": "step_states"})
        self.harness("get_run", run_id="r", query={"include": "plan"})
        self.harness("get_run_definition", run_id="r")
        self.harness("list_updates", run_id="r")
        self.harness("follow_run", run_id="r", query={"since": 1})
        self.person("mark_step_stale_at_top", run_id="r", step_id="read", body={"reason": "Old edition."})
        self.person("mark_step_stale", run_id="r", path="read", body={"reason": None})

    def instances(self) -> None:
        self.harness(
            "register_step_instance_at_top", run_id="r", step_id="chapters", body={"instance_id": "one"}
        )
        self.harness(
            "register_step_instance",
            run_id="r",
            path="chapters",
            body={},
            headers={"prefer": "return=minimal"},
        )
        self.harness(
            "report_step_update_in_instance", run_id="r", step_id="chapters", instance_id="one", body_step_id="test",
            body={"status": "running", "summary": "Going."}, headers={"prefer": "return=minimal"},
        )  # fmt: skip
        self.harness(
            "report_instance_update_at_top",
            run_id="r",
            step_id="chapters",
            instance_id="one",
            body={"summary": "Half."},
        )
        self.harness("report_instance_update", run_id="r", path="chapters/one", body={"summary": "More."})
        self.person(
            "mark_instance_stale_at_top",
            run_id="r",
            step_id="chapters",
            instance_id="one",
            body={"reason": "No."},
        )
        self.person("mark_instance_stale", run_id="r", path="chapters/one", body={"reason": ""})

    def questions(self) -> None:
        self.harness(
            "report_step_update_at_top",
            run_id="r",
            step_id="write",
            body={"status": "running", "summary": "Writing."},
        )
        asked = {"text": "British or American?"}
        for ask, answer, withdraw, where in (
            (
                "ask_question_at_top",
                "answer_question_at_top",
                "withdraw_question_at_top",
                {"step_id": "write"},
            ),
            ("ask_question", "answer_question", "withdraw_question", {"path": "write"}),
        ):
            self.harness(ask, run_id="r", **where, body=asked)
            self.person(
                answer,
                run_id="r",
                **where,
                body={"question_id": self.open_question(), "response": {"text": "British."}},
            )
            self.harness(ask, run_id="r", **where, body=asked)
            self.harness(
                withdraw,
                run_id="r",
                **where,
                body={"question_id": self.open_question(), "reason": "Found it."},
            )

    def open_question(self) -> str:
        questions = self.harness("get_run", run_id="r")["step_states"]["write"]["questions"]
        return str(questions[-1]["question_id"])

    def checkpoints(self) -> None:
        for step in ("check", "sign"):
            self.harness(
                "report_step_update_at_top",
                run_id="r",
                step_id=step,
                body={"status": "running", "summary": "Ready."},
            )
        self.person(
            "resolve_checkpoint_at_top",
            run_id="r",
            step_id="check",
            body={"decision": "approved", "response": {"grade": "A"}},
        )
        self.person(
            "resolve_checkpoint", run_id="r", path="sign", body={"decision": "rejected", "note": "Not yet."}
        )
        self.person("acknowledge_run", run_id="r")

    def amendments(self) -> None:
        proposal = {
            "proposed_by": "planner", "kind": "history_edit", "reason": "Sign again.",
            "operations": [{"op": "replay_step", "target_step_id": "sign"}],
        }  # fmt: skip
        for decide, by in (
            ("withdraw_amendment", self.harness),
            ("reject_amendment", self.person),
            ("approve_amendment", self.person),
        ):
            amendment = self.harness("propose_amendment", run_id="r", body=proposal)["amendment_id"]
            self.person("list_waiting")
            self.harness("get_amendment", amendment_id=amendment)
            self.harness("get_amendment_diff", amendment_id=amendment)
            by(decide, amendment_id=amendment, body={"reason": "So."})
        self.harness("list_amendments", query={"run_id": "r"})
        self.harness("list_run_amendments", run_id="r", query={"status": "approved"})
        self.harness("get_run", run_id="r")
        self.person("cancel_run", run_id="r", body={"reason": "Enough."})

    def templates(self) -> None:
        goal = {"id": "read", "type": "task", "goal": "Read {{ book }}."}
        self.harness(
            "create_template",
            body={
                "template_id": "t",
                "title": "Read {{ book }}",
                "parameters": [{"name": "book"}],
                "steps": [goal],
            },
        )
        self.harness("list_templates", query={"status": "active"})
        self.harness("get_template", template_id="t")
        self.harness("export_template", template_id="t")
        self.harness("create_workflow_from_template", template_id="t", body={"parameters": {"book": "Emma"}})
        self.harness(
            "create_template_from_workflow",
            workflow_id="w",
            body={"template_id": "t2", "substitutions": {"tutorial": "text"}},
        )
        self.person("archive_template", template_id="t")
        self.person("delete_template", template_id="t")

    def oversight(self) -> None:
        for name, rule in (
            ("approval_policy", {"match": "amendment.kind == 'forward'", "auto_approve": False}),
            ("workflow_approval_policy", {"match": "workflow.template_id == 't'", "auto_approve": True}),
        ):
            self.person(f"update_{name}", body={"rules": [rule]})
            self.person(f"get_{name}")
        self.person("list_audit", query={"run_id": "r"})


def test_every_operation_succeeds_when_called_as_described(
    api_as: Callable[..., APIClient], harness_token: str, owner: User
) -> None:
    story = Story(api_as(harness_token), api_as(owner))
    story.plan()
    story.copies()
    story.run()
    story.instances()
    story.questions()
    story.checkpoints()
    story.amendments()
    story.templates()
    story.oversight()
    assert set(story.api.operations) - story.api.called == set()
