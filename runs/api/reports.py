"""What a harness says about its work: a run begins, steps and instances move, questions are asked (contract 3).

Each operation has one class; its other routes are fixed cases of the state path, under an operation id of their own.
"""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_view

from chief_project.shared.http import ChiefView
from runs.api.where import instance_at, step_at
from runs.documents import InstanceCreate, InstanceUpdate, QuestionCreate, RunState, StepInstance, StepUpdate
from runs.serializers import RegisterRunBody, WithdrawalBody
from runs.services.ask_question import ask_question
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_instance_update import report_instance_update
from runs.services.report_step_update import report_step_update
from runs.services.withdraw_question import withdraw_question


class _Write(ChiefView):
    if_match_on: ClassVar = ("post",)
    minimal_on: ClassVar = ("post",)


class WorkflowRuns(_Write):
    """The runs of a workflow."""

    location = "/v1/runs/{run_id}"

    @extend_schema(operation_id="register_run", request=RegisterRunBody, responses={201: RunState})
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Begin a run of an approved workflow."""
        body, if_match = self.body(RegisterRunBody), self.if_match()
        return self.answer_write(
            lambda: register_run(caller=self.caller, workflow_id=workflow_id, if_match=if_match, **body),
            status=201,
        )


class StepUpdates(_Write):
    """Reports on a step."""

    @extend_schema(operation_id="report_step_update", request=StepUpdate, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Say what happened to a step: its status, a summary, answers to its criteria, artifacts."""
        report, if_match = self.body(StepUpdate).report(), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: report_step_update(
                caller=self.caller, run_id=run_id, path=at, report=report, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="report_step_update_at_top"))
class TopStepUpdates(StepUpdates):
    """Reports on a top-level step."""


@extend_schema_view(post=extend_schema(operation_id="report_step_update_in_instance"))
class BodyStepUpdates(StepUpdates):
    """Reports on a step of a top-level construct's instance."""


class StepInstances(_Write):
    """The instances of a construct."""

    @extend_schema(
        operation_id="register_step_instance", request=InstanceCreate, responses={201: StepInstance}
    )
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Add an iteration to a loop, or a branch to a parallel."""
        instance, if_match = self.body(InstanceCreate).instance(), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: register_step_instance(
                caller=self.caller, run_id=run_id, path=at, instance=instance, if_match=if_match
            ),
            status=201,
        )


@extend_schema_view(post=extend_schema(operation_id="register_step_instance_at_top"))
class TopStepInstances(StepInstances):
    """The instances of a top-level construct."""


class InstanceUpdates(_Write):
    """Reports on an instance."""

    @extend_schema(operation_id="report_instance_update", request=InstanceUpdate, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Say what happened to an instance; a status is its one body step's."""
        report, if_match = self.body(InstanceUpdate).report(), self.if_match()
        at = instance_at(where)
        return self.answer_write(
            lambda: report_instance_update(
                caller=self.caller, run_id=run_id, path=at, report=report, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="report_instance_update_at_top"))
class TopInstanceUpdates(InstanceUpdates):
    """Reports on an instance of a top-level construct."""


class Questions(_Write):
    """What a step asks."""

    @extend_schema(operation_id="ask_question", request=QuestionCreate, responses={201: RunState})
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Ask a person something that a running task can't go on without; the step is blocked until then."""
        question, if_match = self.body(QuestionCreate).question(), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: ask_question(
                caller=self.caller, run_id=run_id, path=at, question=question, if_match=if_match
            ),
            status=201,
        )


@extend_schema_view(post=extend_schema(operation_id="ask_question_at_top"))
class TopQuestions(Questions):
    """What a top-level step asks."""


class QuestionWithdrawals(_Write):
    """Questions that became moot."""

    @extend_schema(operation_id="withdraw_question", request=WithdrawalBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Take an open question back; the step goes on running."""
        withdrawal, if_match = self.body(WithdrawalBody), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: withdraw_question(
                caller=self.caller, run_id=run_id, path=at, withdrawal=withdrawal, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="withdraw_question_at_top"))
class TopQuestionWithdrawals(QuestionWithdrawals):
    """Questions of a top-level step that became moot."""


report_urlpatterns = [
    path("workflows/<id:workflow_id>/runs", WorkflowRuns.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/updates", TopStepUpdates.as_view()),
    path(
        "runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/steps/<id:body_step_id>/updates",
        BodyStepUpdates.as_view(),
    ),
    path("runs/<id:run_id>/state/<statepath:path>/updates", StepUpdates.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/instances", TopStepInstances.as_view()),
    path("runs/<id:run_id>/state/<statepath:path>/instances", StepInstances.as_view()),
    path(
        "runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/updates", TopInstanceUpdates.as_view()
    ),
    path("runs/<id:run_id>/instance-updates/<statepath:path>", InstanceUpdates.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/questions", TopQuestions.as_view()),
    path("runs/<id:run_id>/questions/<statepath:path>", Questions.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/questions/withdraw", TopQuestionWithdrawals.as_view()),
    path("runs/<id:run_id>/question-withdrawals/<statepath:path>", QuestionWithdrawals.as_view()),
]
