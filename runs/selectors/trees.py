"""Whole trees: a fixed number of statements, plain dicts, no recursion (design: "whole-tree reads")."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.db.models import Max

from runs import mappers
from runs.domain.skips import skip_roots, skip_sentence
from runs.mappers import Document
from runs.models import (
    AppliedAmendment,
    Artifact,
    ArtifactComment,
    Question,
    Snapshot,
    StepInstance,
    StepState,
)
from runs.selectors.rows import plain_rows
from workflows.domain.plan import Plan, Step
from workflows.mappers import plan_cache
from workflows.models import Step as StepRow

Scope = dict[str, Document]
_STATES = ("pk", "run_id", "instance_id", *mappers.STATE_COLUMNS)
_INSTANCES = ("pk", "construct_id", *mappers.INSTANCE_COLUMNS)
_NAMED_REMOVALS = 500
_by_index = itemgetter("index")


@dataclass(frozen=True, slots=True)
class Extras:
    """What hangs on states and instances, by their rows' ids; oldest first."""

    artifacts_of_states: dict[int, list[Document]]
    artifacts_of_instances: dict[int, list[Document]]
    questions: dict[int, list[Document]]
    history_of_states: dict[int, list[Document]]
    history_of_instances: dict[int, list[Document]]


def step_states_of(
    plans: Mapping[int, int], *, applied: Mapping[int, Sequence[str]], plan: Plan | None = None
) -> dict[int, Scope]:
    """The ``step_states`` of several runs: ``{run's row id: {step id: StepState}}``, in plan order.

    ``plans`` maps each run's row id to its effective plan's; ``applied`` are their ``applied_amendments``; ``plan`` is
    that plan where the caller has it already. Six statements; one more for plans that aren't cached, one more where
    an amendment removed steps.
    """
    if not plans:
        return {}
    outlines = plan_outlines(set(plans.values())) if plan is None else dict.fromkeys(plans.values(), plan)
    extras = _read_extras(list(plans))
    states: dict[int, Document] = {}
    tops: dict[int, Scope] = {run_pk: {} for run_pk in plans}
    bodies: dict[int, Scope] = {}
    skipping: list[tuple[Plan, Scope]] = []
    removed: dict[int, list[Document]] = {}
    rows = plain_rows(StepState.objects.filter(run__in=plans), _STATES)
    for pk, run_pk, instance_pk, *columns in rows:
        document = mappers.state_document(
            columns,
            extras.artifacts_of_states.get(pk) or [],
            extras.questions.get(pk) or [],
            extras.history_of_states.get(pk) or [],
        )
        states[pk] = document
        scope = tops[run_pk] if instance_pk is None else bodies.setdefault(instance_pk, {})
        scope[document["step_id"]] = document
        match document["skip_cause"]:
            case None:
                pass
            case "removed":
                removed.setdefault(run_pk, []).append(document)
            case "dependency":
                skipping.append((outlines[plans[run_pk]], scope))
            case cause:
                document["summary"] = skip_sentence(cause)
    _add_instances(plans, states, bodies, extras)
    _say_why_skipped(skipping)
    _say_who_removed(removed, applied)
    return {run_pk: _in_plan_order(tops[run_pk], outlines[plan_pk]) for run_pk, plan_pk in plans.items()}


def plan_outlines(plan_pks: Collection[int]) -> dict[int, Plan]:
    """The plans' steps with nothing but order, ``depends_on`` and bodies' absence: one statement, none when
    cached.

    Enough to order a tree and to say why a step was skipped; not to be shown.
    """
    found = {pk: plan for pk in plan_pks if (plan := plan_cache.get(pk)) is not None}
    unread = [pk for pk in plan_pks if pk not in found]
    if unread:
        edges: dict[int, dict[str, list[tuple[int, str]]]] = {pk: {} for pk in unread}
        rows = (
            StepRow.objects.filter(plan__in=unread)
            .order_by("pk")
            .values_list("plan_id", "step_id", "dependencies__position", "dependencies__needs__step_id")
        )
        for plan_pk, step_id, position, needed in rows:
            needs = edges[plan_pk].setdefault(step_id, [])
            if needed is not None:
                needs.append((position, needed))
        for plan_pk, steps in edges.items():
            found[plan_pk] = Plan(
                tuple(
                    Step(step_id, "", "", depends_on=tuple(needed for _, needed in sorted(needs)))
                    for step_id, needs in steps.items()
                )
            )
    return found


def comments_of(run_pks: Collection[int]) -> dict[int, dict[str, list[Document]]]:
    """What people said about the runs' artifacts: ``{run's row id: {artifact id: comments, oldest first}}``."""
    found: dict[int, dict[str, list[Document]]] = {}
    rows = (
        ArtifactComment.objects.filter(artifact__run__in=run_pks)
        .order_by("pk")
        .values_list("artifact__run_id", "artifact__artifact_id", *mappers.COMMENT_COLUMNS)
    )
    for run_pk, artifact_id, *columns in rows:
        of_run = found.setdefault(run_pk, {})
        of_run.setdefault(artifact_id, []).append(mappers.comment_document(columns))
    return found


