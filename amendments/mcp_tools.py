"""Amendments, the end of a run, and waiting, for agents (contract 10)."""

from collections import Counter
from typing import Any

from amendments.documents import AmendmentProposal
from amendments.domain.waits import AmendmentFacts, amendment_settled
from amendments.selectors.amendments import get_amendment, list_amendments
from amendments.selectors.waits import amendment_facts
from amendments.serializers import AmendmentDecisionBody, AmendmentWithdrawalBody, ListAmendmentsQuery
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from amendments.services.reject_amendment import reject_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.mcp import Answer, Call, Tool, cut, listed, pruned
from chief_project.shared.mcp.schemas import FLAG, NUMBER, OBJECT, OBJECTS, TEXT, Schema, answer_schema
from chief_project.shared.waits import MOST_SECONDS, Watch
from runs.domain.paths import any_path, step_path
from runs.domain.waits import RunFacts, run_settled
from runs.mcp_tools import WRITE_ANSWER, run_line, state_at, write_compact, written
from runs.selectors.runs import get_run
from runs.selectors.waits import blocked_state
from runs.serializers import CancelRunBody
from runs.services.outcome import RunWrite
from workflows import selectors as workflow_selectors
from workflows.domain.waits import WorkflowFacts, workflow_settled
from workflows.mcp_tools import workflow_compact

_AMENDMENT = answer_schema(
    "amendment_id status",
    "run_id run_status revision next more decided_by decision_reason hint",
    revision=NUMBER,
    next=OBJECTS,
    more=NUMBER,
)
_PAGE = answer_schema("items has_more", "cursor", items=OBJECTS, has_more=FLAG)
_WAIT = answer_schema(
    "outcome hint",
    "status revision state",
    revision=NUMBER,
    state=OBJECT,
    outcome={"enum": ["decided", "changed", "pending"]},
)
_WHERE = {"amendment_id": TEXT}
OPERATIONS: Schema = {
    "type": "array",
    "description": "In order; each may build on those before.",
    "items": {
        "type": "object",
        "properties": {
            "op": {"enum": ["insert_after", "insert_before", "update_step", "remove_step", "replay_step"]},
            "target_step_id": TEXT,
            "step": {
                **OBJECT,
                "description": "The whole step as in create_workflow, for inserts and update_step.",
            },
            "instance_path": {
                "type": "string",
                "description": "step/instance: one instance's copy only, for update, remove and replay.",
            },
        },
        "required": ["op", "target_step_id"],
    },
}


# -- What is answered --------------------------------------------------------------------------------

_HINTS = {
    "pending_approval": "The run is paused, reports are still taken. A person decides: wait_for_decision with this"
    " amendment_id.",
    "approved": "It applies to the run: get_next says what may be done now.",
    "rejected": "The plan stays as it was: read decision_reason, then get_next.",
    "withdrawn": "The plan stays as it was: get_next.",
}


def _decided(call: Call, write: RunWrite) -> Answer:
    minimal = write.minimal
    status = minimal["amendment_status"]
    compact = write_compact(minimal) | {
        "amendment_id": minimal["amendment_id"],
        "status": status,
        "hint": _HINTS[status],
    }
    return Answer(compact, write.full() if call.full else None)


def amendment_compact(document: dict[str, Any]) -> dict[str, Any]:
    """An amendment in a few lines."""
    kept = (
        "amendment_id",
        "run_id",
        "kind",
        "status",
        "decided_by",
        "decision_reason",
        "resulting_workflow_version",
    )
    return pruned(
        {name: document[name] for name in kept}
        | {
            "reason": cut(document["reason"], 160),
            "operations": dict(Counter(operation["op"] for operation in document["operations"])),
            "hint": _HINTS[document["status"]],
        }
    )


# -- Calls -------------------------------------------------------------------------------------------


def _propose_amendment(call: Call) -> Answer:
    body: AmendmentProposal = call.body
    write = propose_amendment(
        caller=call.caller,
        run_id=call.where["run_id"],
        proposed_by=body.proposed_by,
        kind=body.kind,
        reason=body.reason,
        operations=[operation.value() for operation in body.operations],
        if_match=None,
    )
    return _decided(call, write)


def _get_amendment(call: Call) -> Answer:
    document = get_amendment(caller=call.caller, amendment_id=call.where["amendment_id"])
    return Answer(amendment_compact(document), document if call.full else None)


