"""The locks of what an amendment touches, in the one order: workflow, run, amendment (design)."""

from amendments.models import Amendment
from amendments.selectors.amendments import no_amendment
from chief_project.shared.errors import InvalidTransition
from runs.models import Run
from runs.selectors.runs import no_run
from runs.services.writing import check_revision
from workflows.models import Workflow
from workflows.services.head import lock_workflow


def lock_run(run_id: str, if_match: int | None) -> tuple[Workflow, Run]:
    """The run's workflow and the run, locked. ``NotFound``; ``PreconditionFailed`` when ``if_match`` is stale."""
    workflow_id = Run.objects.filter(run_id=run_id).values_list("workflow__workflow_id", flat=True).first()
    if workflow_id is None:
        raise no_run(run_id)
    workflow = lock_workflow(workflow_id)
    run = Run.objects.select_for_update().filter(run_id=run_id).first()
    if run is None:  # deleted while we waited
        raise no_run(run_id)
    run.workflow = workflow
    check_revision(run_id, run.revision, if_match)
    return workflow, run


def lock_pending(amendment_id: str, if_match: int | None, *, doing: str) -> tuple[Workflow, Run, Amendment]:
    """A pending amendment with its run and workflow, locked. 404; 409 when it was decided; 412."""
    run_id = Amendment.objects.filter(amendment_id=amendment_id).values_list("run__run_id", flat=True).first()
    if run_id is None:
        raise no_amendment(amendment_id)
    workflow, run = lock_run(run_id, if_match)
    amendment = Amendment.objects.select_for_update().filter(amendment_id=amendment_id).first()
    if amendment is None:
        raise no_amendment(amendment_id)
    amendment.run = run
    if amendment.status != "pending_approval":
        raise InvalidTransition(
            f"amendment '{amendment_id}' is {amendment.status} already: only a pending one can be {doing};"
            " propose another if the plan is to change",
            status=amendment.status,
        )
    return workflow, run, amendment
