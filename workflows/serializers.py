"""Small bodies and queries of the workflow routes; the plan's documents are ``documents``."""

from chief_project.shared.serializers import (
    ChoiceField,
    FlagField,
    IdField,
    IntegerField,
    NameField,
    PageQuery,
    QueryFlagField,
    QuerySerializer,
    StrictSerializer,
    TextField,
)

_CLAIM = "Who said so, as they are to be named; a signed-in person is recorded by name instead."


class ListWorkflowsQuery(PageQuery):
    """Which workflows."""

    status = ChoiceField(choices=["draft", "approved", "archived"], required=False)
    project = TextField(required=False, allow_blank=True, help_text="A label; empty for the unlabelled.")
    q = TextField(
        required=False,
        allow_blank=True,
        help_text="Beginnings of words in titles, goals and ids: all of them.",
    )


class DecisionBody(StrictSerializer):
    """Who decides, and why."""

    decided_by = NameField(default="human", help_text=_CLAIM)
    reason = TextField(required=False, allow_null=True)


class ReviewDecisionBody(DecisionBody):
    """A decision on what was read."""

    revision = IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="The revision that was read: if the draft has moved on, 412 with the difference.",
    )


class LabelBody(StrictSerializer):
    """What a workflow is filed under. What is left out stays as it is; null clears."""

    title = TextField(required=False)
    project = NameField(required=False, allow_null=True)
    origin_dir = TextField(required=False, allow_null=True)


class CloneQuery(QuerySerializer):
    """Which plan to copy."""

    run_id = IdField(
        required=False, help_text="A run of this workflow: its plan as amended, instead of the workflow's."
    )


class DiffQuery(QuerySerializer):
    """Which two plans: `v2` is a version, `r3` a revision. Left out: the last two."""

    def get_fields(self) -> dict[str, TextField]:  # type: ignore[override]
        """Declared here because ``from`` is a word of Python's."""
        return {
            "from": TextField(required=False, help_text="`v2` or `r3`; left out, what came before `to`."),
            "to": TextField(required=False, help_text="`v2` or `r3`; left out, the newest."),
        }


class ListNotesQuery(PageQuery):
    """Which notes."""

    resolved = QueryFlagField(required=False)


class NoteBody(StrictSerializer):
    """What a person says about the plan, or one of its steps."""

    body = TextField()
    step_id = TextField(required=False, allow_null=True, help_text="Left out: it speaks of the whole plan.")
    author = NameField(default="human", help_text=_CLAIM)


class NoteChangeBody(StrictSerializer):
    """Resolve a note, or open it again."""

    resolved = FlagField(default=True)
    resolved_by = NameField(default="human", help_text=_CLAIM)


class SeenBody(StrictSerializer):
    """What was read."""

    revision = IntegerField(min_value=1)
