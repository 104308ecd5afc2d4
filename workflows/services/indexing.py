"""What finds a workflow (contract 1, ``?q=``)."""

from itertools import chain

from chief_project.shared import search
from workflows import models
from workflows.domain.plan import Plan


def index_workflow(row: models.Workflow, plan: Plan) -> None:
    """Make title, ids and goals find the workflow: after every write that changes its title or its plan."""
    ids = (step.id for step in plan.steps)
    goals = (step.goal for step in plan.steps)
    search.index("workflow", row.pk, chain([row.title, row.workflow_id], ids, goals))
