"""Templates: the list, one of them, filling it in with its plan before one's eyes, and the ways in and out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import path, reverse
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.pointers import pointer
from chief_project.shared.wire.parsing import parse_json
from chief_project.web.addresses import asked, link, paging
from chief_project.web.forms import number_in, text
from chief_project.web.labels import labels_in_use
from chief_project.web.outline import outline_of
from chief_project.web.pages import action, at_one_address, page, show_again
from chief_project.web.plan_check import as_posted
from chief_project.web.plan_form import json_text
from workflows.documents_templates import TemplateCreate, TemplateFromWorkflow, WorkflowFromTemplate
from workflows.domain.rules import Problem
from workflows.domain.templates import Parameter, pieces
from workflows.selectors import plan_of_workflow
from workflows.selectors.templates import (
    count_workflows_of,
    export_template,
    get_template,
    list_templates,
    preview_template,
    preview_template_from_workflow,
)
from workflows.services.archive_template import archive_template
from workflows.services.create_template import create_template
from workflows.services.create_template_from_workflow import create_template_from_workflow
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.delete_template import delete_template

Context = dict[str, Any]
ROWS = 50
MOST_ROWS = 100
STATUSES = ("active", "archived", "all")


# -- The list ----------------------------------------------------------------------------------------


@page("pages/templates.html", parts=("list",))
def templates_page(request: HttpRequest, caller: Caller) -> Context:
    """Templates, the newest first, kept to a status and to words of them."""
    status = request.GET.get("status", "")
    status = status if status in STATUSES else "active"
    q = asked(request, "q")
    wanted = paging(request, ROWS)
    found = list_templates(
        caller=caller,
        paging=wanted,
        status=None if status == "all" else status,
        q=q or None,
    )
    here = reverse("templates")
    kept = {"q": q, "status": "" if status == "active" else status}
    return {
        "section": "templates",
        "rows": found.rows,
        "total": found.total,
        "q": q,
        "status": status,
        "next": link(here, **kept, cursor=found.next_cursor) if found.next_cursor else "",
        "first": link(here, **kept) if wanted.cursor else "",
        "chips": [(name, _STATUS_WORDS[name](), link(here, q=q, status=name)) for name in STATUSES],
    }


_STATUS_WORDS = {
    "active": lambda: _("Active"),
    "archived": lambda: _("Archived"),
    "all": lambda: _("All"),
}


# -- One template, and using it ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """One parameter in the form: what it is, and what is written for it. ``problem``: why that won't do."""

    name: str
    description: str | None
    required: bool
    default: str | None
    value: str
    problem: str = ""

    @property
    def lines(self) -> bool:
        """Whether a box of one line would drop line ends."""
        return "\n" in self.value or "\n" in (self.default or "")


@page("pages/template.html", parts=("preview",))
def template_page(request: HttpRequest, caller: Caller, template_id: str) -> Context:
    """What a template is, and the plan that it would make of the values in its form."""
    template = get_template(caller=caller, template_id=template_id)
    given = _given(request, template)
    preview = preview_template(caller=caller, template_id=template_id, parameters=given)
    sent = request.method == "POST"
    said = {each.pointer: each.message for each in preview.problems}
    fields = {f"/parameters/{parameter['name']}" for parameter in template["parameters"]}
    return {
        "section": "templates",
        "template": template,
        "uses": count_workflows_of(caller=caller, template_id=template_id),
        "values": [
            Value(
                **parameter,
                value=given.get(parameter["name"], parameter["default"] or ""),
                problem=said.get(f"/parameters/{parameter['name']}", "") if sent else "",
            )
            for parameter in template["parameters"]
        ],
        "preview": preview,
        "missing": len(fields & said.keys()),
        "others": [each for each in preview.problems if each.pointer not in fields],
        "title": pieces(preview.title),
        "outline": outline_of(preview.plan),
        "projects": labels_in_use(caller),
        "sent": {
            name: request.POST.get(name, "") for name in ("title", "project", "origin_dir", "workflow_id")
        },
    }


