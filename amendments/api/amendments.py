"""``/v1/amendments`` and what belongs to them below ``/v1/runs`` (contract 4), and the end of a run (contract 3)."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from amendments.documents import AmendmentAnswer, AmendmentDiff, AmendmentProposal
from amendments.selectors.amendments import get_amendment, get_amendment_diff, list_amendments
from amendments.serializers import (
    AmendmentDecisionBody,
    AmendmentWithdrawalBody,
    ListAmendmentsQuery,
    ListRunAmendmentsQuery,
)
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from amendments.services.reject_amendment import reject_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.http import ChiefView
from chief_project.shared.openapi import list_of
from chief_project.shared.serializers import WaitQuery
from runs.documents import RunState
from runs.serializers import CancelRunBody


class RunAmendments(ChiefView):
    """The amendments of one run."""

    queries = {"get": ListRunAmendmentsQuery}
    if_match_on = ("post",)
    minimal_on = ("post",)
    location = "/v1/amendments/{amendment_id}"

    @extend_schema(operation_id="list_run_amendments", responses=list_of(AmendmentAnswer))
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """The run's amendments, newest first."""
        return self.answer_page(list_amendments(caller=self.caller, run_id=run_id, **self.query()))

    @extend_schema(
        operation_id="propose_amendment", request=AmendmentProposal, responses={201: AmendmentAnswer}
    )
    def post(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Propose a change to the running plan. The run pauses until it is decided."""
        body = self.body(AmendmentProposal)
        return self.answer_write(
            lambda: propose_amendment(
                caller=self.caller,
                run_id=run_id,
                proposed_by=body.proposed_by,
                kind=body.kind,
                reason=body.reason,
                operations=[operation.value() for operation in body.operations],
                if_match=self.if_match(),
            ),
            status=201,
        )


class AmendmentList(ChiefView):
    """Every amendment."""

    queries = {"get": ListAmendmentsQuery}

    @extend_schema(operation_id="list_amendments", responses=list_of(AmendmentAnswer))
    def get(self, request: HttpRequest) -> HttpResponse:
        """Amendments of all runs, newest first."""
        return self.answer_page(list_amendments(caller=self.caller, **self.query()))


class AmendmentDetail(ChiefView):
    """One amendment."""

    queries = {"get": WaitQuery}

    @extend_schema(operation_id="get_amendment", responses=AmendmentAnswer)
    def get(self, request: HttpRequest, amendment_id: str) -> HttpResponse:
        """An amendment as it stands."""
        self.query()
        return self.answer(get_amendment(caller=self.caller, amendment_id=amendment_id))


class AmendmentDifference(ChiefView):
    """What an amendment changes."""

    @extend_schema(operation_id="get_amendment_diff", responses=AmendmentDiff)
    def get(self, request: HttpRequest, amendment_id: str) -> HttpResponse:
        """What the amendment does, operation by operation, to the run's plan and beside the workflow's head."""
        return self.answer(get_amendment_diff(caller=self.caller, amendment_id=amendment_id))


class AmendmentApproval(ChiefView):
    """The decision for an amendment."""

    if_match_on = ("post",)
    minimal_on = ("post",)

    @extend_schema(operation_id="approve_amendment", request=AmendmentDecisionBody, responses=AmendmentAnswer)
    def post(self, request: HttpRequest, amendment_id: str) -> HttpResponse:
        """Approve a pending amendment; `If-Match` names the run's revision."""
        body = self.body(AmendmentDecisionBody)
        return self.answer_write(
            lambda: approve_amendment(
                caller=self.caller, amendment_id=amendment_id, if_match=self.if_match(), **body
            )
        )


class AmendmentRejection(ChiefView):
    """The decision against an amendment."""

    if_match_on = ("post",)
    minimal_on = ("post",)

    @extend_schema(operation_id="reject_amendment", request=AmendmentDecisionBody, responses=AmendmentAnswer)
    def post(self, request: HttpRequest, amendment_id: str) -> HttpResponse:
        """Reject a pending amendment; `If-Match` names the run's revision."""
        body = self.body(AmendmentDecisionBody)
        return self.answer_write(
            lambda: reject_amendment(
                caller=self.caller, amendment_id=amendment_id, if_match=self.if_match(), **body
            )
        )


class AmendmentWithdrawal(ChiefView):
    """The proposer's second thoughts."""

    if_match_on = ("post",)
    minimal_on = ("post",)

    @extend_schema(
        operation_id="withdraw_amendment", request=AmendmentWithdrawalBody, responses=AmendmentAnswer
    )
    def post(self, request: HttpRequest, amendment_id: str) -> HttpResponse:
        """Take a pending amendment back: its own principal, or a person."""
        body = self.body(AmendmentWithdrawalBody)
        return self.answer_write(
            lambda: withdraw_amendment(
                caller=self.caller, amendment_id=amendment_id, if_match=self.if_match(), **body
            )
        )


class RunCancellation(ChiefView):
    """The end of a run that nobody will finish."""

    if_match_on = ("post",)
    minimal_on = ("post",)

    @extend_schema(operation_id="cancel_run", request=CancelRunBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Cancel a run: everything unfinished is skipped, and nothing in it is derived again."""
        body = self.body(CancelRunBody)
        return self.answer_write(
            lambda: cancel_run(caller=self.caller, run_id=run_id, if_match=self.if_match(), **body)
        )


amendment_urlpatterns = [
    path("runs/<id:run_id>/amendments", RunAmendments.as_view()),
    path("runs/<id:run_id>/cancel", RunCancellation.as_view()),
    path("amendments", AmendmentList.as_view()),
    path("amendments/<id:amendment_id>", AmendmentDetail.as_view()),
    path("amendments/<id:amendment_id>/diff", AmendmentDifference.as_view()),
    path("amendments/<id:amendment_id>/approve", AmendmentApproval.as_view()),
    path("amendments/<id:amendment_id>/reject", AmendmentRejection.as_view()),
    path("amendments/<id:amendment_id>/withdraw", AmendmentWithdrawal.as_view()),
]
