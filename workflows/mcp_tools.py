"""Plans and templates for agents: each tool makes the call that its REST route makes (contract 10)."""

from collections import Counter
from typing import Any

from chief_project.shared.mcp import Answer, Call, Tool, cut, listed, pruned
from chief_project.shared.mcp.schemas import NUMBER, OBJECT, OBJECTS, TEXT, Schema, answer_schema
from chief_project.shared.serializers import NoBody
from workflows import selectors
from workflows.documents import WorkflowCreate, WorkflowRevise
from workflows.documents_templates import TemplateCreate, TemplateFromWorkflow, WorkflowFromTemplate
from workflows.selectors.templates import get_template, list_templates
from workflows.serializers import CloneQuery, DecisionBody, ListWorkflowsQuery, ReviewDecisionBody
from workflows.serializers_templates import ListTemplatesQuery
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.create_template import create_template
from workflows.services.create_template_from_workflow import create_template_from_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.revise_draft import revise_draft

NOTES_SHOWN = 20
STEPS_AS_THERE: Schema = {
    "type": "array",
    "items": OBJECT,
    "description": "As in create_workflow, all of them.",
}
GROUPS: Schema = {"type": "array", "items": OBJECT, "description": "`{path, description}`"}

_WORKFLOW = answer_schema(
    "workflow_id status revision",
    "title version review steps open_notes hint",
    version=NUMBER,
    revision=NUMBER,
    review=OBJECT,
    steps=OBJECT,
    open_notes=OBJECTS,
)
_TEMPLATE = answer_schema(
    "template_id title status",
    "description parameters steps version",
    parameters=OBJECTS,
    steps=OBJECT,
    version=NUMBER,
)
_PAGE = answer_schema("items has_more", "cursor", items=OBJECTS, has_more={"type": "boolean"})
_WHERE = {"workflow_id": TEXT}
_TEMPLATE_WHERE = {"template_id": TEXT}


# -- What is answered --------------------------------------------------------------------------------


def workflow_compact(document: dict[str, Any]) -> dict[str, Any]:
    """A workflow in a few lines: where it stands, how large its plan is, and the notes that are open."""
    notes = [note for note in document.get("review_notes", ()) if not note["resolved"]]
    review = document["review"] or {}
    return pruned(
        {
            "workflow_id": document["workflow_id"],
            "title": cut(document["title"]),
            "status": document["status"],
            "version": document["version"],
            "revision": document["revision"],
            "review": {key: review.get(key) for key in ("state", "by", "reason")},
            "steps": dict(Counter(step["type"] for step in document["steps"])),
            "open_notes": [
                {
                    "step_id": note["step_id"],
                    "author": note["author"],
                    "body": note["body"],
                    "orphaned": note["orphaned"] or None,
                }
                for note in notes[:NOTES_SHOWN]
            ],
            "more_notes": max(0, len(notes) - NOTES_SHOWN) or None,
            "hint": _hint(
                document["status"],
                review.get("state"),
                # Notes on an older revision were there to be answered by this one: only a person closes them.
                any(note["revision"] >= document["revision"] for note in notes),
            ),
        }
    )


def _hint(status: str, review: str | None, noted: bool) -> str:
    if status == "approved":
        return "Approved: register_run begins its run."
    if status == "archived":
        return "Archived: it takes no new runs; clone_workflow makes a new draft of it."
    if review == "sent_back":
        return "Sent back: answer the open notes with revise_draft, then wait_for_decision again."
    if noted:
        return "People left notes: answer them with revise_draft, then wait_for_decision."
    return "A person decides: tell them, and wait_for_decision."


def _workflow(call: Call, document: dict[str, Any]) -> Answer:
    return Answer(workflow_compact(document), document if call.full else None)


def _template_compact(document: dict[str, Any]) -> dict[str, Any]:
    kept = ("template_id", "title", "description", "status", "version", "parameters")
    return pruned(
        {name: document[name] for name in kept}
        | {"steps": dict(Counter(step["type"] for step in document["steps"]))}
    )


def _template(call: Call, document: dict[str, Any]) -> Answer:
    return Answer(_template_compact(document), document if call.full else None)


# -- Calls -------------------------------------------------------------------------------------------


