"""``/v1/templates``, and the two routes between workflows and templates (contract 6)."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from chief_project.shared.http import ChiefView, paths  # noqa: F401 - paths: the converters
from chief_project.shared.openapi import list_of
from chief_project.shared.serializers import NoBody
from workflows.documents import WorkflowDocument
from workflows.documents_templates import (
    TemplateCreate,
    TemplateDocument,
    TemplateFromWorkflow,
    WorkflowFromTemplate,
)
from workflows.selectors.templates import export_template, get_template, list_templates
from workflows.serializers import DecisionBody
from workflows.serializers_templates import DeletedTemplate, ListTemplatesQuery
from workflows.services.archive_template import archive_template
from workflows.services.create_template import create_template
from workflows.services.create_template_from_workflow import create_template_from_workflow
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.delete_template import delete_template


class Templates(ChiefView):
    """All templates."""

    queries: ClassVar = {"get": ListTemplatesQuery}
    location = "/v1/templates/{template_id}"

    @extend_schema(operation_id="list_templates", responses={200: list_of(TemplateDocument)})
    def get(self, request: HttpRequest) -> HttpResponse:
        """Templates, the newest first."""
        return self.answer_page(list_templates(caller=self.caller, **self.query()))

    @extend_schema(
        operation_id="create_template",
        request=TemplateCreate,
        responses={201: TemplateDocument, 200: TemplateDocument},
    )
    def post(self, request: HttpRequest) -> HttpResponse:
        """Keep a plan with parameters. A used id with equal content is a 200 with the template that has it."""
        body = self.body(TemplateCreate)
        document, new = create_template(
            caller=self.caller, content=body.content(), template_id=body.template_id
        )
        return self.answer(document, status=201 if new else 200)


class Template(ChiefView):
    """One template."""

    @extend_schema(operation_id="get_template", responses=TemplateDocument)
    def get(self, request: HttpRequest, template_id: str) -> HttpResponse:
        """One template; archived ones too."""
        return self.answer(get_template(caller=self.caller, template_id=template_id))

    @extend_schema(operation_id="delete_template", responses={200: DeletedTemplate})
    def delete(self, request: HttpRequest, template_id: str) -> HttpResponse:
        """Remove a template for good. People only. Workflows made from it stay."""
        self.body(NoBody)
        return self.answer(delete_template(caller=self.caller, template_id=template_id))


class TemplateExport(ChiefView):
    """A template as a file."""

    @extend_schema(operation_id="export_template", responses=TemplateCreate)
    def get(self, request: HttpRequest, template_id: str) -> HttpResponse:
        """Exactly the body that creates this template."""
        return self.answer(export_template(caller=self.caller, template_id=template_id))


class TemplateArchiving(ChiefView):
    """The end of a template's use."""

    @extend_schema(operation_id="archive_template", request=DecisionBody, responses={200: TemplateDocument})
    def post(self, request: HttpRequest, template_id: str) -> HttpResponse:
        """Take a template out of use; it can still be read."""
        body = self.body(DecisionBody)
        return self.answer(archive_template(caller=self.caller, template_id=template_id, **body))


class TemplateWorkflows(ChiefView):
    """What is made from a template."""

    location = "/v1/workflows/{workflow_id}"

    @extend_schema(
        operation_id="create_workflow_from_template",
        request=WorkflowFromTemplate,
        responses={201: WorkflowDocument},
    )
    def post(self, request: HttpRequest, template_id: str) -> HttpResponse:
        """A workflow whose plan is the template's, filled in: a draft, or approved if a policy says so."""
        body = self.body(WorkflowFromTemplate)
        document = create_workflow_from_template(
            caller=self.caller,
            template_id=template_id,
            parameters=body.parameters,
            workflow_id=body.workflow_id,
            title=body.title,
            project=body.project,
            origin_dir=body.origin_dir,
        )
        return self.answer(document, status=201)


class WorkflowTemplate(ChiefView):
    """A workflow's plan, kept for later."""

    location = "/v1/templates/{template_id}"

    @extend_schema(
        operation_id="create_template_from_workflow",
        request=TemplateFromWorkflow,
        responses={201: TemplateDocument, 200: TemplateDocument},
    )
    def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Keep a workflow's plan as a template, some of its texts as parameters."""
        body = self.body(TemplateFromWorkflow)
        document, new = create_template_from_workflow(
            caller=self.caller,
            workflow_id=workflow_id,
            substitutions=body.substitutions,
            template_id=body.template_id,
            title=body.title,
            description=body.description,
            parameters=[parameter.value() for parameter in body.parameters],
            project=body.project,
        )
        return self.answer(document, status=201 if new else 200)


template_urlpatterns = [
    path("templates", Templates.as_view()),
    path("templates/<id:template_id>", Template.as_view()),
    path("templates/<id:template_id>/export", TemplateExport.as_view()),
    path("templates/<id:template_id>/archive", TemplateArchiving.as_view()),
    path("templates/<id:template_id>/workflows", TemplateWorkflows.as_view()),
    path("workflows/<id:workflow_id>/template", WorkflowTemplate.as_view()),
]
