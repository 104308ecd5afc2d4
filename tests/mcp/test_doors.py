"""One story through three doors: services, REST and MCP end in the same rows, errors and audit (contract 10)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction
from rest_framework.test import APIClient

from amendments.documents import AmendmentProposal
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import ChiefError
from chief_project.shared.paging import Paging
from chief_project.shared.selectors import list_audit
from chief_project.shared.serializers import parse_document
from runs.documents import InstanceCreate, QuestionCreate, StepUpdate
from runs.serializers import AnswerBody, ResolutionBody, StaleBody
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.mark_stale import mark_step_stale
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.mcp.agents import call
from tests.plans import checkpoint, loop, plan, task
from workflows.documents import WorkflowCreate, WorkflowRevise
from workflows.services.approve_workflow import approve_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.revise_draft import revise_draft

pytestmark = pytest.mark.django_db

READER = Caller(actor="tests", role=Role.ADMIN, via="cli")

Told = tuple[str, dict[str, Any]] | None
"""A refusal's code and details; None where it was done."""
Door = Callable[[str, dict[str, Any], dict[str, Any]], Told]

PLAN = plan(
    task("a", criteria=["It works."]), loop("l", ["x"]), task("x"), checkpoint("ok", depends_on=["l"])
)
WORKFLOW, RUN = {"workflow_id": "w"}, {"run_id": "r"}
FORWARD = {"proposed_by": "planner", "kind": "forward", "reason": "One more."}


def _question() -> str:
    question = apps.get_model("runs", "Question").objects.order_by("-pk").first()
    return "qst_none" if question is None else question.question_id


def _amendment() -> str:
    amendment = apps.get_model("amendments", "Amendment").objects.order_by("-pk").first()
    return "amd_none" if amendment is None else amendment.amendment_id


def story(door: Door) -> list[Told]:
    """A life with what is refused in it."""
    told: list[Told] = []

    def tell(name: str, where: dict[str, Any] | None = None, **body: Any) -> None:
        told.append(door(name, where or {}, body))

    def report(path: str, **body: Any) -> None:
        tell("report_step_update", RUN | {"path": path}, **body)

    tell("create_workflow", workflow_id="w", **plan(task("a", depends_on=["b"])))
    tell("create_workflow", workflow_id="w", **PLAN)
    tell("create_workflow", workflow_id="w", **PLAN)
    tell("revise_draft", WORKFLOW, title="Better", steps=PLAN["steps"], reason="A better title.")
    tell("register_run", WORKFLOW, run_id="r")
    tell("approve_workflow", WORKFLOW, revision=1)
    tell("approve_workflow", WORKFLOW, revision=2, decided_by="Ann")
    tell("register_run", WORKFLOW, run_id="r", metadata={"ticket": 1})
    report("a", summary="Begun.", status="running")
    report("a", summary="Done.", status="completed")
    report("a", summary="Done.", status="completed", criteria_met={"c9": "Yes."})
    tell("ask_question", RUN | {"path": "a"}, text="Which?", fields=[{"name": "which"}])
    report("a", summary="Done.", status="completed", criteria_met={"c1": "Yes."})
    told.append(
        door("answer_question", RUN | {"path": "a"}, {"question_id": _question(), "response": {"what": "x"}})
    )
    told.append(
        door("answer_question", RUN | {"path": "a"}, {"question_id": _question(), "response": {"which": "x"}})
    )
    report("a", summary="Done.", status="completed", criteria_met={"c1": "Yes."}, metadata={"n": 1})
    report("a", summary="Again.", status="completed")
    report("x", summary="Where?", status="running")
    tell("register_step_instance", RUN | {"path": "l"}, metadata={"round": 1}, summary="The first.")
    tell("register_step_instance", RUN | {"path": "l"}, index=0)
    report("l/inst_00/x", summary="Done.", status="completed", artifacts=[{"type": "text", "ref": "a.txt"}])
    report("l", summary="No more.", instances_closed=True)
    report("ok", summary="Ready?", status="running")
    tell("resolve_checkpoint", RUN | {"path": "ok"}, decision="rejected")
    step = task("b", depends_on=["ok"])
    tell(
        "propose_amendment",
        RUN,
        **FORWARD,
        operations=[{"op": "insert_after", "target_step_id": "zz", "step": step}],
    )
    tell(
        "propose_amendment",
        RUN,
        **FORWARD,
        operations=[{"op": "insert_after", "target_step_id": "ok", "step": step}],
    )
    told.append(door("approve_amendment", {"amendment_id": _amendment()}, {"reason": "Fine."}))
    told.append(door("approve_amendment", {"amendment_id": _amendment()}, {}))
    tell("resolve_checkpoint", RUN | {"path": "ok"}, decision="approved", note="Go.", decided_by="Ann")
    tell("mark_step_stale", RUN | {"path": "a"}, reason="Another won.")
    tell("cancel_run", RUN, reason="Enough.")
    report("b", summary="Too late.", status="running")
    return told