def _create_workflow(call: Call) -> Answer:
    body: WorkflowCreate = call.body
    document = create_workflow(
        caller=call.caller,
        workflow_id=body.workflow_id,
        title=body.title,
        source=body.source,
        generated_by=body.generated_by,
        plan=body.plan(),
        project=body.project,
        origin_dir=body.origin_dir,
    )
    return _workflow(call, document)


def _revise_draft(call: Call) -> Answer:
    body: WorkflowRevise = call.body
    document = revise_draft(
        caller=call.caller,
        workflow_id=call.where["workflow_id"],
        title=body.title,
        steps=body.step_values(),
        groups=body.group_values(),
        reason=body.reason,
        based_on=body.based_on,
        if_match=None,
    )
    return _workflow(call, document)


def _get_workflow(call: Call) -> Answer:
    return _workflow(call, selectors.get_workflow(caller=call.caller, workflow_id=call.where["workflow_id"]))


def _list_workflows(call: Call) -> Answer:
    page = selectors.list_workflows(caller=call.caller, **call.body)
    return Answer(listed(page, (lambda row: row) if call.full else workflow_line))


def workflow_line(document: dict[str, Any]) -> dict[str, Any]:
    """A workflow as an entry of a list."""
    kept = ("workflow_id", "status", "version", "revision", "project")
    return pruned(
        {name: document[name] for name in kept}
        | {"title": cut(document["title"]), "review": (document["review"] or {}).get("state")}
    )


def _approve_workflow(call: Call) -> Answer:
    document = approve_workflow(
        caller=call.caller, workflow_id=call.where["workflow_id"], if_match=None, **call.body
    )
    return _workflow(call, document)


def _archive_workflow(call: Call) -> Answer:
    document = archive_workflow(
        caller=call.caller, workflow_id=call.where["workflow_id"], if_match=None, **call.body
    )
    return _workflow(call, document)


def _clone_workflow(call: Call) -> Answer:
    document = clone_workflow(caller=call.caller, workflow_id=call.where["workflow_id"], **call.body)
    return _workflow(call, document)


def _list_templates(call: Call) -> Answer:
    page = list_templates(caller=call.caller, **call.body)
    return Answer(listed(page, (lambda row: row) if call.full else _template_line))


def _template_line(document: dict[str, Any]) -> dict[str, Any]:
    return pruned(
        {
            "template_id": document["template_id"],
            "title": cut(document["title"]),
            "description": cut(document["description"], 160),
            "parameters": [parameter["name"] for parameter in document["parameters"]],
            "status": document["status"],
        }
    )


def _get_template(call: Call) -> Answer:
    return _template(call, get_template(caller=call.caller, template_id=call.where["template_id"]))


def _create_template(call: Call) -> Answer:
    body: TemplateCreate = call.body
    document, _ = create_template(caller=call.caller, content=body.content(), template_id=body.template_id)
    return _template(call, document)


def _create_template_from_workflow(call: Call) -> Answer:
    body: TemplateFromWorkflow = call.body
    document, _ = create_template_from_workflow(
        caller=call.caller,
        workflow_id=call.where["workflow_id"],
        substitutions=body.substitutions,
        template_id=body.template_id,
        title=body.title,
        description=body.description,
        parameters=[parameter.value() for parameter in body.parameters],
        project=body.project,
    )
    return _template(call, document)


def _create_workflow_from_template(call: Call) -> Answer:
    body: WorkflowFromTemplate = call.body
    document = create_workflow_from_template(
        caller=call.caller,
        template_id=call.where["template_id"],
        parameters=body.parameters,
        workflow_id=body.workflow_id,
        title=body.title,
        project=body.project,
        origin_dir=body.origin_dir,
    )
    return _workflow(call, document)