def _list_amendments(call: Call) -> Answer:
    page = list_amendments(caller=call.caller, **call.body)
    return Answer(listed(page, (lambda row: row) if call.full else _amendment_line))


def _amendment_line(document: dict[str, Any]) -> dict[str, Any]:
    kept = ("amendment_id", "run_id", "kind", "status", "created_at")
    return {name: document[name] for name in kept} | {"reason": cut(document["reason"])}


def _approve_amendment(call: Call) -> Answer:
    where = call.where["amendment_id"]
    return _decided(call, approve_amendment(caller=call.caller, amendment_id=where, **call.body))


def _reject_amendment(call: Call) -> Answer:
    where = call.where["amendment_id"]
    return _decided(call, reject_amendment(caller=call.caller, amendment_id=where, **call.body))


def _withdraw_amendment(call: Call) -> Answer:
    where = call.where["amendment_id"]
    return _decided(call, withdraw_amendment(caller=call.caller, amendment_id=where, **call.body))


def _cancel_run(call: Call) -> Answer:
    return written(call, cancel_run(caller=call.caller, run_id=call.where["run_id"], **call.body))


# -- Waiting -----------------------------------------------------------------------------------------

AGAIN = "Still with a person. Tell them what waits, do what else is ready (get_next), and call this again."

NOT_ASKED = (
    "Nobody is asked yet: report 'running' on this step first (a checkpoint then asks a person), then wait."
)

UNCHANGED = "Nothing changed since that revision. Do what is ready (get_next), and call this again."


def _wait_for_decision(call: Call) -> Answer:
    """One look; where nothing is decided, what is worth another look."""
    given = [name for name in ("workflow_id", "amendment_id", "run_id") if call.where.get(name)]
    if len(given) != 1:
        raise ValidationFailed("name one of workflow_id, amendment_id and run_id (path: a step of the run)")
    since, seconds = call.where.get("since"), call.where.get("seconds")
    if since is not None and since < 0:
        raise ValidationFailed("/since: must be at least 0", pointer="/since")
    if seconds is not None and not 0 <= seconds <= MOST_SECONDS:
        raise ValidationFailed(
            f"/seconds: must be from 0 to {MOST_SECONDS}; call again to wait longer", pointer="/seconds"
        )
    if call.where.get("path") and given != ["run_id"]:
        raise ValidationFailed("/path: names a step of a run, so send run_id with it", pointer="/path")
    return {"workflow_id": _wait_for_workflow, "amendment_id": _wait_for_amendment, "run_id": _wait_for_run}[
        given[0]
    ](call, since)


def _waited(
    call: Call, compact: dict[str, Any], document: Any, *, decided: bool, watch: Watch | None
) -> Answer:
    outcome = "pending" if watch is not None else "decided" if decided else "changed"
    answer = {**compact, "outcome": outcome}
    if outcome == "pending":
        answer["hint"] = AGAIN
    return Answer(answer, document if call.full and watch is None else None, watch)


def _wait_for_workflow(call: Call, since: int | None) -> Answer:
    workflow_id = call.where["workflow_id"]
    document = workflow_selectors.get_workflow(caller=call.caller, workflow_id=workflow_id)
    facts = WorkflowFacts(document["status"], (document["review"] or {}).get("state"), document["revision"])
    settled = workflow_settled(since)
    watch = None if settled(facts) else Watch("workflow", workflow_id, settled)
    return _waited(call, workflow_compact(document), document, decided=facts.decided, watch=watch)


def _wait_for_amendment(call: Call, since: int | None) -> Answer:
    amendment_id = call.where["amendment_id"]
    document = get_amendment(caller=call.caller, amendment_id=amendment_id)
    revision = 0
    if since is not None and amendment_id in (found := amendment_facts([amendment_id])):
        revision = found[amendment_id].run_revision
    settled = amendment_settled(since)
    decided = document["status"] != "pending_approval"
    over = settled(AmendmentFacts(document["status"], revision))
    watch = None if over else Watch("amendment", amendment_id, settled)
    return _waited(call, amendment_compact(document), document, decided=decided, watch=watch)


