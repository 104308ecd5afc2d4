"""Runs: rows → documents, shaped exactly as contract 3 has them. No SQL here.

A state's and an instance's own columns travel as one tuple, in the order of ``STATE_COLUMNS`` and
``INSTANCE_COLUMNS``: a whole tree reads them with ``values_list``, a single row through ``state_columns``. So the
shape is written down once and ten thousand branches cost ten thousand dicts.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

Document = dict[str, Any]

STATE_COLUMNS = (
    "step_id",
    "type",
    "status",
    "skip_cause",
    "summary",
    "metadata",
    "criteria_met",
    "checkpoint",
    "stale",
    "started_at",
    "completed_at",
    "instances_closed",
    "failures",
)
INSTANCE_COLUMNS = (
    "instance_id",
    "index",
    "kind",
    "status",
    "summary",
    "metadata",
    "body",
    "stale",
    "started_at",
    "completed_at",
    "failures",
)
RUN_COLUMNS = (
    "run_id",
    "workflow__workflow_id",
    "workflow__title",
    "base_version",
    "status",
    "metadata",
    "revision",
    "created_at",
    "updated_at",
    "last_report_at",
    "acknowledged",
    "cancelled",
    "pending_amendment_id",
)
ARTIFACT_COLUMNS = ("artifact_id", "type", "description", "ref", "data")
COMMENT_COLUMNS = ("comment_id", "body", "author", "actor", "via", "created_at")
QUESTION_COLUMNS = (
    "question_id",
    "text",
    "fields",
    "asked_at",
    "asked_actor",
    "response",
    "answered_at",
    "answered_by",
    "actor",
    "via",
    "closed",
)

state_columns = attrgetter(*STATE_COLUMNS)
instance_columns = attrgetter(*INSTANCE_COLUMNS)

_CONSTRUCTS = frozenset({"loop", "parallel"})


def state_document(
    columns: Sequence[Any],
    artifacts: list[Document],
    questions: list[Document],
    history: list[Document],
) -> Document:
    """A ``StepState`` from its own columns. A construct's ``instances`` is an empty list, to be filled by index."""
    (
        step_id,
        type_,
        status,
        skip_cause,
        summary,
        metadata,
        criteria_met,
        checkpoint,
        stale,
        started_at,
        completed_at,
        closed,
        failures,
    ) = columns
    return {
        "step_id": step_id,
        "status": status,
        "summary": summary,
        "artifacts": artifacts,
        "metadata": metadata,
        "started_at": started_at,
        "completed_at": completed_at,
        "instances": [] if type_ in _CONSTRUCTS else None,
        "instances_closed": bool(closed),
        "checkpoint": checkpoint,
        "criteria_met": criteria_met,
        "questions": questions,
        "stale": stale,
        "history": history,
        "skip_cause": skip_cause,
        "failures": failures,
    }


def instance_document(
    columns: Sequence[Any],
    parent_step_id: str,
    step_states: dict[str, Document],
    artifacts: list[Document],
    history: list[Document],
) -> Document:
    """A ``StepInstance`` from its own columns; ``step_states`` in the order of its ``body``."""
    (
        instance_id,
        index,
        kind,
        status,
        summary,
        metadata,
        body,
        stale,
        started_at,
        completed_at,
        failures,
    ) = columns
    return {
        "instance_id": instance_id,
        "parent_step_id": parent_step_id,
        "kind": kind,
        "index": index,
        "status": status,
        "summary": summary,
        "artifacts": artifacts,
        "metadata": metadata,
        "step_states": step_states,
        "started_at": started_at,
        "completed_at": completed_at,
        "body": body,
        "stale": stale,
        "history": history,
        "failures": failures,
    }


def minimal_state_document(
    state: Any,
    *,
    artifacts: Iterable[Document] = (),
    questions: Iterable[Document] = (),
    history: Iterable[Document] = (),
    skipped: str | None = None,
) -> Document:
    """The ``state`` of a minimal answer (contract 1): a ``StepState`` without its nested instances.

    ``state`` is anything with a ``StepState``'s columns as attributes. The lists hold documents. ``skipped`` is the
    sentence shown as the summary of a skipped step. ``instances`` is left out for constructs, ``null`` elsewhere.
    """
    document = state_document(state_columns(state), list(artifacts), list(questions), list(history))
    if document["instances"] is not None:
        del document["instances"]
    if skipped is not None:
        document["summary"] = skipped
    return document


