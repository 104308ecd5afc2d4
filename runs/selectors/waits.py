"""What became of the runs and steps that somebody waits for: one statement for all of a kind."""

from collections.abc import Collection

from chief_project.shared.caller import Caller, Right
from runs.domain.waits import RunFacts
from runs.models import Run, StepState
from runs.selectors.paths import locate
from runs.selectors.runs import no_run


def run_facts(run_ids: Collection[str]) -> dict[str, RunFacts]:
    """Where each run stands; those that are gone are missing. For who may read them already."""
    rows = Run.objects.filter(run_id__in=run_ids).values_list("run_id", "status", "revision")
    return {run_id: RunFacts(status, revision) for run_id, status, revision in rows}


def where_run_stands(*, caller: Caller, run_id: str) -> RunFacts:
    """Its status and revision, in one statement; ``NotFound`` without such a run."""
    caller.must(Right.READ, "read a run")
    facts = run_facts([run_id])
    if run_id not in facts:
        raise no_run(run_id)
    return facts[run_id]


def state_facts(state_keys: Collection[str]) -> dict[str, str]:
    """The status of each step state, by the key that ``blocked_state`` gave."""
    rows = StepState.objects.filter(pk__in=[int(key) for key in state_keys]).values_list("pk", "status")
    return {str(pk): status for pk, status in rows}


def blocked_state(*, caller: Caller, run_id: str, path: tuple[str, ...]) -> str | None:
    """A key for the step at ``path`` if it waits for a person, None if it doesn't; ``NotFound`` without one.

    Four statements, however large the run.
    """
    caller.must(Right.READ, "read a run")
    run_pk = Run.objects.filter(run_id=run_id).values_list("pk", flat=True).first()
    if run_pk is None:
        raise no_run(run_id)
    _, pk = locate(run_pk=run_pk, run_id=run_id, path=path)
    blocked = StepState.objects.filter(pk=pk, status="blocked").exists()
    return str(pk) if blocked else None
