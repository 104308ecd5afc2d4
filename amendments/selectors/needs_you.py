"""What waits for a person, with all that the decision needs: the cards of the first page."""

from collections.abc import Collection
from typing import Any

from django.db.models import Q

from amendments.domain.words import describe_operations, together
from amendments.mappers import OPERATION_COLUMNS, operation_values
from amendments.models import Amendment, Operation
from amendments.selectors.standings import standings_of
from amendments.selectors.waiting import all_drafts_waiting, amendments_waiting, waiting_rows
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging
from chief_project.shared.reading import one_moment
from runs.models import Question
from runs.selectors.evidence import failures, surroundings
from runs.selectors.waiting import (
    Waiting,
    checkpoints_waiting,
    failed_runs_waiting,
    questions_waiting,
)
from workflows.mappers import load_plans
from workflows.selectors.looks import drafts_as_read

Document = dict[str, Any]

# Checkpoints of one name in instances of one name, in different places of a run's tree.
_TWINS = 1000


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
        return page.replace(_whole(caller, page.rows))


def read_card(*, caller: Caller, card: str) -> Document | None:
    """One item of ``needs_you`` by its name; None once it no longer waits.

    Of a draft whose plan moved on, what waits now, with ``changes`` told from the revision that the name has.
    """
    caller.must(Right.READ, "read what waits for a person")
    kind, _, name = card.partition(":")
    with one_moment():
        if kind == "draft":
            name, _, number = name.rpartition("@")
            drafts = [each for each in all_drafts_waiting(caller=caller) if each.key == name]
            shown = int(number) if number.isdecimal() and len(number) < 10 else None
            moved_on = bool(drafts) and drafts[0].document["revision"] != shown
            found = _whole(caller, drafts, shown=shown if moved_on else None)
            return found[0] if found else None
        waiting: list[Waiting] = []
        if kind == "amendment":
            waiting = amendments_waiting(mark=None, limit=1, only=Q(amendment_id=name))
        elif kind == "checkpoint":
            run_id, _, path = name.partition("@")
            *_, step_id = path.split("/")
            only = Q(run__run_id=run_id, step_id=step_id)
            if "/" in path:
                only &= Q(instance__instance_id=path.split("/")[-2])
            waiting = checkpoints_waiting(mark=None, limit=_TWINS, only=only)
        elif kind == "question":
            waiting = questions_waiting(mark=None, limit=1, only=Q(question_id=name))
        elif kind == "failed_run":
            waiting = failed_runs_waiting(mark=None, limit=1, only=Q(run_id=name))
        twins = [each for each in waiting if card_of(each.document) == card]
        return next(iter(_whole(caller, twins)), None)


def waiting_cards(*, caller: Caller, paging: Paging, project: str | None = None) -> Page:
    """``{card, since}`` of what waits, in order: what ``needs_you`` has on this page, without more of each."""
    caller.must(Right.READ, "read what waits for a person")
    with one_moment():
        page = waiting_rows(caller=caller, paging=paging, project=project)
    return page.map(lambda waiting: {"card": card_of(waiting.document), "since": waiting.since})


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


def _whole(caller: Caller, rows: list[Waiting], *, shown: int | None = None) -> list[Document]:
    more = _more(caller, rows, shown)
    return [
        waiting.document
        | more.get((waiting.document["kind"], waiting.key), {})
        | {"card": card_of(waiting.document)}
        for waiting in rows
    ]


def _more(caller: Caller, rows: list[Waiting], shown: int | None) -> dict[tuple[str, Any], Document]:
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
        "draft": drafts_as_read(caller=caller, workflow_ids=keys["draft"], shown=shown)
        if "draft" in keys
        else {},
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
