"""The other writes to a run, made through the real services, and what their answers are compared with.

Paths are texts (``l/inst_00/x``); every function answers the ``RunWrite``.
"""

from __future__ import annotations

import json
from typing import Any

from chief_project.shared.caller import Caller
from chief_project.shared.wire.rendering import dumps
from runs.selectors.next import get_next
from runs.selectors.runs import get_run
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.outcome import RunWrite
from runs.services.register_step_instance import register_step_instance
from runs.services.report_instance_update import report_instance_update
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint
from runs.services.withdraw_question import withdraw_question


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.split("/"))


def update(
    caller: Caller, path: str, status: str | None = None, *, run_id: str = "r1", **keys: Any
) -> RunWrite:
    report = {"summary": "so far"} | ({} if status is None else {"status": status}) | keys
    return report_step_update(
        caller=caller,
        run_id=run_id,
        path=_path(path),
        if_match=report.pop("if_match", None),
        report=report,
    )


def update_instance(
    caller: Caller, path: str, status: str | None = None, *, run_id: str = "r1", **keys: Any
) -> RunWrite:
    report = {"summary": "as a whole"} | ({} if status is None else {"status": status}) | keys
    return report_instance_update(caller=caller, run_id=run_id, path=_path(path), report=report)


def register(caller: Caller, path: str, *, run_id: str = "r1", **keys: Any) -> RunWrite:
    return register_step_instance(caller=caller, run_id=run_id, path=_path(path), instance=keys)


def ask(
    caller: Caller, path: str, text: str = "Which?", *fields: dict[str, Any], run_id: str = "r1"
) -> RunWrite:
    question = {"text": text, "fields": list(fields)}
    return ask_question(caller=caller, run_id=run_id, path=_path(path), question=question)


def asked(caller: Caller, path: str, *fields: dict[str, Any], run_id: str = "r1") -> str:
    """Begin the step and ask from it; the question's id."""
    update(caller, path, "running", run_id=run_id)
    made = ask(caller, path, "Which?", *fields, run_id=run_id).minimal["state"]["questions"]
    return str(made[-1]["question_id"])


def answer(
    caller: Caller,
    path: str,
    question_id: str,
    response: dict[str, str] | None = None,
    *,
    run_id: str = "r1",
    **keys: Any,
) -> RunWrite:
    given = {"text": "this one"} if response is None else response
    body = {"question_id": question_id, "response": given} | keys
    return answer_question(caller=caller, run_id=run_id, path=_path(path), answer=body)


def withdraw(caller: Caller, path: str, question_id: str, *, run_id: str = "r1", **keys: Any) -> RunWrite:
    body = {"question_id": question_id} | keys
    return withdraw_question(caller=caller, run_id=run_id, path=_path(path), withdrawal=body)


def resolve(
    caller: Caller, path: str, decision: str = "approved", *, run_id: str = "r1", **keys: Any
) -> RunWrite:
    body = {"decision": decision} | keys
    return resolve_checkpoint(caller=caller, run_id=run_id, path=_path(path), resolution=body)


def mark(caller: Caller, path: str, reason: str | None, *, run_id: str = "r1", **keys: Any) -> RunWrite:
    """Mark a step or an instance, by the length of its path."""
    service = mark_step_stale if len(_path(path)) % 2 else mark_instance_stale
    return service(caller=caller, run_id=run_id, path=_path(path), mark={"reason": reason} | keys)


def comment(
    caller: Caller, artifact_id: str, body: str = "Good.", *, run_id: str = "r1", **keys: Any
) -> RunWrite:
    said = {"body": body} | keys
    return comment_on_artifact(caller=caller, run_id=run_id, artifact_id=artifact_id, comment=said)


def acknowledge(caller: Caller, *, run_id: str = "r1", **keys: Any) -> RunWrite:
    return acknowledge_run(caller=caller, run_id=run_id, **keys)


# -- Comparing answers -------------------------------------------------------------------------------


def node_at(run: dict[str, Any], path: str) -> dict[str, Any]:
    """The step or instance at ``path`` in a RunState."""
    node: dict[str, Any] = {"step_states": run["step_states"]}
    for place, token in enumerate(_path(path)):
        if place % 2 == 0:
            node = node["step_states"][token]
        else:
            (node,) = (each for each in node["instances"] if each["instance_id"] == token)
    return node


def without_nested(node: dict[str, Any]) -> dict[str, Any]:
    """As a minimal answer shows it: a construct without its instances, an instance without its states."""
    kept = {name: value for name, value in node.items() if name != "step_states"}
    if kept.get("instances") is not None:
        del kept["instances"]
    return kept


def assert_agrees(caller: Caller, write: RunWrite) -> None:
    """The minimal answer tells what the whole run tells, and what it offers next may really be done."""
    minimal = write.minimal
    assert minimal.keys() == {"run_id", "revision", "run_status", "path", "state", "next"}
    run = get_run(caller=caller, run_id=minimal["run_id"])
    assert (minimal["revision"], minimal["run_status"]) == (run["revision"], run["status"])
    if minimal["path"]:
        shown, whole = (
            json.loads(dumps(node))
            for node in (minimal["state"], without_nested(node_at(run, minimal["path"])))
        )
        assert shown.keys() == whole.keys()
        differing = {name: (shown[name], whole[name]) for name in shown if shown[name] != whole[name]}
        assert not differing, differing
    for item in minimal["next"]["items"]:
        assert item.keys() == {"path", "step_id", "type", "state", "goal"}
        assert item["path"].split("/")[-1] == item["step_id"]
        todo = get_next(caller=caller, run_id=minimal["run_id"], path=_path(item["path"]))
        kinds = ("blocked",) if item["state"] == "blocked" else ("ready", "constructs")
        places = [place["path"] for kind in kinds for entry in todo[kind] for place in entry["places"]]
        assert item["path"] in places, item
