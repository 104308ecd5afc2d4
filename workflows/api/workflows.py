"""``/v1/workflows`` and ``/v1/projects`` (contract 2 and 7). ``DELETE`` stands in the app that knows every table."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from chief_project.shared.http import ChiefView, paths  # noqa: F401 - paths: the converters
from chief_project.shared.openapi import list_of
from chief_project.shared.serializers import NoBody, PageQuery, WaitQuery
from workflows import documents, selectors
from workflows.serializers import (
    CloneQuery,
    DecisionBody,
    DiffQuery,
    LabelBody,
    ListNotesQuery,
    ListWorkflowsQuery,
    NoteBody,
    NoteChangeBody,
    ReviewDecisionBody,
    SeenBody,
)
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.label_workflow import label_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.revise_draft import revise_draft
from workflows.services.send_back_workflow import send_back_workflow


class Workflows(ChiefView):
    """All workflows."""

    queries: ClassVar = {"get": ListWorkflowsQuery}
    location = "/v1/workflows/{workflow_id}"

    @extend_schema(operation_id="list_workflows", responses={200: list_of(documents.WorkflowSummary)})
    def get(self, request: HttpRequest) -> HttpResponse:
        """Workflows, the last changed first, without their review notes."""
        return self.answer_page(selectors.list_workflows(caller=self.caller, **self.query()))

    @extend_schema(
        operation_id="create_workflow",
        request=documents.WorkflowCreate,
        responses={201: documents.WorkflowDocument},
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Submit a plan: a draft at version 1, revision 1, that waits for a person."""
        body = self.body(documents.WorkflowCreate)
        return self.answer(
            create_workflow(
                caller=self.caller,
                workflow_id=body.workflow_id,
                title=body.title,
                source=body.source,
                generated_by=body.generated_by,
                plan=body.plan(),
                project=body.project,
                origin_dir=body.origin_dir,
            ),
            status=201,
        )


