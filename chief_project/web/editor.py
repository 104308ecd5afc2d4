"""The plan editor: a draft as forms, one step open at a time, or as JSON. The plan travels with the page until it is
saved, so every button works without scripts, and nothing is kept here (see ``plan_form``).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.urls import path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.web import plan_form as forms
from chief_project.web.change_words import LABELS, TYPES
from chief_project.web.differences import entries_of
from chief_project.web.forms import number, number_in, text
from chief_project.web.labels import labels_in_use
from chief_project.web.pages import action, at_one_address, page, part_asked_for, show_again
from chief_project.web.plan_check import as_posted, check
from workflows.documents import WorkflowCreate, WorkflowRevise
from workflows.domain.rules import MOST_PROBLEMS_SHOWN, Problem
from workflows.selectors import get_diff, get_revision, get_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.revise_draft import revise_draft

Context = dict[str, Any]
Shape = type[WorkflowCreate] | type[WorkflowRevise]
_MOST_NAMED = 40
_MORE_LABELS: dict[str, str | Promise] = {
    "id": gettext_lazy("Id"),
    "project": gettext_lazy("Project"),
    "origin_dir": gettext_lazy("Directory"),
}
# Parts of a step that only some types have.
_ONLY_FOR = {
    "criteria": ("task",),
    "fields": ("checkpoint",),
    "body": forms.CONSTRUCTS,
    "instance_params": forms.CONSTRUCTS,
    "exit_when": ("loop",),
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """What lies on the desk: the plan as far as it is written, and which step is open (None: the plan itself).

    ``as_json``: it is shown as the text ``json`` instead; ``document`` is None while that can't be read. ``told``:
    what the button did; ``undo``: the plan before it. Of a long list of steps, ``begin`` says which part is shown, and
    ``sought`` what is looked for.
    """

    document: Any
    place: int | None = None
    as_json: bool = False
    json: str = ""
    focus: str = ""
    told: str = ""
    undo: str = ""
    begin: int | None = None
    sought: str = ""


# -- Pages and what they send ------------------------------------------------------------------------


@page("pages/editor.html", parts=("editor", "problems", "ed-scroll"))
def edit_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """A draft to revise: as it is kept, or as the form that was sent has it."""
    if (
        request.method == "POST" and part_asked_for(request) == "problems"
    ):  # nothing of what is kept is in them
        return _context(request, _sheet(request, lambda: Sheet(_EMPTY)), WorkflowRevise)
    workflow = get_workflow(caller=caller, workflow_id=workflow_id)
    kept = forms.document_of(workflow)
    sheet = _sheet(request, lambda: _opened(kept, request.GET.get("step")))
    based_on = number(request, "based_on") or workflow["revision"]
    return {
        "workflow": workflow,
        "based_on": based_on,
        "closed": workflow["status"] != "draft" and request.method != "POST",
        "changed": not forms.same(sheet.document, kept),
        "meanwhile": _meanwhile(caller, workflow, based_on),
    } | _context(request, sheet, WorkflowRevise)


@page("pages/editor.html", parts=("editor", "problems", "ed-scroll"))
def new_page(request: HttpRequest, caller: Caller) -> Context:
    """A plan to begin."""
    blank, _place = forms.add_step({"title": "", "steps": [], "groups": []}, None)
    if project := request.GET.get("project"):
        blank["project"] = project
    sheet = _sheet(request, lambda: Sheet(blank))
    return {
        "workflow": None,
        "changed": not forms.same(sheet.document, blank),
        "projects": labels_in_use(caller),
    } | _context(request, sheet, WorkflowCreate, begun=request.method == "POST")


@action(edit_page)
def edit(request: HttpRequest, caller: Caller, workflow_id: str) -> str | HttpResponseBase:
    """Save the draft's new text; any other button only changes what is shown."""
    do, _colon, over = request.POST.get("do", "").partition(":")
    if do != "save":
        return show_again(edit_page, request, caller, workflow_id=workflow_id)
    body = as_posted(WorkflowRevise, _written(request.POST))
    made = revise_draft(
        caller=caller,
        workflow_id=workflow_id,
        title=body.title,
        steps=body.step_values(),
        groups=body.group_values(),
        reason=text(request, "reason") or body.reason,
        based_on=number_in(over) or number(request, "based_on"),
    )
    messages.success(
        request, _("Revision %(revision)d is saved under your name.") % {"revision": made["revision"]}
    )
    return _go_to(request, reverse("workflow", kwargs={"workflow_id": workflow_id}))


