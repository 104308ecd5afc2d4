"""One instance, as it stands right after it was registered."""

from runs import mappers
from runs.mappers import Document
from runs.models import StepInstance, StepState


def read_instance(*, instance_pk: int, parent_step_id: str) -> Document:
    """A StepInstance without anything below its body's steps; two statements."""
    row = StepInstance.objects.get(pk=instance_pk)
    states = {
        columns[0]: mappers.state_document(columns, [], [], [])
        for columns in StepState.objects.filter(instance=row).values_list(*mappers.STATE_COLUMNS)
    }
    return mappers.instance_document(
        mappers.instance_columns(row),
        parent_step_id,
        {step_id: states[step_id] for step_id in row.body},
        [],
        [],
    )
