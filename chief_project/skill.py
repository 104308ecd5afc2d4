"""The skill: what an agent should know of Chief that no tool's description says (contract 10).

One text (``skill.md`` beside this module) with tables put in. The tables are not written but probed: for each state
the domain's own judgements are asked about each call, so they say what the services will say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args

from amendments.domain.proposal import judge_proposal
from chief_project.mcp import TOOLS
from chief_project.shared.errors import ChiefError
from runs.documents import ReportedStatus, RunStatus
from runs.domain.report import (
    judge_construct_report,
    judge_question,
    judge_report,
    refuse_cancelled_run,
    refuse_closed,
    refuse_completed_run,
    refuse_no_checkpoint,
    refuse_no_construct,
    refuse_terminal,
    refuse_unapproved,
    refuse_unblocked,
)
from runs.domain.status import FINISHED, STATUSES, construct_status, empty_tally
from runs.domain.tree import StateNode
from workflows.domain import standing
from workflows.domain.plan import CONSTRUCTS, Step

SOURCE = Path(__file__).with_name("skill.md")
TYPES = ("task", "checkpoint", *sorted(CONSTRUCTS))
CLOSE = "instances_closed: true"
_ID = "…"


class StepState(NamedTuple):
    """A state a step can be in; ``closed`` is a construct's own, and a blocked task has a question open."""

    type: str
    status: str
    closed: bool = False

    @property
    def open_question(self) -> str | None:
        """A blocked task waits for an answer."""
        return "qst_…" if (self.type, self.status) == ("task", "blocked") else None

    def node(self) -> StateNode:
        """As the domain sees it."""
        node = StateNode(_ID, self.type, status=self.status, instances_closed=self.closed)
        if self.type in CONSTRUCTS:
            node.instances = {}
        if self.type == "checkpoint" and self.status in FINISHED:
            node.checkpoint = {"decision": self.status, "decided_by": "human"}
        return node


class Legal(NamedTuple):
    """What is accepted in a state: a report's statuses (None: without one), other calls, and what people may do."""

    reports: tuple[str | None, ...]
    calls: tuple[str, ...]
    people: tuple[str, ...]
    refusal: str


def _refusal(*judges: Callable[[], object]) -> str | None:
    """What a call says that one of ``judges`` refuses; ``None``: it is accepted."""
    try:
        for judge in judges:
            judge()
    except ChiefError as problem:
        return problem.message
    return None


# -- Steps -------------------------------------------------------------------------------------------


def step_states() -> list[StepState]:
    """Every state that a step of each type can be in, by what the domain derives and accepts."""
    return [state for kind in TYPES for state in _states_of(kind)]


def _states_of(kind: str) -> Iterator[StepState]:
    if kind == "task":
        yield from (StepState(kind, status) for status in STATUSES)
    elif kind == "checkpoint":
        reached = {str(_report(StepState(kind, "pending"), status)) for status in get_args(ReportedStatus)}
        decided = {"pending", "completed", "failed", "skipped"}
        yield from (StepState(kind, status) for status in STATUSES if status in reached | decided)
    else:
        for status, closed in product(STATUSES, (False, True)):
            if status in _derived(closed=closed) or (status == "skipped" and not closed):
                yield StepState(kind, status, closed)


def _report(state: StepState, status: str) -> str | None:
    report = {"summary": "…", "status": status}
    try:
        return judge_report(state.node(), None, report, open_question=state.open_question)
    except ChiefError:
        return None


def _derived(*, closed: bool) -> set[str]:
    """The statuses that a construct of some instances can have."""
    tallies = [empty_tally(), *(empty_tally() | {status: 1} for status in STATUSES)]
    return {
        construct_status(tally, policy=policy, closed=closed, started=started)
        for tally, policy, started in product(tallies, ("fail_fast", "continue"), (False, True))
    }


def legal(state: StepState) -> Legal:
    """What is accepted of a step in ``state``."""
    node, step = state.node(), Step(_ID, state.type, "…")
    construct = node.instances is not None

    def reported(**report: object) -> str | None:
        if construct:
            return _refusal(lambda: judge_construct_report(node, report))
        return _refusal(lambda: judge_report(node, step, report, open_question=state.open_question))

    reports = [status for status in (None, *get_args(ReportedStatus)) if reported(status=status) is None]
    calls = {
        CLOSE: reported(instances_closed=True),
        "register_step_instance": _refusal(
            partial(refuse_no_construct, node), partial(refuse_terminal, node), partial(refuse_closed, node)
        ),
        "ask_question": _refusal(lambda: judge_question(node, open_question=state.open_question)),
    }
    people = {
        "answer_question": None if state.open_question else "nothing is asked",
        "resolve_checkpoint": _refusal(partial(refuse_no_checkpoint, node), partial(refuse_unblocked, node)),
    }
    refusals = [reported(status=status) for status in (None, *get_args(ReportedStatus))]
    return Legal(
        tuple(reports),
        tuple(name for name, refused in calls.items() if refused is None),
        tuple(name for name, refused in people.items() if refused is None),
        next((said for said in refusals if said), ""),
    )