@action(new_page)
def begin(request: HttpRequest, caller: Caller) -> str | HttpResponseBase:
    """Submit the plan as a new draft; any other button only changes what is shown."""
    if request.POST.get("do") != "save":
        return show_again(new_page, request, caller)
    body = as_posted(WorkflowCreate, _HUMAN | _written(request.POST))
    made = create_workflow(
        caller=caller,
        title=body.title,
        source=body.source,
        plan=body.plan(),
        workflow_id=body.workflow_id,
        generated_by=body.generated_by,
        project=body.project,
        origin_dir=body.origin_dir,
    )
    messages.success(request, _("The draft is submitted. It waits for a decision."))
    return _go_to(request, reverse("workflow", kwargs={"workflow_id": made["workflow_id"]}))


def _meanwhile(caller: Caller, workflow: Context, based_on: int) -> Context | None:
    """The newest revision, where this sheet was opened at an older one, and what differs between the two."""
    newest = workflow["revision"]
    if based_on == newest:
        return None
    name = workflow["workflow_id"]
    kept = get_revision(caller=caller, workflow_id=name, number=newest)
    diff = get_diff(caller=caller, workflow_id=name, before=f"r{based_on}", after=f"r{newest}")
    return {"kept": kept, "entries": entries_of(diff), "same": diff["same"]}


def _go_to(request: HttpRequest, address: str) -> str | HttpResponse:
    """On to a page; htmx would put it into this one."""
    if "HX-Request" not in request.headers:
        return address
    return HttpResponse(status=204, headers={"HX-Redirect": address})


# -- The sheet ---------------------------------------------------------------------------------------

_HUMAN: Context = {"source": "human"}
_EMPTY: Context = {"title": "", "steps": [], "groups": []}


def _opened(document: Context, step_id: str | None) -> Sheet:
    places = [place for place, step in enumerate(document["steps"]) if step["id"] == step_id]
    return Sheet(document, place=places[0] if places else None)


def _sheet(request: HttpRequest, opened: Callable[[], Sheet]) -> Sheet:
    if request.method != "POST":
        return opened()
    sheet = _sent(request.POST)
    do, _colon, which = request.POST.get("do", "").partition(":")
    if do == "save" and sheet.document is not None and not sheet.as_json:
        pressed = replace(sheet, document=forms.without_blank_rows(sheet.document))
    else:
        pressed = _pressed(sheet, do, which, request.POST)
    return _where_the_list_was(pressed, sheet, do, which, request.POST)


def _where_the_list_was(pressed: Sheet, before: Sheet, do: str, which: str, sent: QueryDict) -> Sheet:
    """The sheet with the part of the list that was shown, unless another step was opened."""
    if do == "list":
        return replace(pressed, begin=number_in(which), focus="list")
    begin = number_in(sent.get("list", "")) if pressed.place in (before.place, None) else None
    return replace(pressed, begin=begin, sought=sent.get("sought", ""))


def _sent(sent: QueryDict) -> Sheet:
    """The sheet as the form had it when the button was pressed."""
    if (shown := sent.get("json")) is not None:
        try:
            document = forms.read_json(shown)
        except ValidationFailed:
            document = None
        return Sheet(document, as_json=True, json=shown.replace("\r\n", "\n"))
    laid = _laid(forms.unpacked(sent.get("document", "")))
    if laid.as_json:
        return laid
    document = laid.document
    place = _place(sent.get("place", ""), document)
    data = {name: str(sent[name]) for name in sent}
    if place is None:
        return Sheet(forms.read_plan(document, data))
    return Sheet(forms.read_step(document, place, data), place=place)


def _laid(document: Any, **more: Any) -> Sheet:
    """A document as it was sent, which may be any JSON: as forms where it can be."""
    if forms.obstacle(document) is not None:
        return Sheet(document, as_json=True, json=forms.json_text(document))
    return Sheet(_EMPTY | document, **more)


def _written(sent: QueryDict) -> Context:
    """The plan to be saved."""
    sheet = _sent(sent)
    if sheet.document is None:
        raise ValidationFailed(forms.not_json(sheet.json), pointer="")
    obstacle = forms.obstacle(sheet.document)
    if obstacle is not None:
        raise ValidationFailed(obstacle.message, pointer=obstacle.pointer)
    written: Context = forms.without_blank_rows(sheet.document)
    return written


