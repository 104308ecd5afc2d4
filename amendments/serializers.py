"""Small bodies and queries of the amendment routes; the documents are ``documents``."""

from chief_project.shared.serializers import (
    ChoiceField,
    NameField,
    PageQuery,
    QueryIdField,
    StrictSerializer,
    TextField,
)

_STATUSES = ["pending_approval", "approved", "rejected", "withdrawn"]


class AmendmentDecisionBody(StrictSerializer):
    """Who decides, and why."""

    decided_by = NameField(
        default="human",
        help_text="Who said so, as they are to be named; a signed-in person is recorded by name instead.",
    )
    reason = TextField(required=False, allow_null=True, default=None)


class AmendmentWithdrawalBody(StrictSerializer):
    """Why it is taken back."""

    reason = TextField(required=False, allow_null=True, default=None)


class ListRunAmendmentsQuery(PageQuery):
    """Which of a run's amendments."""

    status = ChoiceField(choices=_STATUSES, required=False)


class ListAmendmentsQuery(ListRunAmendmentsQuery):
    """Which amendments."""

    run_id = QueryIdField(required=False)
