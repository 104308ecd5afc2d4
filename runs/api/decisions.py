"""What people say about a run, themselves or through a harness that relays it (contract 3)."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema, extend_schema_view

from chief_project.shared.http import ChiefView
from runs.api.where import instance_at, step_at
from runs.documents import ArtifactRef, RunState
from runs.serializers import (
    AcknowledgeRunBody,
    AnswerBody,
    CommentBody,
    ResolutionBody,
    StaleBody,
)
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.resolve_checkpoint import resolve_checkpoint


class _Write(ChiefView):
    if_match_on: ClassVar = ("post",)
    minimal_on: ClassVar = ("post",)


class Resolutions(_Write):
    """Decisions at a checkpoint."""

    @extend_schema(operation_id="resolve_checkpoint", request=ResolutionBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Approve a blocked checkpoint, or reject it with a note saying why."""
        resolution, if_match = self.body(ResolutionBody), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: resolve_checkpoint(
                caller=self.caller, run_id=run_id, path=at, resolution=resolution, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="resolve_checkpoint_at_top"))
class TopResolutions(Resolutions):
    """Decisions at a top-level checkpoint."""


class Answers(_Write):
    """Answers to questions."""

    @extend_schema(operation_id="answer_question", request=AnswerBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Answer a step's open question; the step goes on running."""
        answer, if_match = self.body(AnswerBody), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: answer_question(
                caller=self.caller, run_id=run_id, path=at, answer=answer, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="answer_question_at_top"))
class TopAnswers(Answers):
    """Answers to a top-level step's questions."""


class StepStaleness(_Write):
    """Labels on steps."""

    @extend_schema(operation_id="mark_step_stale", request=StaleBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Label a step as run but not part of what counts, or take the label off."""
        mark, if_match = self.body(StaleBody), self.if_match()
        at = step_at(where)
        return self.answer_write(
            lambda: mark_step_stale(caller=self.caller, run_id=run_id, path=at, mark=mark, if_match=if_match)
        )


@extend_schema_view(post=extend_schema(operation_id="mark_step_stale_at_top"))
class TopStepStaleness(StepStaleness):
    """Labels on top-level steps."""


class InstanceStaleness(_Write):
    """Labels on instances."""

    @extend_schema(operation_id="mark_instance_stale", request=StaleBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str, **where: Any) -> HttpResponse:
        """Label an instance as run but not part of what counts, or take the label off."""
        mark, if_match = self.body(StaleBody), self.if_match()
        at = instance_at(where)
        return self.answer_write(
            lambda: mark_instance_stale(
                caller=self.caller, run_id=run_id, path=at, mark=mark, if_match=if_match
            )
        )


@extend_schema_view(post=extend_schema(operation_id="mark_instance_stale_at_top"))
class TopInstanceStaleness(InstanceStaleness):
    """Labels on instances of top-level constructs."""


class ArtifactComments(_Write):
    """What people say about an artifact."""

    @extend_schema(operation_id="comment_on_artifact", request=CommentBody, responses={201: ArtifactRef})
    def post(self, request: HttpRequest, run_id: str, artifact_id: str) -> HttpResponse:
        """Add a comment; the answer is the artifact with all of them. Allowed on finished work."""
        comment, if_match = self.body(CommentBody), self.if_match()
        return self.answer_write(
            lambda: comment_on_artifact(
                caller=self.caller,
                run_id=run_id,
                artifact_id=artifact_id,
                comment=comment,
                if_match=if_match,
            ),
            status=201,
        )


class RunAcknowledgement(_Write):
    """A failed run that was seen."""

    @extend_schema(operation_id="acknowledge_run", request=AcknowledgeRunBody, responses=RunState)
    def post(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Say that a failed run was seen and is left failed. People only."""
        body, if_match = self.body(AcknowledgeRunBody), self.if_match()
        return self.answer_write(
            lambda: acknowledge_run(caller=self.caller, run_id=run_id, if_match=if_match, **body)
        )


decision_urlpatterns = [
    path("runs/<id:run_id>/acknowledge", RunAcknowledgement.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/resolution", TopResolutions.as_view()),
    path("runs/<id:run_id>/resolutions/<statepath:path>", Resolutions.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/questions/answer", TopAnswers.as_view()),
    path("runs/<id:run_id>/answers/<statepath:path>", Answers.as_view()),
    path("runs/<id:run_id>/steps/<id:step_id>/stale", TopStepStaleness.as_view()),
    path("runs/<id:run_id>/stale/<statepath:path>", StepStaleness.as_view()),
    path(
        "runs/<id:run_id>/steps/<id:step_id>/instances/<id:instance_id>/stale", TopInstanceStaleness.as_view()
    ),
    path("runs/<id:run_id>/instance-stale/<statepath:path>", InstanceStaleness.as_view()),
    path("runs/<id:run_id>/artifacts/<id:artifact_id>/comments", ArtifactComments.as_view()),
]