class Workflow(ChiefView):
    """One workflow."""

    queries: ClassVar = {"get": WaitQuery}
    etag_on: ClassVar[tuple[str, ...]] = ("get",)
    if_match_on: ClassVar[tuple[str, ...]] = ("put", "patch")

    @extend_schema(operation_id="get_workflow", responses=documents.WorkflowDocument)
    def get(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """One workflow with its review notes. Its ETag moves with every write to it."""
        self.query()
        etag = selectors.workflow_etag(caller=self.caller, workflow_id=workflow_id)
        return self.etag(etag) or self.answer(
            selectors.get_workflow(caller=self.caller, workflow_id=workflow_id)
        )

    @extend_schema(
        operation_id="revise_draft", request=documents.WorkflowRevise, responses=documents.WorkflowDocument
    )
    def put(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Revise a draft wholesale. Every revision is kept; what is approved already takes an amendment."""
        body = self.body(documents.WorkflowRevise)
        return self.answer(
            revise_draft(
                caller=self.caller,
                workflow_id=workflow_id,
                title=body.title,
                steps=body.step_values(),
                groups=body.group_values(),
                reason=body.reason,
                based_on=body.based_on,
                if_match=self.if_match(),
            )
        )

    @extend_schema(operation_id="label_workflow", request=LabelBody, responses=documents.WorkflowDocument)
    def patch(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Change what a workflow is filed under, at any status."""
        changes = self.body(LabelBody)
        return self.answer(
            label_workflow(
                caller=self.caller, workflow_id=workflow_id, changes=changes, if_match=self.if_match()
            )
        )


class WorkflowApproval(ChiefView):
    """The decision that a plan may run."""

    if_match_on = ("post",)

    @extend_schema(
        operation_id="approve_workflow",
        request=ReviewDecisionBody,
        responses={200: documents.WorkflowDocument},
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Approve a draft as it stands. Makes no run."""
        body = self.body(ReviewDecisionBody)
        return self.answer(
            approve_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body)
        )


class WorkflowSendingBack(ChiefView):
    """The decision that a plan needs changes."""

    if_match_on = ("post",)

    @extend_schema(
        operation_id="send_back_workflow",
        request=ReviewDecisionBody,
        responses={200: documents.WorkflowDocument},
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Ask for changes: the open notes say which. People only. It stays a draft and waits for its harness."""
        body = self.body(ReviewDecisionBody)
        return self.answer(
            send_back_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body)
        )


class WorkflowArchiving(ChiefView):
    """The end of a workflow's use."""

    if_match_on = ("post",)

    @extend_schema(
        operation_id="archive_workflow", request=DecisionBody, responses={200: documents.WorkflowDocument}
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Put a workflow away: no new runs; running ones go on."""
        body = self.body(DecisionBody)
        return self.answer(
            archive_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body)
        )


class WorkflowReopening(ChiefView):
    """The way back to a draft."""

    if_match_on = ("post",)

    @extend_schema(
        operation_id="reopen_workflow", request=DecisionBody, responses={200: documents.WorkflowDocument}
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Make an approved workflow without runs a draft again, with the next version."""
        body = self.body(DecisionBody)
        return self.answer(
            reopen_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body)
        )


class WorkflowCloning(ChiefView):
    """A new draft from what there is."""

    queries: ClassVar = {"post": CloneQuery}
    location = "/v1/workflows/{workflow_id}"

    @extend_schema(operation_id="clone_workflow", request=NoBody, responses={201: documents.WorkflowDocument})
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """A new draft with the same plan (with `run_id`, that run's), at any status."""
        self.body(NoBody)
        return self.answer(
            clone_workflow(caller=self.caller, workflow_id=workflow_id, **self.query()), status=201
        )


class Versions(ChiefView):
    """What was approved."""

    queries: ClassVar = {"get": PageQuery}

    @extend_schema(operation_id="list_versions", responses={200: list_of(documents.KeptEntry)})
    def get(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Every approved version, the first one first."""
        return self.answer_page(
            selectors.list_versions(caller=self.caller, workflow_id=workflow_id, **self.query())
        )


class Version(ChiefView):
    """One approved version."""

    @extend_schema(operation_id="get_version", responses=documents.KeptPlanDocument)
    def get(self, request: HttpRequest, workflow_id: str, number: int) -> HttpResponse:
        """The plan as of an approved version."""
        return self.answer(selectors.get_version(caller=self.caller, workflow_id=workflow_id, number=number))


class Revisions(ChiefView):
    """What was submitted."""

    queries: ClassVar = {"get": PageQuery}

    @extend_schema(operation_id="list_revisions", responses={200: list_of(documents.KeptEntry)})
    def get(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Every revision, the first one first."""
        return self.answer_page(
            selectors.list_revisions(caller=self.caller, workflow_id=workflow_id, **self.query())
        )


class Revision(ChiefView):
    """One revision."""

    @extend_schema(operation_id="get_revision", responses=documents.KeptPlanDocument)
    def get(self, request: HttpRequest, workflow_id: str, number: int) -> HttpResponse:
        """The plan as of a revision."""
        return self.answer(selectors.get_revision(caller=self.caller, workflow_id=workflow_id, number=number))


class Diff(ChiefView):
    """What differs."""

    queries: ClassVar = {"get": DiffQuery}

    @extend_schema(operation_id="get_workflow_diff", responses=documents.WorkflowDiff)
    def get(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """What differs between any two versions or revisions, for programs and in words."""
        query = self.query()
        return self.answer(
            selectors.get_diff(
                caller=self.caller,
                workflow_id=workflow_id,
                before=query.get("from"),
                after=query.get("to"),
            )
        )


class ReviewNotes(ChiefView):
    """What people said about a plan."""

    queries: ClassVar = {"get": ListNotesQuery}
    if_match_on = ("post",)

    @extend_schema(operation_id="list_review_notes", responses={200: list_of(documents.ReviewNoteDocument)})
    def get(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """The notes on a workflow, oldest first."""
        return self.answer_page(
            selectors.list_review_notes(caller=self.caller, workflow_id=workflow_id, **self.query())
        )

    @extend_schema(
        operation_id="add_review_note", request=NoteBody, responses={201: documents.ReviewNoteDocument}
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Say something about the plan, or one of its steps. People only."""
        body = self.body(NoteBody)
        return self.answer(
            add_review_note(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body),
            status=201,
        )


class ReviewNote(ChiefView):
    """One note."""

    if_match_on = ("patch",)

    @extend_schema(
        operation_id="resolve_review_note",
        request=NoteChangeBody,
        responses=documents.ReviewNoteDocument,
    )
    def patch(self, request: HttpRequest, workflow_id: str, note_id: str) -> HttpResponse:
        """Resolve a note, or with `resolved: false` open it again. People only."""
        body = self.body(NoteChangeBody)
        return self.answer(
            resolve_review_note(
                caller=self.caller,
                workflow_id=workflow_id,
                note_id=note_id,
                if_match=self.if_match(),
                **body,
            )
        )


class WorkflowSeen(ChiefView):
    """How far a person has read."""

    @extend_schema(operation_id="mark_seen", request=SeenBody, responses={200: documents.SeenDocument})
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Remember what this person has read up to. People only, unaudited."""
        body = self.body(SeenBody)
        return self.answer(mark_seen(caller=self.caller, workflow_id=workflow_id, **body))


class Projects(ChiefView):
    """The labels in use."""

    queries: ClassVar = {"get": PageQuery}

    @extend_schema(operation_id="list_projects", responses={200: list_of(documents.ProjectDocument)})
    def get(self, request: HttpRequest) -> HttpResponse:
        """Labels with how many workflows carry each; the unlabelled come last, under null."""
        return self.answer_page(selectors.list_projects(caller=self.caller, **self.query()))


workflow_urlpatterns = [
    path("workflows", Workflows.as_view()),
    path("workflows/<id:workflow_id>/approve", WorkflowApproval.as_view()),
    path("workflows/<id:workflow_id>/send-back", WorkflowSendingBack.as_view()),
    path("workflows/<id:workflow_id>/archive", WorkflowArchiving.as_view()),
    path("workflows/<id:workflow_id>/reopen", WorkflowReopening.as_view()),
    path("workflows/<id:workflow_id>/clone", WorkflowCloning.as_view()),
    path("workflows/<id:workflow_id>/versions", Versions.as_view()),
    path("workflows/<id:workflow_id>/versions/<int:number>", Version.as_view()),
    path("workflows/<id:workflow_id>/revisions", Revisions.as_view()),
    path("workflows/<id:workflow_id>/revisions/<int:number>", Revision.as_view()),
    path("workflows/<id:workflow_id>/diff", Diff.as_view()),
    path("workflows/<id:workflow_id>/notes", ReviewNotes.as_view()),
    path("workflows/<id:workflow_id>/notes/<id:note_id>", ReviewNote.as_view()),
    path("workflows/<id:workflow_id>/seen", WorkflowSeen.as_view()),
    path("projects", Projects.as_view()),
]