# -- The tools ---------------------------------------------------------------------------------------

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="create_workflow",
        title="Submit a plan",
        description=(
            "Submit a plan as a draft for a person to review; nothing runs before approval. Find the shape first:"
            " work repeated until something holds is a loop, the same work on many things a parallel, a human yes/no"
            " a checkpoint; the rest are tasks in depends_on order. Construct bodies list step ids of the same plan."
            " Then wait_for_decision; approving is not yours."
        ),
        operations=("create_workflow",),
        call=_create_workflow,
        answers=_WORKFLOW,
        body=WorkflowCreate,
        published={"groups": GROUPS},
        core=True,
    ),
    Tool(
        name="revise_draft",
        title="Revise a draft",
        description=(
            "Replace a draft's whole plan, e.g. to answer review notes (read them with get_workflow first). Keep the"
            " ids of steps that stay. Once approved, changes go through propose_amendment."
        ),
        operations=("revise_draft",),
        call=_revise_draft,
        answers=_WORKFLOW,
        where=_WHERE,
        needs=("workflow_id",),
        body=WorkflowRevise,
        published={"steps": STEPS_AS_THERE, "groups": GROUPS},
        core=True,
    ),
    Tool(
        name="get_workflow",
        title="Read a plan",
        description="A workflow's status, review and open notes; `full` adds every step. Read the notes before revising.",
        operations=("get_workflow",),
        call=_get_workflow,
        answers=_WORKFLOW,
        where=_WHERE,
        needs=("workflow_id",),
        body=NoBody,
        core=True,
        reads=True,
    ),
    Tool(
        name="list_workflows",
        title="Find plans",
        description="Workflows, last changed first.",
        operations=("list_workflows",),
        call=_list_workflows,
        answers=_PAGE,
        body=ListWorkflowsQuery,
        reads=True,
    ),
    Tool(
        name="approve_workflow",
        title="Relay an approval",
        description=(
            "Relay a person's explicit approval of a draft, never your own; needs a relay token. `revision`: the one"
            " they read."
        ),
        operations=("approve_workflow",),
        call=_approve_workflow,
        answers=_WORKFLOW,
        where=_WHERE,
        needs=("workflow_id",),
        body=ReviewDecisionBody,
    ),
    Tool(
        name="archive_workflow",
        title="Relay an archiving",
        description="Relay a person's decision to put a workflow away: no new runs. Needs a relay token.",
        operations=("archive_workflow",),
        call=_archive_workflow,
        answers=_WORKFLOW,
        where=_WHERE,
        needs=("workflow_id",),
        body=DecisionBody,
        destroys=True,
    ),
    Tool(
        name="clone_workflow",
        title="Copy a plan",
        description="A new draft with a workflow's plan, or with a run's plan as amended.",
        operations=("clone_workflow",),
        call=_clone_workflow,
        answers=_WORKFLOW,
        where=_WHERE,
        needs=("workflow_id",),
        body=CloneQuery,
    ),
    Tool(
        name="list_templates",
        title="Find templates",
        description="Plans kept for reuse, newest first. Look here before planning from nothing.",
        operations=("list_templates",),
        call=_list_templates,
        answers=_PAGE,
        body=ListTemplatesQuery,
        reads=True,
    ),
    Tool(
        name="get_template",
        title="Read a template",
        description="A template and its parameters; `full` adds every step.",
        operations=("get_template",),
        call=_get_template,
        answers=_TEMPLATE,
        where=_TEMPLATE_WHERE,
        needs=("template_id",),
        body=NoBody,
        reads=True,
    ),
    Tool(
        name="create_template",
        title="Keep a template",
        description="Keep a plan for reuse; `{{ name }}` in its texts stands for a declared parameter.",
        operations=("create_template",),
        call=_create_template,
        answers=_TEMPLATE,
        body=TemplateCreate,
        published={"steps": STEPS_AS_THERE, "groups": GROUPS},
    ),
    Tool(
        name="create_template_from_workflow",
        title="Make a template of a plan",
        description="Keep a workflow's plan for reuse, some of its texts turned into parameters.",
        operations=("create_template_from_workflow",),
        call=_create_template_from_workflow,
        answers=_TEMPLATE,
        where=_WHERE,
        needs=("workflow_id",),
        body=TemplateFromWorkflow,
        published={
            "parameters": {
                **OBJECTS,
                "description": "`{name, description?}` of parameters to describe or declare.",
            }
        },
    ),
    Tool(
        name="create_workflow_from_template",
        title="Plan from a template",
        description="A draft from a template, a text for each parameter; a policy may approve it at once.",
        operations=("create_workflow_from_template",),
        call=_create_workflow_from_template,
        answers=_WORKFLOW,
        where=_TEMPLATE_WHERE,
        needs=("template_id",),
        body=WorkflowFromTemplate,
    ),
)
