"""Small bodies and query strings of the run routes. The larger ones are in ``documents``."""

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer

from chief_project.shared.serializers import (
    ChoiceField,
    IdField,
    NameField,
    ObjectField,
    PageQuery,
    QueryFlagField,
    QueryIdField,
    QueryIntegerField,
    QuerySerializer,
    QueryTextField,
    StrictSerializer,
    TextField,
    TextMapField,
    WaitQuery,
)

RUN_STATUSES = ["running", "paused_for_approval", "waiting_on_human", "completed", "failed", "cancelled"]
_WHO = "Who said so, as they are to be named; from a signed-in person always their username."


@extend_schema_serializer(
    examples=[OpenApiExample("Typical", value={"metadata": {"ticket": "OPS-12"}}, request_only=True)]
)
class RegisterRunBody(StrictSerializer):
    """How a run begins; all of it may be left out."""

    run_id = IdField(required=False, allow_null=True, help_text="Chosen by you, or minted when left out.")
    metadata = ObjectField(required=False, help_text="Whatever you want to keep with the run.")


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Typical",
            value={"decided_by": "human", "reason": "The data set was withdrawn."},
            request_only=True,
        )
    ]
)
class CancelRunBody(StrictSerializer):
    """Why nobody will finish a run."""

    decided_by = NameField(default="human", help_text=_WHO)
    reason = TextField(required=False, allow_null=True)


class AcknowledgeRunBody(StrictSerializer):
    """Seen, and left failed."""

    by = NameField(default="human", help_text=_WHO)


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Typical",
            value={
                "decision": "approved",
                "response": {"reviewer": "Ann"},
                "note": "Good to go.",
                "decided_by": "human",
            },
            request_only=True,
        )
    ]
)
class ResolutionBody(StrictSerializer):
    """What a person decided at a checkpoint."""

    decision = ChoiceField(choices=["approved", "rejected"])
    response = TextMapField(required=False, help_text="The checkpoint's fields, by name.")
    note = TextField(required=False, allow_null=True, allow_blank=True, help_text="Needed to reject: why.")
    decided_by = NameField(default="human", help_text=_WHO)


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Typical",
            value={
                "question_id": "qst_1f0c",
                "response": {"text": "The second one."},
                "answered_by": "human",
            },
            request_only=True,
        )
    ]
)
class AnswerBody(StrictSerializer):
    """What a person answered."""

    question_id = IdField()
    response = TextMapField(
        help_text="The question's fields, by name; exactly `text` where it declared none."
    )
    answered_by = NameField(default="human", help_text=_WHO)


class WithdrawalBody(StrictSerializer):
    """A question that became moot."""

    question_id = IdField()
    reason = TextField(required=False, allow_null=True)


@extend_schema_serializer(
    examples=[OpenApiExample("Typical", value={"reason": "Another branch won."}, request_only=True)]
)
class StaleBody(StrictSerializer):
    """A label: ran, but not part of what counts. No reason, null or blank takes it off."""

    reason = TextField(required=False, allow_null=True, allow_blank=True)
    marked_by = NameField(default="human", help_text=_WHO)


@extend_schema_serializer(
    examples=[OpenApiExample("Typical", value={"body": "The axis is mislabelled."}, request_only=True)]
)
class CommentBody(StrictSerializer):
    """What a person says about an artifact."""

    body = TextField()
    author = NameField(default="human", help_text=_WHO)


# -- Query strings -----------------------------------------------------------------------------------


class ListRunsQuery(PageQuery):
    """Which runs, in which order."""

    status = ChoiceField(choices=RUN_STATUSES, required=False)
    workflow_id = QueryIdField(required=False)
    q = QueryTextField(
        required=False, help_text="Beginnings of words in the workflow's title, its goals and the run's id."
    )
    sort = ChoiceField(
        choices=["created_at", "last_report_at"],
        required=False,
        help_text="`created_at`: the newest first (default). `last_report_at`: the longest silent first.",
    )
    expand = ChoiceField(choices=["step_states"], required=False, help_text="Whole trees in the list.")


class GetRunQuery(WaitQuery):
    """What to add to a run."""

    include = ChoiceField(choices=["plan"], required=False, help_text="The effective plan, as `plan`.")


class FollowRunQuery(QuerySerializer):
    """From where to follow a run, and how. Both are heeded before Django (``http.events``) too."""

    since = QueryIntegerField(
        required=False,
        help_text="The revision that you know: an event comes at once if the run's is another. `Last-Event-ID` wins.",
    )
    once = QueryFlagField(
        required=False,
        help_text="`true`: tell what happened since, and end; for clients that no stream gets through to.",
    )


class GetDefinitionQuery(QuerySerializer):
    """Which of a run's plans."""

    applied = QueryIntegerField(
        required=False, help_text="The plan after this many amendments; 0 as registered. Left out: now."
    )


class GetNextQuery(QuerySerializer):
    """Where to look, and how much to say."""

    path = QueryTextField(
        required=False, help_text="A step's or an instance's state path: only what is there."
    )
    limit = QueryIntegerField(default=50, min_value=1, max_value=1000, help_text="Entries per list, at most.")


class ListUpdatesQuery(PageQuery):
    """Which reports."""

    path = QueryTextField(
        required=False, help_text="A step's or an instance's state path: only reports there and below."
    )