def _statuses(reports: tuple[str | None, ...]) -> str:
    if not reports:
        return "–"
    return ", ".join("no status" if status is None else f"`{status}`" for status in reports)


def step_table() -> str:
    """The states of steps, and what is accepted in each; equal rows are one."""
    judged = {state: _as_said(state) for state in step_states()}
    rows: dict[Legal, dict[str, list[str]]] = {}
    for state, found in judged.items():
        there = rows.setdefault(found, {}).setdefault(state.type, [])
        differs = judged.get(state._replace(closed=False), found) != found
        name = f"`{state.status}`, closed" if differs else f"`{state.status}`"
        if name not in there:
            there.append(name)
    lines = []
    for found, by_type in rows.items():
        same: dict[str, list[str]] = {}
        for kind, names in by_type.items():
            same.setdefault(", ".join(names), []).append(kind)
        lines += [(_code(kinds), names, *_cells(found)) for names, kinds in same.items()]
    head = ("step", "status", "a report with", "other calls of yours", "a person's", "else the refusal says")
    return _table(head, lines)


def _as_said(state: StepState) -> Legal:
    """What is legal, with a refusal that speaks of no type and no status."""
    found = legal(state)
    said = found.refusal.replace(f"{state.type} '{_ID}'", f"step '{_ID}'")
    if state.status in FINISHED:
        said = said.replace(f"is {state.status}", f"is {_ID}")
    return found._replace(refusal=said)


def _cells(found: Legal) -> tuple[str, ...]:
    statuses = ", ".join("no status" if status is None else f"`{status}`" for status in found.reports)
    return statuses or "–", _code(found.calls), _code(found.people), found.refusal or "–"


# -- Runs and workflows ------------------------------------------------------------------------------


def run_judgements(status: str) -> dict[str, str | None]:
    """Of each kind of call on a run in ``status``, what its refusal says; ``None``: it is accepted."""
    pending = "amd_…" if status == "paused_for_approval" else None
    work = _refusal(partial(refuse_cancelled_run, _ID, status), partial(refuse_completed_run, _ID, status))
    return {
        "reports, instances, questions, decisions": work,
        "propose_amendment": _refusal(lambda: judge_proposal(_ID, status, pending=pending)),
    }


def workflow_judgements(status: str) -> dict[str, str | None]:
    """The same of a workflow."""
    no_draft = _refusal(
        lambda: standing.refuse_no_draft(
            _ID, status, doing="revised", instead=dict.fromkeys(standing.STATUSES, "")
        )
    )
    return {
        "revise_draft": no_draft,
        "approve_workflow (a person's)": no_draft,
        "archive_workflow (a person's)": _refusal(lambda: standing.refuse_archived(_ID, status)),
        "register_run": _refusal(lambda: refuse_unapproved(_ID, status)),
    }


def _judged(first: str, statuses: Iterable[str], judgements: Callable[[str], dict[str, str | None]]) -> str:
    found = {status: judgements(status) for status in statuses}
    calls = list(next(iter(found.values())))
    return _table(
        (first, *calls),
        (
            (f"`{status}`", *("yes" if refused is None else "no" for refused in row.values()))
            for status, row in found.items()
        ),
    )


def run_table() -> str:
    """The statuses of a run, and what it takes in each."""
    return _judged("run", get_args(RunStatus), run_judgements)


def workflow_table() -> str:
    """The statuses of a workflow, and what may be done in each."""
    return _judged("workflow", standing.STATUSES, workflow_judgements)


def relay_list() -> str:
    """The tools that say what a person decided."""
    return _code(tool.name for tool in TOOLS if tool.title.startswith("Relay"))


# -- The text ----------------------------------------------------------------------------------------


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def render() -> str:
    """The whole skill, as it goes to its file."""
    text = SOURCE.read_text(encoding="utf-8")
    for name, made in {
        "steps": step_table,
        "runs": run_table,
        "workflows": workflow_table,
        "relayed": relay_list,
    }.items():
        text = text.replace(f"{{{{{name}}}}}", made())
    return text
