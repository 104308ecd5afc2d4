"""The skill: it says what the code says, and everything it shows can be done (contract 10)."""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction

from chief_project.shared.caller import Caller
from chief_project.skill import (
    CLOSE,
    StepState,
    legal,
    relay_list,
    render,
    run_judgements,
    step_states,
    workflow_judgements,
)
from tests.mcp.agents import TOOLS_BY_NAME, Agent, call, done, endpoint, play, refused
from tests.mcp.test_tools import RELAYED, tokens
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report
from tests.workflows import new_approved, new_draft
from workflows.services.add_review_note import add_review_note
from workflows.services.archive_workflow import archive_workflow
from workflows.services.send_back_workflow import send_back_workflow

TEXT = settings.CHIEF_SKILL_FILE.read_text(encoding="utf-8")
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]


# -- The file ----------------------------------------------------------------------------------------


def test_the_file_is_what_the_code_says() -> None:
    assert render() == TEXT, "write it anew with ./chief skill"
    assert "{{" not in TEXT


def test_it_begins_as_agents_read_skills() -> None:
    head = re.match(r"---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\n---\n", TEXT)
    assert head is not None
    assert ": " not in head[2], "a colon would need quotes in YAML"


def test_it_names_no_tool_that_is_not_there() -> None:
    verbs = "|".join(sorted({name.split("_")[0] for name in TOOLS_BY_NAME}))
    named = set(re.findall(rf"`((?:{verbs})_[a-z_]+)\b", TEXT))
    assert len(named) > 12
    assert {name for name in named if name not in TOOLS_BY_NAME} == set()


def test_it_names_every_tool_that_only_relays() -> None:
    assert set(re.findall(r"`(\w+)`", relay_list())) == RELAYED


def test_it_fits_into_a_context(capsys: Any) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\nthe skill: {tokens(TEXT):,} tokens (o200k_base), 8,000 at most\n")
    assert tokens(TEXT) <= 8_000