# -- The doors ---------------------------------------------------------------------------------------


def over_mcp(caller: Caller) -> Door:
    def door(name: str, where: dict[str, Any], body: dict[str, Any]) -> Told:
        outcome = call(caller, name, **where, **body)
        error = outcome.content.get("error")
        return None if error is None else (error["code"], error.get("details", {}))

    return door


ROUTES = {
    "create_workflow": ("post", "/v1/workflows"),
    "revise_draft": ("put", "/v1/workflows/{workflow_id}"),
    "approve_workflow": ("post", "/v1/workflows/{workflow_id}/approve"),
    "register_run": ("post", "/v1/workflows/{workflow_id}/runs"),
    "report_step_update": ("post", "/v1/runs/{run_id}/state/{path}/updates"),
    "register_step_instance": ("post", "/v1/runs/{run_id}/state/{path}/instances"),
    "ask_question": ("post", "/v1/runs/{run_id}/questions/{path}"),
    "answer_question": ("post", "/v1/runs/{run_id}/answers/{path}"),
    "resolve_checkpoint": ("post", "/v1/runs/{run_id}/resolutions/{path}"),
    "propose_amendment": ("post", "/v1/runs/{run_id}/amendments"),
    "approve_amendment": ("post", "/v1/amendments/{amendment_id}/approve"),
    "mark_step_stale": ("post", "/v1/runs/{run_id}/stale/{path}"),
    "cancel_run": ("post", "/v1/runs/{run_id}/cancel"),
}


def over_rest(api: APIClient) -> Door:
    def door(name: str, where: dict[str, Any], body: dict[str, Any]) -> Told:
        verb, path = ROUTES[name]
        answer = getattr(api, verb)(path.format(**where), body)
        if answer.status_code < 300:
            return None
        error = answer.json()["error"]
        return error["code"], error.get("details", {})

    return door


def by_services(caller: Caller) -> Door:
    def act(name: str, where: dict[str, Any], body: dict[str, Any]) -> None:
        run = {"caller": caller, **{key: value for key, value in where.items() if key != "path"}}
        if "path" in where:
            run["path"] = tuple(where["path"].split("/"))
        if name == "create_workflow":
            made = parse_document(WorkflowCreate, body)
            create_workflow(
                caller=caller,
                plan=made.plan(),
                **made.model_dump(exclude={"steps", "groups"}),
            )
        elif name == "revise_draft":
            text = parse_document(WorkflowRevise, body)
            revise_draft(
                **run,
                title=text.title,
                steps=text.step_values(),
                groups=text.group_values(),
                reason=text.reason,
                based_on=text.based_on,
                if_match=None,
            )
        elif name == "propose_amendment":
            proposal = parse_document(AmendmentProposal, body)
            operations = [operation.value() for operation in proposal.operations]
            propose_amendment(**run, **proposal.model_dump(exclude={"operations"}), operations=operations)
        elif name == "report_step_update":
            report_step_update(**run, report=parse_document(StepUpdate, body).report())
        elif name == "register_step_instance":
            register_step_instance(**run, instance=parse_document(InstanceCreate, body).instance())
        elif name == "ask_question":
            ask_question(**run, question=parse_document(QuestionCreate, body).question())
        elif name == "answer_question":
            answer_question(**run, answer=AnswerBody.parse(body))
        elif name == "resolve_checkpoint":
            resolve_checkpoint(**run, resolution=ResolutionBody.parse(body))
        elif name == "mark_step_stale":
            mark_step_stale(**run, mark=StaleBody.parse(body))
        else:
            services: dict[str, Callable[..., Any]] = {
                "approve_workflow": approve_workflow,
                "register_run": register_run,
                "approve_amendment": approve_amendment,
                "cancel_run": cancel_run,
            }
            services[name](**run, **body)

    def door(name: str, where: dict[str, Any], body: dict[str, Any]) -> Told:
        try:
            act(name, where, body)
        except ChiefError as problem:
            return problem.code, json.loads(json.dumps(problem.details, default=str))
        return None

    return door


