"""How the steps that an amendment is about stand in its run, for the words that tell what it does."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Count, Max

from amendments.domain.words import Standing
from runs.domain.tree import PUT_ASIDE
from runs.models import StepState


def standings_of(run_pks: Collection[int], step_ids: Collection[str]) -> dict[int, dict[str, Standing]]:
    """The standing of each step over all its copies, by run's row id and step id: one statement.

    Steps that a run has no state of are missing. For selectors that asked whether the caller may read the run.
    """
    counts: dict[tuple[int, str], dict[str, int]] = {}
    ended: dict[tuple[int, str], datetime] = {}
    rows = (
        StepState.objects.filter(run__in=run_pks, step_id__in=step_ids)
        .exclude(skip_cause__in=PUT_ASIDE)
        .values_list("run_id", "step_id", "status")
        .annotate(copies=Count("pk"), last=Max("completed_at"))
    )
    for run_pk, step_id, status, copies, last in rows:
        key = run_pk, step_id
        counts.setdefault(key, {})[status] = copies
        if last is not None and status in ("completed", "failed"):
            ended[key] = max(last, ended.get(key, last))
    found: dict[int, dict[str, Standing]] = {}
    for (run_pk, step_id), of_step in counts.items():
        found.setdefault(run_pk, {})[step_id] = Standing(of_step, ended.get((run_pk, step_id)))
    return found