def minimal_instance_document(
    instance: Any,
    *,
    parent_step_id: str,
    artifacts: Iterable[Document] = (),
    history: Iterable[Document] = (),
) -> Document:
    """The same for a ``StepInstance``: ``step_states`` is left out."""
    document = instance_document(
        instance_columns(instance), parent_step_id, {}, list(artifacts), list(history)
    )
    del document["step_states"]
    return document


def run_document(
    columns: Sequence[Any], applied_amendment_ids: list[str], step_states: dict[str, Document] | None
) -> Document:
    """A ``RunState``; without ``step_states`` when None (an item of a list)."""
    (
        run_id,
        workflow_id,
        title,
        base_version,
        status,
        metadata,
        revision,
        created_at,
        updated_at,
        last_report_at,
        acknowledged,
        cancelled,
        pending_amendment_id,
    ) = columns
    document = {
        "run_id": run_id,
        "workflow_id": workflow_id,
        "title": title,
        "base_version": base_version,
        "applied_amendment_ids": applied_amendment_ids,
        "pending_amendment_id": pending_amendment_id,
        "status": status,
        "metadata": metadata,
        "revision": revision,
        "created_at": created_at,
        "updated_at": updated_at,
        "last_report_at": last_report_at,
        "acknowledged": acknowledged,
        "cancelled": cancelled,
    }
    if step_states is not None:
        document["step_states"] = step_states
    return document


def artifact_document(columns: Sequence[Any], comments: list[Document]) -> Document:
    """An ``ArtifactRef`` as it is answered: with what people said about it, oldest first."""
    artifact_id, type_, description, ref, data = columns
    return {
        "artifact_id": artifact_id,
        "type": type_,
        "description": description,
        "ref": ref,
        "data": data,
        "comments": comments,
    }


def comment_document(columns: Sequence[Any]) -> Document:
    """What a person said about an artifact."""
    comment_id, body, author, actor, via, created_at = columns
    return {
        "comment_id": comment_id,
        "body": body,
        "author": author,
        "actor": actor,
        "via": via,
        "created_at": created_at,
    }


def question_document(columns: Sequence[Any]) -> Document:
    """A question of a step. ``response``, ``answered_at``, ``answered_by`` and ``closed`` are null while it is open."""
    (
        question_id,
        text,
        fields,
        asked_at,
        asked_actor,
        response,
        answered_at,
        answered_by,
        actor,
        via,
        closed,
    ) = columns
    return {
        "question_id": question_id,
        "text": text,
        "fields": fields,
        "asked_at": asked_at,
        "asked_actor": asked_actor,
        "response": response,
        "answered_at": answered_at,
        "answered_by": answered_by,
        "actor": actor,
        "via": via,
        "closed": closed,
    }


def history_document(
    snapshot: Document,
    superseded_at: Any,
    amendment_id: str | None,
    comments: Mapping[str, list[Document]],
    *,
    parent_step_id: str | None = None,
) -> Document:
    """An entry of ``history``: the result as it stood, when it was superseded and by which amendment.

    ``comments`` are the run's, by artifact id: what people said later about an artifact in here is shown in here.
    ``parent_step_id`` is the construct of a superseded instance.
    """
    document = snapshot | {"superseded_at": superseded_at, "amendment_id": amendment_id}
    if parent_step_id is not None:
        document["parent_step_id"] = parent_step_id
    stack = [document]
    while stack:
        part = stack.pop()
        for artifact in part.get("artifacts") or ():
            artifact["comments"] = comments.get(artifact["artifact_id"], artifact.get("comments", []))
        for instance in part.get("instances") or ():
            instance["parent_step_id"] = part["step_id"]
            stack.append(instance)
        stack.extend((part.get("step_states") or {}).values())
        stack.extend(part.get("history") or ())
    return document