def _skill(*arguments: str) -> str:
    out = StringIO()
    call_command("skill", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_writes_checks_and_prints(tmp_path: Path, settings: Any) -> None:
    file = settings.CHIEF_SKILL_FILE = tmp_path / "new" / "SKILL.md"
    with pytest.raises(CommandError, match=r"\./chief skill"):
        _skill("--check")
    assert not file.exists()
    assert _skill("--print") == TEXT
    assert not file.exists()
    assert str(file) in _skill()
    assert file.read_text() == TEXT
    assert "up to date" in _skill("--check")
    file.write_text(TEXT + "More.")
    with pytest.raises(CommandError, match="not what the code says"):
        _skill("--check")


@pytest.mark.django_db(transaction=True)
def test_agents_read_it_as_a_resource(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            found = await Agent(http, harness_token).ask("resources/read", {"uri": "chief://skill"})
            assert found["contents"][0]["text"] == TEXT

    play(story)


# -- The examples ------------------------------------------------------------------------------------


def _decide(reviewer: Caller, relay: Caller, where: dict[str, Any], met: list[str]) -> None:
    """What the person of the story says while the agent waits: the draft is sent back once, all else accepted."""
    if "amendment_id" in where:
        done(relay, "approve_amendment", **where)
        met.append("amendment")
    elif "run_id" in where:
        state = done(relay, "get_run", **where)["state"]
        if state.get("questions"):
            asked = state["questions"][-1]["question_id"]
            response = {"text": "No, it does not."}
            done(relay, "answer_question", **where, question_id=asked, response=response)
            met.append("question")
        else:
            done(relay, "resolve_checkpoint", **where, decision="approved", response={"when": "Today"})
            met.append("checkpoint")
    elif "sent back" not in met:
        workflow_id = where["workflow_id"]
        add_review_note(caller=reviewer, workflow_id=workflow_id, body="Who owns each page?")
        send_back_workflow(caller=reviewer, workflow_id=workflow_id, reason="See the note.")
        met.append("sent back")
    else:
        done(relay, "approve_workflow", **where)
        met.append("approved")


@pytest.mark.django_db
def test_every_example_can_be_played_in_order(harness: Caller, relay: Caller, reviewer: Caller) -> None:
    ids: dict[str, str] = {}
    met: list[str] = []
    played: set[str] = set()
    answer: dict[str, Any] = {}
    for example in EXAMPLES:
        name, arguments = example["tool"], dict(example["arguments"])
        arguments |= {key: ids[value] for key, value in arguments.items() if str(value).isupper()}
        played.add(name)
        if name in RELAYED:
            assert refused(harness, name, **arguments)["code"] == "forbidden"
            answer = done(relay, name, **arguments)
        elif name == "wait_for_decision":
            assert done(harness, name, **arguments, seconds=0)["outcome"] == "pending"
            _decide(reviewer, relay, arguments, met)
            answer = done(harness, name, **arguments)
            assert answer["outcome"] == "decided"
        else:
            answer = done(harness, name, **arguments)
            if "amendment_id" in answer:
                ids["AMENDMENT_ID"] = answer["amendment_id"]
    assert answer["done"]
    assert answer["run_status"] == "completed"
    assert met == ["sent back", "approved", "question", "amendment", "amendment", "checkpoint"]
    core = {tool.name for tool in TOOLS_BY_NAME.values() if tool.core}
    assert core - played == set(), "every core tool is shown"


# -- The tables --------------------------------------------------------------------------------------


def _step_in(state: StepState, relay: Caller) -> str:
    """Bring a step into ``state`` by real calls; its path."""
    if state.type == "task":
        new_run(relay, task("before"), task("it", depends_on=["before"]), task("other"))
        if state.status in {"running", "completed", "failed"}:
            report(relay, "it", state.status)
        elif state.status == "skipped":
            report(relay, "before", "failed")
        elif state.status == "blocked":
            report(relay, "it", "running")
            done(relay, "ask_question", run_id="r1", path="it", text="Which?")
    elif state.type == "checkpoint":
        new_run(relay, task("before"), checkpoint("it", depends_on=["before"]), task("other"))
        if state.status == "skipped":
            report(relay, "before", "failed")
        elif state.status != "pending":
            report(relay, "it", "running")
        if state.status in {"completed", "failed"}:
            decision = "approved" if state.status == "completed" else "rejected"
            done(relay, "resolve_checkpoint", run_id="r1", path="it", decision=decision, note="So.")
    else:
        construct = loop("it", ["inner"], type=state.type, depends_on=["before"])
        new_run(relay, task("before"), construct, task("inner"), task("other"))
        if state.status == "skipped":
            report(relay, "before", "failed")
        elif state.status != "pending":
            add_instance(relay, "it")
        if state.closed:
            done(
                relay,
                "report_step_update",
                run_id="r1",
                path="it",
                summary="Closed.",
                instances_closed=True,
            )
        if state.status in {"completed", "failed"}:
            report(relay, "it/inst_00/inner", state.status)
    return "it"


class _Undo(Exception):
    pass


def _accepted(caller: Caller, name: str, **arguments: Any) -> bool:
    """Whether a call is accepted; what it did is undone."""
    accepted = False
    try:
        with transaction.atomic():
            outcome = call(caller, name, **arguments)
            accepted = not outcome.refused
            raise _Undo
    except _Undo:
        return accepted


@pytest.mark.django_db
@pytest.mark.parametrize("state", step_states(), ids=lambda state: "-".join(map(str, state)))
def test_a_step_takes_what_its_row_says_and_nothing_else(state: StepState, relay: Caller) -> None:
    at = {"run_id": "r1", "path": _step_in(state, relay)}
    now = done(relay, "get_run", **at)["state"]
    assert (now["status"], now.get("instances_closed", False)) == (state.status, state.closed)
    found = legal(state)
    for status in (None, "pending", "running", "completed", "failed"):
        sent = {} if status is None else {"status": status}
        taken = _accepted(relay, "report_step_update", **at, summary="So.", **sent)
        assert taken == (status in found.reports), status
    asked = (now.get("questions") or [{"question_id": "qst_none"}])[-1]["question_id"]
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        CLOSE: ("report_step_update", {"summary": "So.", "instances_closed": True}),
        "register_step_instance": ("register_step_instance", {}),
        "ask_question": ("ask_question", {"text": "Which?"}),
        "answer_question": ("answer_question", {"question_id": asked, "response": {"text": "This."}}),
        "resolve_checkpoint": ("resolve_checkpoint", {"decision": "approved"}),
    }
    for said, (name, sent) in calls.items():
        assert _accepted(relay, name, **at, **sent) == (said in found.calls + found.people), said


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["draft", "approved", "archived"])
def test_a_workflow_takes_what_its_row_says(status: str, relay: Caller) -> None:
    made = (new_draft if status == "draft" else new_approved)(relay, task("a"))
    at = {"workflow_id": made["workflow_id"]}
    if status == "archived":
        archive_workflow(caller=relay, **at)
    found = {name.split()[0]: refused is None for name, refused in workflow_judgements(status).items()}
    for name, expected in found.items():
        sent = {"title": "New", "steps": [task("b")]} if name == "revise_draft" else {}
        assert _accepted(relay, name, **at, **sent) == expected, name


@pytest.mark.django_db
@pytest.mark.parametrize(
    "status", ["running", "paused_for_approval", "waiting_on_human", "completed", "failed", "cancelled"]
)
def test_a_run_takes_what_its_row_says(status: str, relay: Caller) -> None:
    new_run(relay, loop("many", ["open"]), task("open"), task("a"))
    add_instance(relay, "many")
    amendment = {
        "run_id": "r1",
        "proposed_by": "t",
        "kind": "forward",
        "reason": "More.",
        "operations": [{"op": "insert_after", "target_step_id": "a", "step": task("b")}],
    }
    where = {"run_id": "r1", "path": "many/inst_00/open"}
    if status == "paused_for_approval":
        done(relay, "propose_amendment", **amendment)
    elif status == "waiting_on_human":
        report(relay, "a", "running")
        done(relay, "ask_question", run_id="r1", path="a", text="Which?")
    elif status == "failed":
        report(relay, "a", "failed")
    elif status == "cancelled":
        done(relay, "cancel_run", run_id="r1")
    elif status == "completed":
        report(relay, "a", "completed")
        report(relay, "many/inst_00/open", "completed")
        done(relay, "report_step_update", run_id="r1", path="many", summary="So.", instances_closed=True)
    assert done(relay, "get_run", run_id="r1")["status"] == status
    work, proposal = (refused is None for refused in run_judgements(status).values())
    assert _accepted(relay, "report_step_update", **where, summary="So.") == work
    amendment["operations"] = [{"op": "insert_after", "target_step_id": "a", "step": task("c")}]
    assert _accepted(relay, "propose_amendment", **amendment) == proposal
