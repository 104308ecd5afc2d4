"""Runs for agents: each tool makes the call that its REST route makes (contract 10)."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from chief_project.shared.errors import NotFound
from chief_project.shared.mcp import Answer, Call, Tool, cut, listed, pruned, within
from chief_project.shared.mcp.schemas import FLAG, NUMBER, OBJECT, OBJECTS, TEXT, Schema, answer_schema
from chief_project.shared.serializers import NoBody
from runs.documents import InstanceCreate, InstanceUpdate, QuestionCreate, StepUpdate
from runs.domain.paths import Path, any_path, instance_path, step_path
from runs.selectors.next import get_next
from runs.selectors.runs import get_run, list_runs
from runs.serializers import (
    AnswerBody,
    GetNextQuery,
    ListRunsQuery,
    RegisterRunBody,
    ResolutionBody,
    StaleBody,
)
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.outcome import RunWrite
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_instance_update import report_instance_update
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint

NEXT_BYTES = 420
STEPS_SHOWN = 50

WRITE_ANSWER = answer_schema(
    "run_id revision run_status",
    "path status next more instance_id question_id hint",
    revision=NUMBER,
    next=OBJECTS,
    more=NUMBER,
)
_RUN = answer_schema(
    "run_id status revision", "workflow_id title steps state", revision=NUMBER, steps=OBJECTS, state=OBJECT
)
_NEXT = answer_schema(
    "run_id run_status revision done hint",
    "ready constructs blocked failed counts",
    revision=NUMBER,
    done=FLAG,
    ready=OBJECTS,
    constructs=OBJECTS,
    blocked=OBJECTS,
    failed=OBJECTS,
    counts=OBJECT,
)
_PAGE = answer_schema("items has_more", "cursor", items=OBJECTS, has_more=FLAG)

_RUN_ID = {"run_id": TEXT}
_STEP: dict[str, Schema] = {
    "run_id": TEXT,
    "path": {"type": "string", "description": "step, or step/instance/step …, as get_next gives it"},
}
_INSTANCE: dict[str, Schema] = {
    "run_id": TEXT,
    "path": {"type": "string", "description": "… ending on an instance"},
}
_AT = ("run_id", "path")
_FIELD_NAMES: Schema = {
    **OBJECTS,
    "description": "`{name, label?, hint?, required?}` to ask by name; none: one text.",
}


# -- What is answered --------------------------------------------------------------------------------


def written(call: Call, write: RunWrite) -> Answer:
    """A write to a run in under 1 KB: what changed, and what that made ready or blocked."""
    return Answer(write_compact(write.minimal), write.full() if call.full else None)


def write_compact(minimal: dict[str, Any]) -> dict[str, Any]:
    """The minimal answer of the API, shorter still."""
    state, found = minimal["state"] or {}, minimal["next"]
    items = within(
        (
            pruned(
                {
                    "path": item["path"],
                    "type": item["type"],
                    "blocked": True if item["state"] == "blocked" else None,
                    "goal": cut(item["goal"], 60),
                }
            )
            for item in found["items"]
        ),
        NEXT_BYTES,
    )
    more = found["more"] + len(found["items"]) - len(items)
    compact = {
        "run_id": minimal["run_id"],
        "revision": minimal["revision"],
        "run_status": minimal["run_status"],
        "path": minimal["path"],
        "status": state.get("status"),
        "instance_id": state.get("instance_id"),
        "next": items,
        "more": more or None,
        "hint": write_hint(minimal["run_status"], items),
    }
    return pruned(compact)


_HINTS = {
    "completed": "The run is completed.",
    "cancelled": "The run is cancelled.",
    "failed": "The run failed: get_next says what may be done.",
    "paused_for_approval": "An amendment waits for a person; reports are still taken.",
    "waiting_on_human": "A person is asked: wait_for_decision, or get_next for what may go on.",
}


def write_hint(run_status: str, items: list[dict[str, Any]]) -> str | None:
    """What to do where this write made nothing ready."""
    found = _HINTS.get(run_status)
    return found if found or items else "get_next says what is ready elsewhere."


# -- Writes ------------------------------------------------------------------------------------------


def _at(call: Call, ends_on: Callable[[Path], Path]) -> dict[str, Any]:
    where = ends_on(any_path(call.where["path"]))
    return {"caller": call.caller, "run_id": call.where["run_id"], "path": where}


def _register_run(call: Call) -> Answer:
    return written(call, register_run(caller=call.caller, workflow_id=call.where["workflow_id"], **call.body))


def _report_step_update(call: Call) -> Answer:
    return written(call, report_step_update(**_at(call, step_path), report=call.body.report()))


def _register_step_instance(call: Call) -> Answer:
    return written(call, register_step_instance(**_at(call, step_path), instance=call.body.instance()))


def _report_instance_update(call: Call) -> Answer:
    return written(call, report_instance_update(**_at(call, instance_path), report=call.body.report()))


def _ask_question(call: Call) -> Answer:
    write = ask_question(**_at(call, step_path), question=call.body.question())
    answer = written(call, write)
    asked = write.minimal["state"]["questions"][-1]["question_id"]
    return Answer({**answer.compact, "question_id": asked}, answer.document)


def _answer_question(call: Call) -> Answer:
    return written(call, answer_question(**_at(call, step_path), answer=call.body))


def _resolve_checkpoint(call: Call) -> Answer:
    return written(call, resolve_checkpoint(**_at(call, step_path), resolution=call.body))


def _mark_step_stale(call: Call) -> Answer:
    return written(call, mark_step_stale(**_at(call, step_path), mark=call.body))


def _mark_instance_stale(call: Call) -> Answer:
    return written(call, mark_instance_stale(**_at(call, instance_path), mark=call.body))


# -- Reads -------------------------------------------------------------------------------------------


def run_line(document: dict[str, Any]) -> dict[str, Any]:
    """A run as an entry of a list."""
    kept = ("run_id", "workflow_id", "status", "revision", "pending_amendment_id", "last_report_at")
    return pruned({name: document[name] for name in kept} | {"title": cut(document["title"])})


def state_at(run: dict[str, Any], path: Path) -> dict[str, Any]:
    """The step or instance at ``path`` in a RunState, without what is nested in it; ``NotFound`` without one."""
    node: dict[str, Any] | None = {"step_states": run["step_states"]}
    for place, token in enumerate(path):
        if place % 2 == 0:
            node = node["step_states"].get(token) if node else None
        else:
            inner = (node or {}).get("instances") or ()
            node = next((each for each in inner if each["instance_id"] == token), None)
        if node is None:
            where = "/".join(path[: place + 1])
            raise NotFound(f"run '{run['run_id']}' has nothing at '{where[:200]}'", path=where)
    assert node is not None
    found = {
        name: value for name, value in node.items() if name not in ("step_states", "instances", "history")
    }
    if node.get("instances"):
        found["instances"] = dict(Counter(each["status"] for each in node["instances"]))
    return pruned(found)


def _step_line(state: dict[str, Any]) -> dict[str, Any]:
    inner = Counter(each["status"] for each in state["instances"] or ())
    return pruned(
        {
            "path": state["step_id"],
            "status": state["status"],
            "summary": cut(state["summary"]),
            "instances": dict(inner),
            "failures": state["failures"] or None,
            "stale": bool(state["stale"]) or None,
        }
    )


def _get_run(call: Call) -> Answer:
    document = get_run(caller=call.caller, run_id=call.where["run_id"])
    path = call.where.get("path")
    if path:
        where = any_path(path)
        return Answer(run_line(document) | {"state": {"path": path, **state_at(document, where)}})
    states = list(document["step_states"].values())
    compact = run_line(document) | {"steps": [_step_line(state) for state in states[:STEPS_SHOWN]]}
    if len(states) > STEPS_SHOWN:
        compact["more"] = len(states) - STEPS_SHOWN
    return Answer(compact, document if call.full else None)


def _list_runs(call: Call) -> Answer:
    query = dict(call.body)
    expand = query.pop("expand", None) is not None
    page = list_runs(caller=call.caller, expand_step_states=expand, **query)
    return Answer(listed(page, (lambda row: row) if call.full or expand else run_line))


def _get_next(call: Call) -> Answer:
    query = dict(call.body)
    path = query.pop("path", None)
    document = get_next(
        caller=call.caller,
        run_id=call.where["run_id"],
        path=None if path is None else any_path(path),
        **query,
    )
    if call.full:
        return Answer(document)
    always = {name: document[name] for name in ("run_id", "run_status", "revision", "done", "hint")}
    document["counts"] = {name: count for name, count in document["counts"].items() if count}
    document["more"] = {name: count for name, count in document["more"].items() if count}
    for entry in (*document["ready"], *document["constructs"]):
        for place in entry["places"]:
            _leave_out(place, "more_answers")
            for said in (*place.get("answers", ()), *place["decisions"]):
                _leave_out(said, "shortened")
    return Answer(always | pruned(document) | always)


def _leave_out(document: dict[str, Any], name: str) -> None:
    """Take ``name`` out where it says nothing."""
    if not document.get(name):
        document.pop(name, None)


# -- The tools ---------------------------------------------------------------------------------------

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="register_run",
        title="Begin a run",
        description="Begin a run of an approved workflow; the answer names what is ready.",
        operations=("register_run",),
        call=_register_run,
        answers=WRITE_ANSWER,
        where={"workflow_id": TEXT},
        needs=("workflow_id",),
        body=RegisterRunBody,
        core=True,
    ),
    Tool(
        name="get_next",
        title="What to do now",
        description=(
            "What may be done in a run now: ready steps with goal, criteria and inputs; constructs that take"
            " instances; what waits for a person or failed. All you need to resume a run you know nothing of."
        ),
        operations=("get_next",),
        call=_get_next,
        answers=_NEXT,
        where=_RUN_ID,
        needs=("run_id",),
        body=GetNextQuery,
        core=True,
        reads=True,
    ),
    Tool(
        name="report_step_update",
        title="Report on a step",
        description=(
            "Report 'running' when you begin a step, 'completed' or 'failed' when it is over; partial reports between"
            " are welcome. Every criterion is answered before 'completed'. A checkpoint takes 'running' only: a"
            " person is then asked. A loop or parallel takes no status: close it with instances_closed."
        ),
        operations=("report_step_update", "report_step_update_at_top", "report_step_update_in_instance"),
        call=_report_step_update,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=StepUpdate,
        core=True,
    ),
    Tool(
        name="register_step_instance",
        title="Begin an iteration or branch",
        description="Add an iteration to a loop, or a branch to a parallel: its body runs once more.",
        operations=("register_step_instance", "register_step_instance_at_top"),
        call=_register_step_instance,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=InstanceCreate,
        core=True,
    ),
    Tool(
        name="report_instance_update",
        title="Report on an instance",
        description="A report on an instance as a whole. A status only where its body is one step.",
        operations=("report_instance_update", "report_instance_update_at_top"),
        call=_report_instance_update,
        answers=WRITE_ANSWER,
        where=_INSTANCE,
        needs=_AT,
        body=InstanceUpdate,
    ),
    Tool(
        name="ask_question",
        title="Ask a person",
        description=(
            "Ask a person what a running task can't go on without; it is blocked until answered, so then"
            " wait_for_decision. Don't guess what is theirs to say."
        ),
        operations=("ask_question", "ask_question_at_top"),
        call=_ask_question,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=QuestionCreate,
        published={"fields": _FIELD_NAMES},
        core=True,
    ),
    Tool(
        name="answer_question",
        title="Relay an answer",
        description="Relay a person's own answer to an open question, never yours. Needs a relay token.",
        operations=("answer_question", "answer_question_at_top"),
        call=_answer_question,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=AnswerBody,
    ),
    Tool(
        name="resolve_checkpoint",
        title="Relay a checkpoint's decision",
        description="Relay a person's explicit decision at a blocked checkpoint, never yours. Needs a relay token.",
        operations=("resolve_checkpoint", "resolve_checkpoint_at_top"),
        call=_resolve_checkpoint,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=ResolutionBody,
    ),
    Tool(
        name="mark_step_stale",
        title="Relay a stale mark on a step",
        description=(
            "On a person's word, label a step as run but not part of what counts; no reason takes it off. Needs a"
            " relay token."
        ),
        operations=("mark_step_stale", "mark_step_stale_at_top"),
        call=_mark_step_stale,
        answers=WRITE_ANSWER,
        where=_STEP,
        needs=_AT,
        body=StaleBody,
        idempotent=True,
    ),
    Tool(
        name="mark_instance_stale",
        title="Relay a stale mark on an instance",
        description="The same for an instance.",
        operations=("mark_instance_stale", "mark_instance_stale_at_top"),
        call=_mark_instance_stale,
        answers=WRITE_ANSWER,
        where=_INSTANCE,
        needs=_AT,
        body=StaleBody,
        idempotent=True,
    ),
    Tool(
        name="get_run",
        title="Read a run",
        description=(
            "A run's steps in a line each; with `path`, one step or instance with its answers, decisions, artifacts"
            " and people's comments; `full` adds everything."
        ),
        operations=("get_run",),
        call=_get_run,
        answers=_RUN,
        where={"run_id": TEXT, "path": TEXT},
        needs=("run_id",),
        body=NoBody,
        reads=True,
    ),
    Tool(
        name="list_runs",
        title="Find runs",
        description="Runs, newest first.",
        operations=("list_runs",),
        call=_list_runs,
        answers=_PAGE,
        body=ListRunsQuery,
        reads=True,
    ),
)
