"""What waits for a person, with all that the decision needs: the cards of the first page."""

from collections.abc import Collection
from typing import Any

from amendments.domain.words import describe_operations, together
from amendments.mappers import OPERATION_COLUMNS, operation_values
from amendments.models import Amendment, Operation
from amendments.selectors.standings import standings_of
from amendments.selectors.waiting import waiting_rows
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging
from chief_project.shared.reading import one_moment
from runs.models import Question
from runs.selectors.evidence import failures, surroundings
from runs.selectors.waiting import Waiting
from workflows.mappers import load_plans
from workflows.selectors.looks import drafts_as_read

Document = dict[str, Any]


def needs_you(*, caller: Caller, paging: Paging, project: str | None = None) -> Page:
    """``list_waiting``'s items, the longest waiting first, each with its ``card`` (``card_of``) and with more.

    A draft has what ``drafts_as_read`` tells. An amendment has ``told``, what its operations come to for a summary
    (``together``), and ``edits``, the steps whose results it moves to history. A checkpoint and a question have what
    ``surroundings`` tells, a failed run what ``failures`` does.

    ``project``: a label, or ``UNLABELLED``. A fixed number of statements, at most 32 beside those of plans that aren't
    cached.
    """
    caller.must(Right.READ, "read what waits for a person")
    with one_moment():
        page = waiting_rows(caller=caller, paging=paging, project=project)
        more = _more(caller, page.rows)
    return page.map(
        lambda waiting: (
            waiting.document
            | more.get((waiting.document["kind"], waiting.key), {})
            | {"card": card_of(waiting.document)}
        )
    )


def card_of(item: Document) -> str:
    """A name for what an item of ``list_waiting`` asks, for as long as it is asked: ``kind:id``.

    A draft's names its revision, ``draft:wf_1@3``; a checkpoint's its path, ``checkpoint:run_1@steps/inst_00/look``.
    """
    match item["kind"]:
        case "draft":
            return f"draft:{item['workflow_id']}@{item['revision']}"
        case "amendment":
            return f"amendment:{item['amendment_id']}"
        case "checkpoint":
            return f"checkpoint:{item['run_id']}@{item['path']}"
        case "question":
            return f"question:{item['question_id']}"
        case kind:
            return f"{kind}:{item['run_id']}"


def _more(caller: Caller, rows: list[Waiting]) -> dict[tuple[str, Any], Document]:
    keys: dict[str, list[Any]] = {}
    for waiting in rows:
        keys.setdefault(waiting.document["kind"], []).append(waiting.key)
    asking = dict(
        Question.objects.filter(pk__in=keys.get("question", ())).values_list("pk", "state_id")
        if "question" in keys
        else ()
    )
    around = surroundings([*keys.get("checkpoint", ()), *asking.values()])
    by_kind: dict[str, dict[Any, Document]] = {
        "draft": drafts_as_read(caller=caller, workflow_ids=keys["draft"]) if "draft" in keys else {},
        "amendment": _changes(keys.get("amendment", ())),
        "checkpoint": around,
        "question": {pk: around[state_pk] for pk, state_pk in asking.items()},
        "failed_run": failures(keys.get("failed_run", ())),
    }
    return {(kind, key): document for kind, found in by_kind.items() for key, document in found.items()}


def _changes(amendment_pks: Collection[int]) -> dict[int, Document]:
    """By row id: ``told`` and ``edits``. Three statements."""
    if not amendment_pks:
        return {}
    rows = {
        pk: (run_pk, plan_pk)
        for pk, run_pk, plan_pk in Amendment.objects.filter(pk__in=amendment_pks).values_list(
            "pk", "run_id", "plan_before_id"
        )
    }
    plans = load_plans({plan_pk for _, plan_pk in rows.values()})
    columns: dict[int, list[tuple[Any, ...]]] = {}
    for pk, *operation in (
        Operation.objects.filter(amendment__in=amendment_pks)
        .order_by("amendment", "position")
        .values_list("amendment_id", *OPERATION_COLUMNS)
    ):
        columns.setdefault(pk, []).append(tuple(operation))
    targets = {operation[1] for each in columns.values() for operation in each}
    standings = standings_of([run_pk for run_pk, _ in rows.values()], targets)
    found: dict[int, Document] = {}
    for pk, (run_pk, plan_pk) in rows.items():
        told = describe_operations(
            operation_values(columns.get(pk, ())), plans[plan_pk], standings.get(run_pk, {})
        )
        found[pk] = {
            "told": together(told),
            "edits": list(dict.fromkeys(each.step.id for each in told if each.keeps)),
        }
    return found