def _place(which: str, document: Context) -> int | None:
    at = number_in(which)
    return at if at is not None and at < len(document["steps"]) else None


def _pressed(sheet: Sheet, do: str, which: str, sent: QueryDict) -> Sheet:
    """What a button makes of the sheet. An unknown one makes nothing of it."""
    if sheet.as_json:
        if do == "forms" and sheet.document is not None and forms.obstacle(sheet.document) is None:
            return Sheet(_EMPTY | sheet.document)
        return sheet
    document, place = sheet.document, sheet.place
    if do == "json":
        filled_in = forms.without_blank_rows(document)
        return Sheet(filled_in, as_json=True, json=forms.json_text(filled_in), focus="json")
    if do == "undo":
        return _laid(forms.unpacked(sent.get("undo", "")), told=_("It is back."))
    if do == "open":
        opened, _colon, slot = which.partition(":")
        return Sheet(document, _place(opened, document), focus=slot or "here")
    if do == "add-step":
        made, at = forms.add_step(document, place if which else None, above=which == "above")
        return Sheet(made, at, focus="goal")
    if do in ("add-row", "drop-row"):
        return _with_rows(sheet, do, which)
    if place is not None:
        if do == "move":
            moved, at = forms.move_step(document, place, up=which == "up")
            return replace(sheet, document=moved, place=at, focus=f"move-{which}")
        if do == "clear":
            return replace(sheet, document=forms.clear(document, place, which), focus="type")
        if do == "remove":
            return _without_step(document, place)
    return sheet


def _with_rows(sheet: Sheet, do: str, which: str) -> Sheet:
    name, _colon, at = which.partition(":")
    if name not in (*forms.ROWS, *forms.OBJECTS, "groups"):
        return sheet
    if do == "add-row":
        changed = forms.add_row(sheet.document, sheet.place, name)
        holder = changed if sheet.place is None else changed["steps"][sheet.place]
        rows = holder.get(name)
        if not isinstance(rows, list):
            return sheet
        return replace(sheet, document=changed, focus=forms.slot_of(f"/{name}/{len(rows) - 1}")[1])
    row = number_in(at)
    if row is None:
        return sheet
    changed = forms.drop_row(sheet.document, sheet.place, name, row)
    return replace(sheet, document=changed, focus=f"add-{name}")


def _without_step(document: Context, place: int) -> Sheet:
    rest, gone = forms.remove_step(document, place)
    told = [_("“%(id)s” is out.") % {"id": gone.id}]
    if gone.rewired:
        n = len(gone.rewired)
        told.append(
            ngettext(
                "%(ids)s waited for it, and waits for what came before it now.",
                "%(ids)s waited for it, and wait for what came before it now.",
                n,
            )
            % {"ids": _few(gone.rewired)}
        )
    if gone.freed:
        told.append(_("Its body stands where it stood: %(ids)s.") % {"ids": _few(gone.freed)})
    left = len(rest["steps"])
    return Sheet(
        rest,
        place=min(place, left - 1) if left else None,
        focus="undo",
        told=" ".join(told),
        undo=forms.packed(document),
    )


def _few(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} …"


# -- What the template needs -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """One problem in the list: what it says, of what, and where its field is. ``here``: that field is on the page."""

    message: str
    where: str
    place: int | None
    slot: str
    here: bool


def _context(request: HttpRequest, sheet: Sheet, shape: Shape, *, begun: bool = True) -> Context:
    """What the page shows; before anything has been written (``begun``), nothing that is missing counts as wrong."""
    problems = _problems(sheet, shape) if begun else []
    if not sheet.as_json:
        problems = [forms.at_rows(sheet.document, each) for each in problems]
    form = None if sheet.as_json else _form(sheet, problems)
    shown: Context = {
        "section": "workflows",
        "sheet": sheet,
        "form": form,
        "reason": request.POST.get("reason", ""),
        "begun": begun,
        "n_problems": len(problems),
        "problems": [_told(sheet, form, each) for each in problems[:MOST_PROBLEMS_SHOWN]],
    }
    if form is None or part_asked_for(request) == "problems":
        return shown
    return shown | _steps(sheet, problems) | _step(sheet.document, sheet.place)


def _form(sheet: Sheet, problems: list[Problem]) -> forms.Form:
    if sheet.place is None:
        return forms.plan_form(sheet.document, problems)
    return forms.step_form(sheet.document, sheet.place, problems)