def _wait_for_run(call: Call, since: int | None) -> Answer:
    run_id = call.where["run_id"]
    if call.where.get("path"):
        path = step_path(any_path(call.where["path"]))
        key = blocked_state(caller=call.caller, run_id=run_id, path=path)
        if key is not None:
            blocked = Watch("state", key, lambda status: status != "blocked")
            return _waited(call, {"run_id": run_id, "status": "blocked"}, None, decided=False, watch=blocked)
        document = get_run(caller=call.caller, run_id=run_id)
        state = {"path": call.where["path"], **state_at(document, path)}
        if state["status"] == "pending":
            asked = run_line(document) | {"state": state, "hint": NOT_ASKED, "outcome": "pending"}
            return Answer(asked, document if call.full else None)
        compact = run_line(document) | {
            "state": state,
            "hint": "Nobody is waited for at this step: read state, then get_next.",
        }
        return _waited(call, compact, document, decided=True, watch=None)
    document = get_run(caller=call.caller, run_id=run_id)
    settled = run_settled(since)
    over = settled(RunFacts(document["status"], document["revision"]))
    compact = run_line(document) | {"hint": "get_next says what may be done now."}
    watch = None if over else Watch("run", run_id, settled)
    asked_nobody = run_settled(None)(RunFacts(document["status"], 0))
    answer = _waited(call, compact, document, decided=asked_nobody, watch=watch)
    if watch is not None and asked_nobody:
        answer.compact["hint"] = UNCHANGED
    return answer


# -- The tools ---------------------------------------------------------------------------------------

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="propose_amendment",
        title="Propose a change to a run's plan",
        description=(
            "Propose a change to the plan under way instead of improvising; the run pauses until a person decides."
            " 'history_edit' as soon as completed or failed work is changed or replayed, else 'forward'. Ids are never"
            " reused. Then wait_for_decision."
        ),
        operations=("propose_amendment",),
        call=_propose_amendment,
        answers=_AMENDMENT,
        where={"run_id": TEXT},
        needs=("run_id",),
        body=AmendmentProposal,
        published={"operations": OPERATIONS},
        core=True,
    ),
    Tool(
        name="get_amendment",
        title="Read an amendment",
        description="An amendment and its decision; `full` adds the operations.",
        operations=("get_amendment",),
        call=_get_amendment,
        answers=_AMENDMENT,
        where=_WHERE,
        needs=("amendment_id",),
        reads=True,
    ),
    Tool(
        name="list_amendments",
        title="Find amendments",
        description="Amendments, newest first.",
        operations=("list_amendments", "list_run_amendments"),
        call=_list_amendments,
        answers=_PAGE,
        body=ListAmendmentsQuery,
        reads=True,
    ),
    Tool(
        name="approve_amendment",
        title="Relay an amendment's approval",
        description="Relay a person's explicit approval, never your own. Needs a relay token.",
        operations=("approve_amendment",),
        call=_approve_amendment,
        answers=_AMENDMENT,
        where=_WHERE,
        needs=("amendment_id",),
        body=AmendmentDecisionBody,
        destroys=True,
    ),
    Tool(
        name="reject_amendment",
        title="Relay an amendment's rejection",
        description="Relay a person's rejection. Needs a relay token.",
        operations=("reject_amendment",),
        call=_reject_amendment,
        answers=_AMENDMENT,
        where=_WHERE,
        needs=("amendment_id",),
        body=AmendmentDecisionBody,
    ),
    Tool(
        name="withdraw_amendment",
        title="Withdraw an amendment",
        description="Take back a pending amendment that you proposed.",
        operations=("withdraw_amendment",),
        call=_withdraw_amendment,
        answers=_AMENDMENT,
        where=_WHERE,
        needs=("amendment_id",),
        body=AmendmentWithdrawalBody,
    ),
    Tool(
        name="cancel_run",
        title="Relay a cancellation",
        description="Relay a person's decision to end a run for good: what is unfinished is skipped. Needs a relay token.",
        operations=("cancel_run",),
        call=_cancel_run,
        answers=WRITE_ANSWER,
        where={"run_id": TEXT},
        needs=("run_id",),
        body=CancelRunBody,
        destroys=True,
    ),
    Tool(
        name="wait_for_decision",
        title="Wait for a person",
        description=(
            "Wait up to 50 s for a draft (workflow_id), an amendment, a checkpoint or question (run_id and path), or a"
            " run: until nothing in it waits for a person, or with `since` until its revision passes. 'pending': call"
            " again; nothing is lost between calls."
        ),
        operations=("get_workflow", "get_amendment", "get_run"),
        call=_wait_for_decision,
        answers=_WAIT,
        where={
            "workflow_id": TEXT,
            "amendment_id": TEXT,
            "run_id": TEXT,
            "path": TEXT,
            "since": NUMBER,
            "seconds": NUMBER,
        },
        core=True,
        reads=True,
        waits=True,
    ),
)