@action(template_page)
def use_template(request: HttpRequest, caller: Caller, template_id: str) -> str | HttpResponseBase:
    """Make a workflow of the values; the other button only shows its plan."""
    if request.POST.get("do") != "use":
        return show_again(template_page, request, caller, template_id=template_id)
    template = get_template(caller=caller, template_id=template_id)
    more = {name: text(request, name) for name in ("workflow_id", "title", "project", "origin_dir")}
    body = as_posted(WorkflowFromTemplate, {"parameters": _given(request, template), **more})
    made = create_workflow_from_template(
        caller=caller,
        template_id=template_id,
        parameters=body.parameters,
        workflow_id=body.workflow_id,
        title=body.title,
        project=body.project,
        origin_dir=body.origin_dir,
    )
    approved = made["status"] == "approved"
    messages.success(
        request,
        _("The workflow is made, and a policy has approved it.")
        if approved
        else _("The draft is made. It waits for a decision."),
    )
    return reverse("workflow", kwargs={"workflow_id": made["workflow_id"]})


def _given(request: HttpRequest, template: Context) -> dict[str, str]:
    """The values as they were sent; on a first look none, and so the defaults."""
    names = [parameter["name"] for parameter in template["parameters"]]
    sent = {name: request.POST.get(f"p.{name}") for name in names}
    return {name: value.replace("\r\n", "\n") for name, value in sent.items() if value is not None}


# -- Out of use, and out of the house ----------------------------------------------------------------


@page("pages/template_ask.html")
def archive_page(request: HttpRequest, caller: Caller, template_id: str) -> Context:
    """Whether it should be archived."""
    return _ask("archive", caller, template_id)


@action(archive_page)
def archive(request: HttpRequest, caller: Caller, template_id: str) -> str:
    """Take it out of use."""
    archive_template(caller=caller, template_id=template_id, reason=text(request, "reason"))
    messages.success(request, _("The template is archived."))
    return reverse("template", kwargs={"template_id": template_id})


@page("pages/template_ask.html")
def delete_page(request: HttpRequest, caller: Caller, template_id: str) -> Context:
    """Whether it should be deleted: what goes and what stays."""
    return _ask("delete", caller, template_id)


@action(delete_page)
def delete(request: HttpRequest, caller: Caller, template_id: str) -> str:
    """Remove it for good."""
    gone = delete_template(caller=caller, template_id=template_id)
    messages.success(request, _("“%(title)s” is deleted.") % {"title": gone["title"]})
    return reverse("templates")


def _ask(what: str, caller: Caller, template_id: str) -> Context:
    return {
        "section": "templates",
        "ask": what,
        "template": get_template(caller=caller, template_id=template_id),
        "uses": count_workflows_of(caller=caller, template_id=template_id),
    }