def _read_extras(run_pks: Collection[int]) -> Extras:
    comments = comments_of(run_pks)
    extras = Extras({}, {}, {}, {}, {})
    artifacts = (
        Artifact.objects.filter(run__in=run_pks, superseded=False)
        .order_by("pk")
        .values_list("run_id", "state_id", "instance_id", *mappers.ARTIFACT_COLUMNS)
    )
    for run_pk, state_pk, instance_pk, *columns in artifacts:
        said = comments[run_pk].get(columns[0], []) if run_pk in comments else []
        document = mappers.artifact_document(columns, said)
        if state_pk is not None:
            extras.artifacts_of_states.setdefault(state_pk, []).append(document)
        elif instance_pk is not None:
            extras.artifacts_of_instances.setdefault(instance_pk, []).append(document)
    questions = (
        Question.objects.filter(run__in=run_pks)
        .order_by("pk")
        .values_list("state_id", *mappers.QUESTION_COLUMNS)
    )
    for state_pk, *columns in questions:
        extras.questions.setdefault(state_pk, []).append(mappers.question_document(columns))
    snapshots: Any = (
        Snapshot.objects.filter(run__in=run_pks)
        .order_by("pk")
        .values_list(
            "run_id",
            "state_id",
            "instance_id",
            "document",
            "superseded_at",
            "amendment_id",
            "instance__construct__step_id",
        )
    )
    for run_pk, state_pk, instance_pk, kept, superseded_at, amendment_id, parent in snapshots:
        document = mappers.history_document(
            kept, superseded_at, amendment_id, comments.get(run_pk, {}), parent_step_id=parent
        )
        if state_pk is not None:
            extras.history_of_states.setdefault(state_pk, []).append(document)
        else:
            extras.history_of_instances.setdefault(instance_pk, []).append(document)
    return extras


def _add_instances(
    plans: Collection[int], states: dict[int, Document], bodies: dict[int, Scope], extras: Extras
) -> None:
    """Hang every instance below its construct, by index, with its body's states in the body's order."""
    rows = plain_rows(StepInstance.objects.filter(run__in=plans), _INSTANCES)
    constructs = set()
    for pk, construct_pk, *columns in rows:
        construct = states[construct_pk]
        scope, body = bodies.get(pk, {}), columns[6]
        if list(scope) != body:
            others = sorted(scope.keys() - set(body))
            scope = {step_id: scope[step_id] for step_id in (*body, *others) if step_id in scope}
        construct["instances"].append(
            mappers.instance_document(
                columns,
                construct["step_id"],
                scope,
                extras.artifacts_of_instances.get(pk) or [],
                extras.history_of_instances.get(pk) or [],
            )
        )
        constructs.add(construct_pk)
    for construct_pk in constructs:
        states[construct_pk]["instances"].sort(key=_by_index)


def _say_why_skipped(scopes: list[tuple[Plan, Scope]]) -> None:
    """Give the steps that wait for a failed one the sentence that names it."""
    seen: set[int] = set()
    for plan, scope in scopes:
        if id(scope) in seen:
            continue
        seen.add(id(scope))
        standings = {step_id: (state["status"], state["skip_cause"]) for step_id, state in scope.items()}
        waiting = [step_id for step_id, (_, cause) in standings.items() if cause == "dependency"]
        for step_id, root in skip_roots(plan, standings, waiting).items():
            scope[step_id]["summary"] = skip_sentence("dependency", root=root)


def _say_who_removed(removed: dict[int, list[Document]], applied: Mapping[int, Sequence[str]]) -> None:
    """Give removed steps the sentence that names the amendment. One statement, none where nothing was removed."""
    if not removed:
        return
    step_ids = {state["step_id"] for states in removed.values() for state in states}
    for run_pk, amendment_of in removing_amendments(removed, step_ids, applied=applied).items():
        for state in removed.get(run_pk, ()):
            state["summary"] = skip_sentence("removed", amendment_id=amendment_of.get(state["step_id"]))


def removing_amendments(
    run_pks: Collection[int],
    step_ids: Collection[str],
    *,
    applied: Mapping[int, Sequence[str]] | None = None,
) -> dict[int, dict[str, str]]:
    """Which amendment took each step out: ``{run's row id: {step id: amendment id}}``.

    A removed id is never used again, so it is the amendment after the last one whose plan still had the step, or
    the run's first. One statement, one more where the caller hasn't ``applied_amendments`` of these runs.
    """
    if applied is None:
        applied = applied_amendments(run_pks)
    having = AppliedAmendment.objects.filter(run__in=run_pks)
    if len(step_ids) <= _NAMED_REMOVALS:
        having = having.filter(plan__steps__step_id__in=step_ids)
    numbered = having.values_list("run_id", "plan__steps__step_id").annotate(Max("number"))
    last = {(run_pk, step_id): number for run_pk, step_id, number in numbered}
    return {
        run_pk: {
            step_id: amendments[before]
            for step_id in step_ids
            if (before := last.get((run_pk, step_id), 0)) < len(amendments)
        }
        for run_pk, amendments in applied.items()
    }


def applied_amendments(run_pks: Collection[int]) -> dict[int, list[str]]:
    """The ids of the amendments that were applied to each run, in order; runs without one are absent."""
    found: dict[int, list[str]] = {}
    rows = AppliedAmendment.objects.filter(run__in=run_pks).order_by("run_id", "number")
    for run_pk, amendment_id in rows.values_list("run_id", "amendment_id"):
        found.setdefault(run_pk, []).append(amendment_id)
    return found


def _in_plan_order(scope: Scope, plan: Plan) -> Scope:
    """Top-level states: those of the plan in its order, then what an amendment removed, by id."""
    planned = {step.id: scope[step.id] for step in plan.steps if step.id in scope}
    gone = sorted(scope.keys() - planned.keys())
    return planned | {step_id: scope[step_id] for step_id in gone} if gone else planned