def _problems(sheet: Sheet, shape: Shape) -> list[Problem]:
    if sheet.document is None:
        return [Problem("", forms.not_json(sheet.json))]
    whole = isinstance(sheet.document, dict) and shape is WorkflowCreate
    return check(_HUMAN | sheet.document if whole else sheet.document, shape)


def _told(sheet: Sheet, form: forms.Form | None, problem: Problem) -> Told:
    place, slot = forms.slot_of(problem.pointer)
    if sheet.document is None:
        return Told(problem.message, "JSON", None, "", False)
    name, _dash, row = slot.partition("-")
    label = str(LABELS.get(name) or _MORE_LABELS.get(name) or name)
    at = number_in(row.partition("-")[0])
    if at is not None:
        label = f"{label} {at + 1}"
    steps = sheet.document.get("steps", []) if isinstance(sheet.document, dict) else []
    if place is not None and place < len(steps) and isinstance(steps[place], dict):
        step = forms.text_of(steps[place].get("id")) or _("step %(n)d") % {"n": place + 1}
        where = f"{step} · {label}" if label else step
    else:
        where = problem.pointer if sheet.as_json else label
    here = form is not None and place == sheet.place
    if form is not None and here:
        slot = form.nearest(slot)
    return Told(problem.message, where, place, slot, here)


def _steps(sheet: Sheet, problems: list[Problem]) -> Context:
    """The list of steps, where the open one stands in it, and the plan that the page carries."""
    document, place = sheet.document, sheet.place
    lines = forms.lines(document, problems)
    at = next((at for at, line in enumerate(lines) if line.place == place), None)
    return {
        "document": forms.packed(document),
        "listed": forms.listed(lines, place, begin=sheet.begin, sought=sheet.sought),
        "n_steps": len(lines),
        "number": None if at is None else at + 1,
        "before": lines[at - 1].place if at else None,
        "after": lines[at + 1].place if at is not None and at + 1 < len(lines) else None,
        "plan_problems": sum(1 for each in problems if forms.slot_of(each.pointer)[0] is None),
    }


def _step(document: Context, place: int | None) -> Context:
    """What surrounds the open step's fields."""
    if place is None:
        return {"step": None}
    steps = document["steps"]
    step = steps[place]
    kind = step.get("type")
    goals = {forms.text_of(each.get("id")): (where, each) for where, each in reversed(list(enumerate(steps)))}
    idle = [name for name, types in _ONLY_FOR.items() if kind not in types]
    return {
        "step": step,
        "types": [(name, TYPES[name]) for name in forms.TYPES],
        "has": {name: kind in types for name, types in _ONLY_FOR.items()}
        | {"rule": kind in forms.CONSTRUCTS},
        # What somebody wrote while it was of another type: shown, so that they can take it out.
        "idle": [(name, LABELS[name], forms.text_of(step[name])) for name in idle if step.get(name)],
        "choices": forms.choices(document, place),
        "needs": _named(step.get("depends_on"), goals),
        "members": _named(step.get("body"), goals),
        "waited_for_by": _named(forms.dependents(document, place), goals),
        "harnesses": _used(steps, "harness"),
        "groups": _used(steps, "group"),
    }


def _used(steps: list[forms.Step], name: str) -> list[str]:
    """What steps say under ``name``; of very many, what is said most often."""
    counts = Counter(said for each in steps if isinstance(said := each.get(name), str) and said)
    return sorted(said for said, _count in counts.most_common(forms.MOST_OFFERED))


def _named(names: Any, steps: dict[str, tuple[int, forms.Step]]) -> Context | None:
    """Steps by id, as far as they are there, to be opened from here."""
    if not isinstance(names, list):
        return None
    known = [(name, *steps[name]) for name in names if isinstance(name, str) and name in steps]
    if not known:
        return None
    return {
        "rows": [
            {
                "id": name,
                "place": place,
                "type": forms.text_of(step.get("type")),
                "goal": forms.text_of(step.get("goal")),
            }
            for name, place, step in known[:_MOST_NAMED]
        ],
        "more": max(0, len(known) - _MOST_NAMED),
    }


urlpatterns = [
    path("new/workflow", at_one_address(new_page, begin), name="workflow-new"),
    path("workflows/<id:workflow_id>/edit", at_one_address(edit_page, edit), name="workflow-edit"),
]
