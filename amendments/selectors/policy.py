"""The approval policy, as it is kept, and what other rules would come to (contract 5)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from amendments import mappers
from amendments.domain.operations import Operation
from amendments.domain.policy import (
    AMENDMENT_POLICY,
    DOCUMENT_NAME,
    AmendmentFacts,
    decide_amendment,
    why_a_person_decides,
)
from amendments.models import Amendment
from amendments.models import Operation as OperationRow
from chief_project.shared.caller import Caller, Right
from chief_project.shared.policies import TRIED_ON, KeptPolicy, Trial, kept_policy, untried
from chief_project.shared.reading import one_moment
from runs.models import Question
from workflows.mappers import load_plans

Document = dict[str, Any]

_COLUMNS = (
    "id",
    "amendment_id",
    "run_id",
    "run__run_id",
    "run__workflow__workflow_id",
    "proposed_by",
    "proposed_actor",
    "kind",
    "reason",
    "status",
    "decided_by",
    "created_at",
    "plan_before_id",
    "plan_after_id",
    "plan_before__step_count",
    "plan_after__step_count",
)
# Plans are read to judge amendments: no more than this many steps, and so fewer amendments where plans are huge.
_MOST_STEPS = 50_000


def get_approval_policy(*, caller: Caller) -> Document:
    """``{rules: [{id, match, auto_approve}]}``; no rules until a person writes some."""
    return {"rules": read_approval_policy(caller=caller).rules}


def read_approval_policy(*, caller: Caller) -> KeptPolicy:
    """The policy with who wrote it when, and the revision that ``based_on`` names."""
    caller.must(Right.OVERSEE, "read the approval policy")
    return kept_policy(DOCUMENT_NAME)


def approval_rules() -> list[Document]:
    """The rules in order, for ``decide_amendment``; whoever the caller is, the policy judges what they made."""
    return kept_policy(DOCUMENT_NAME).rules


def try_approval_policy(*, caller: Caller, rules: list[Document]) -> Trial:
    """Judge ``rules`` (``{match, auto_approve, id?}``), and say which of the newest amendments they would have approved.

    Each amendment is judged as it was proposed, with the guard of ``why_a_person_decides``. What was blocked then is
    told by the questions that were open; a step that an amendment made anew since has taken its own with it. Whether
    the workflow's head could have taken it isn't asked. Nothing is written. Nine statements at most, beside the read's
    own two.
    """
    caller.must(Right.OVERSEE, "try an approval policy")
    trial = untried(rules, AMENDMENT_POLICY)
    if trial.judgement.kept is None:
        return trial
    with one_moment():
        rows = _newest()
        operations = _operations(row["id"] for row in rows)
        matched = [
            (row, rule)
            for row in rows
            if (rule := decide_amendment(trial.judgement.kept, _facts(row, operations[row["id"]])))
        ]
        plans = load_plans(row[end] for row, _ in matched for end in ("plan_before_id", "plan_after_id"))
        open_then = _questions(row["run_id"] for row, _ in matched)
    decided, held_back = [], []
    for row, rule in matched:
        why = why_a_person_decides(
            kind=row["kind"],
            before=plans[row["plan_before_id"]],
            after=plans[row["plan_after_id"]],
            operations=operations[row["id"]],
            blocked=_blocked(open_then.get(row["run_id"], []), row["created_at"]),
        )
        told = _told(row) | {"rule": rule}
        if why is None:
            decided.append(told)
        else:
            held_back.append(told | {"why": why})
    return Trial(trial.judgement, len(rows), decided, held_back)


def _newest() -> list[Document]:
    found: list[Document] = []
    steps = 0
    for row in Amendment.objects.order_by("-created_at", "-id").values(*_COLUMNS)[:TRIED_ON]:
        steps += row["plan_before__step_count"] + row["plan_after__step_count"]
        if found and steps > _MOST_STEPS:
            break
        found.append({**row})
    return found


def _facts(row: Document, operations: list[Operation]) -> AmendmentFacts:
    return AmendmentFacts(
        kind=row["kind"],
        proposed_by=row["proposed_by"],
        actor=row["proposed_actor"],
        run_id=row["run__run_id"],
        workflow_id=row["run__workflow__workflow_id"],
        ops=frozenset(operation.op for operation in operations),
    )


def _told(row: Document) -> Document:
    return {
        "amendment_id": row["amendment_id"],
        "run_id": row["run__run_id"],
        "workflow_id": row["run__workflow__workflow_id"],
        "proposed_by": row["proposed_by"],
        "actor": row["proposed_actor"],
        "kind": row["kind"],
        "reason": row["reason"],
        "status": row["status"],
        "decided_by": row["decided_by"],
        "created_at": row["created_at"],
    }


def _operations(amendment_pks: Iterable[int]) -> dict[int, list[Operation]]:
    found: dict[int, list[tuple[Any, ...]]] = {pk: [] for pk in amendment_pks}
    rows = OperationRow.objects.filter(amendment__in=list(found)).order_by("amendment_id", "position")
    for pk, *columns in rows.values_list("amendment_id", *mappers.OPERATION_COLUMNS):
        found[pk].append(tuple(columns))
    return {pk: mappers.operation_values(columns) for pk, columns in found.items()}


def _questions(run_pks: Iterable[int]) -> dict[int, list[Document]]:
    found: dict[int, list[Document]] = {}
    questions = Question.objects.filter(run__in=set(run_pks))
    for row in questions.values("run_id", "state__step_id", "asked_at", "answered_at", "closed"):
        found.setdefault(row["run_id"], []).append({**row})
    return found


def _blocked(questions: list[Document], at: datetime) -> frozenset[str]:
    """The steps whose question was open at that moment. A checkpoint that was blocked is guarded for being one."""
    return frozenset(
        question["state__step_id"]
        for question in questions
        if question["asked_at"] <= at and not any(end <= at for end in _ends(question))
    )


def _ends(question: Document) -> list[datetime]:
    ends = [] if question["answered_at"] is None else [question["answered_at"]]
    if question["closed"] is not None:
        ends.append(datetime.fromisoformat(question["closed"]["at"]))
    return ends