# -- What is left ------------------------------------------------------------------------------------

_MINTED = re.compile(r"\b(amd|qst|art|cmt)_[0-9a-z]+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")
_OF_THE_DOOR = re.compile(r'"(via|hash|prev_hash|sha256|asked_via|decided_via|proposed_via)": ?"[^"]*"')


def _plainly(value: Any) -> str:
    """``value`` without what differs between two lives that are the same: times, minted ids, the door."""
    text = json.dumps(value, default=str, sort_keys=True)
    return _OF_THE_DOOR.sub("", _MOMENT.sub("THEN", _MINTED.sub(r"\1_X", text)))


def left() -> dict[str, Any]:
    """The rows of the three apps, without keys, and the audit."""
    rows: dict[str, Any] = {}
    for app in ("workflows", "runs", "amendments"):
        for model in apps.get_app_config(app).get_models():
            keys = {field.attname for field in model._meta.fields if field.is_relation or field.primary_key}
            keys |= {"audit_hash", "via", "proposed_via", "decided_via", "via_answered", "principal"}
            rows[model._meta.label] = sorted(  # a plan's key is random
                _plainly({name: value for name, value in row.items() if name not in keys})
                for row in model._default_manager.order_by("pk").values()
            )
    entries = list_audit(caller=READER, paging=Paging(limit=1000)).rows
    entries = [entry for entry in entries if not entry["event"].startswith("auth.")]
    rows["audit"] = [
        _plainly(
            [entry[name] for name in ("event", "workflow_id", "run_id", "amendment_id", "detail", "actor")]
        )
        for entry in entries
    ]
    rows["vias"] = {entry["via"] for entry in entries}
    return rows


def lived(door: Door) -> tuple[list[str], dict[str, Any]]:
    """The story through one door: what was told, and what is left; then it never happened."""
    before = transaction.savepoint()  # not a block: the product's own blocks must stay the outermost
    told = [_plainly(each) for each in story(door)]
    found = left()
    transaction.savepoint_rollback(before)
    return told, found


def test_the_same_story_ends_the_same_through_every_door(
    relay: Caller, relay_token: str, api_as: Callable[..., APIClient]
) -> None:
    told, rows = lived(by_services(relay))
    assert sum(each == "null" for each in told) == 17
    assert {json.loads(each)[0] for each in told if each != "null"} >= {
        "validation_failed",
        "invalid_transition",
        "invariant_violation",
        "conflict",
        "precondition_failed",
        "not_found",
    }
    assert rows.pop("vias") == {"rest"}
    for door, via in ((over_rest(api_as(relay_token)), "rest"), (over_mcp(relay), "mcp")):
        said, kept = lived(door)
        for number, (one, other) in enumerate(zip(told, said, strict=True)):
            assert one == other, number
        assert kept.pop("vias") == {via}
        for name, expected in rows.items():
            assert kept[name] == expected, name
    assert sum(map(len, rows.values())) > 60