@page("pages/template.html")
def export(request: HttpRequest, caller: Caller, template_id: str) -> HttpResponse:
    """The template as a file: exactly the body that creates it."""
    document = export_template(caller=caller, template_id=template_id)
    # An id is letters, digits and _ - . : , and a colon is no part of a file's name everywhere.
    name = template_id.replace(":", "_").strip(".")
    response = HttpResponse(f"{json_text(document)}\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}.template.json"'
    return response


# -- In: from a file, and from a workflow ------------------------------------------------------------


@page("pages/template_import.html")
def import_page(request: HttpRequest, caller: Caller) -> Context:
    """A place for an exported template."""
    return {"section": "templates", "document": _document_sent(request)}


@action(import_page)
def import_template(request: HttpRequest, caller: Caller) -> str:
    """Keep the template that a file or the text holds."""
    body = as_posted(TemplateCreate, _an_object(_document_sent(request)))
    made, new = create_template(caller=caller, content=body.content(), template_id=body.template_id)
    messages.success(
        request,
        _("The template is here.") if new else _("It was here already, word for word. Nothing was changed."),
    )
    return reverse("template", kwargs={"template_id": made["template_id"]})


def _document_sent(request: HttpRequest) -> str:
    """The text of the file, where there is one; else what was pasted."""
    file = request.FILES.get("file")
    if file is None:
        return request.POST.get("document", "").replace("\r\n", "\n")
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _an_object(document: str) -> Context:
    if not document.strip():
        raise ValidationFailed("there is nothing to import: choose a file, or paste its text", pointer="")
    value = parse_json(document.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValidationFailed("a template is a JSON object: paste the whole file", pointer="")
    return value


@dataclass(frozen=True, slots=True)
class Row:
    """One text of the plan and the parameter that takes its place; without a text, a placeholder that is there already.

    ``found``: how often it stands where placeholders count, or None where it isn't looked for.
    """

    literal: str = ""
    name: str = ""
    description: str = ""
    found: int | None = None
    problems: tuple[str, ...] = ()


@page("pages/template_new.html", parts=("rows", "preview"))
def new_page(request: HttpRequest, caller: Caller) -> Context:
    """A workflow's plan on its way to a template: which texts become parameters, and what that makes of it."""
    workflow_id = asked(request, "workflow")
    if not workflow_id:
        return {"section": "templates", "workflow": None}
    kept = plan_of_workflow(caller=caller, workflow_id=workflow_id)
    rows = _rearranged(_rows(request), request.POST.get("do", ""))
    preview = preview_template_from_workflow(
        caller=caller,
        workflow_id=workflow_id,
        substitutions=_substitutions(rows),
        title=text(request, "title"),
        parameters=_declared(rows),
    )
    return {
        "section": "templates",
        "workflow": {"workflow_id": workflow_id, "title": kept.title},
        "rows": [_judged(row, preview.found, preview.problems) for row in rows] or [Row()],
        "others": [each for each in preview.problems if not each.pointer.startswith("/substitutions/")],
        "n_problems": len(preview.problems),
        "preview": preview,
        "title": pieces(preview.title),
        "outline": outline_of(preview.plan),
        "sent": {
            name: request.POST.get(name, "") for name in ("title", "description", "project", "template_id")
        },
    }


@action(new_page)
def save_template(request: HttpRequest, caller: Caller) -> str | HttpResponseBase:
    """Keep the template; other buttons only change or show what it will be."""
    if request.POST.get("do") != "save":
        return show_again(new_page, request, caller)
    rows = _rows(request)
    more = {name: text(request, name) for name in ("template_id", "title", "project")}
    substitutions = _substitutions(rows)
    body = as_posted(
        TemplateFromWorkflow,
        {"substitutions": substitutions, "description": text(request, "description") or "", **more},
    )
    made, _new = create_template_from_workflow(
        caller=caller,
        workflow_id=asked(request, "workflow"),
        substitutions=body.substitutions,
        template_id=body.template_id,
        title=body.title,
        description=body.description,
        parameters=_declared(rows),
        project=body.project,
    )
    messages.success(request, _("The template is kept. The workflow stays as it is."))
    return reverse("template", kwargs={"template_id": made["template_id"]})


def _rows(request: HttpRequest) -> list[Row]:
    """The rows as they were sent; three fields each, numbered."""
    rows = []
    for at in range(MOST_ROWS):
        given = [request.POST.get(f"row.{at}.{name}") for name in ("literal", "name", "description")]
        if given[1] is None:
            break
        literal, name, description = ((each or "").replace("\r\n", "\n").strip() for each in given)
        rows.append(Row(literal, name, description))
    return rows


def _rearranged(rows: list[Row], do: str) -> list[Row]:
    what, _colon, which = do.partition(":")
    if what == "add-row" and len(rows) < MOST_ROWS:
        return [*rows, Row()]
    if what == "drop-row":
        gone = number_in(which)
        return [row for at, row in enumerate(rows) if at != gone]
    return rows


def _substitutions(rows: list[Row]) -> dict[str, str]:
    return {row.literal: row.name for row in rows if row.literal}


def _declared(rows: list[Row]) -> list[Parameter]:
    """What the rows say of their parameters; one without a text must be given whenever the template is used."""
    return [
        Parameter(row.name, row.description or None, required=not row.literal) for row in rows if row.name
    ]


def _judged(row: Row, found: Mapping[str, int], problems: tuple[Problem, ...]) -> Row:
    if not row.literal:
        return row
    at = pointer(("substitutions", row.literal))
    mine = tuple(each.message for each in problems if each.pointer == at)
    return Row(row.literal, row.name, row.description, found.get(row.literal), mine)


urlpatterns = [
    path("templates", templates_page, name="templates"),
    path("new/template", at_one_address(new_page, save_template), name="template-new"),
    path("new/template/import", at_one_address(import_page, import_template), name="template-import"),
    path("templates/<id:template_id>", at_one_address(template_page, use_template), name="template"),
    path("templates/<id:template_id>/export", export, name="template-export"),
    path(
        "templates/<id:template_id>/archive", at_one_address(archive_page, archive), name="template-archive"
    ),
    path("templates/<id:template_id>/delete", at_one_address(delete_page, delete), name="template-delete"),
]
