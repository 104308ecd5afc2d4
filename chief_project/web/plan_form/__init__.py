"""A plan as a form: form data ⇄ the plan's document, and what the form's buttons do to it. Pure.

One step is open at a time. The document, ``{title, steps, groups, …}`` as it is submitted, travels with the page as
JSON, and the fields of what is open lie over it: a plan of any length has few fields, and nothing is kept here.

Nothing that a person typed is lost, whether it is a plan (yet) or not. A field that wasn't touched keeps its exact
value. What should be JSON and isn't stays in the document as the text it is, for the rules to refuse. Where a list
holds what rows can't show, it is shown as JSON.

Names of fields: ``s.goal``, ``s.criteria.0``, ``s.fields.0.hint`` of the open step; ``p.title``, ``p.groups.0.path`` of
the plan itself. Behind the first dot stands the field's pointer below the step, with dots.
"""

from chief_project.web.plan_form.document import (
    CONSTRUCTS,
    ROWS,
    TYPES,
    Document,
    Step,
    blank_rows,
    dependents,
    document_of,
    json_text,
    obstacle,
    read_json,
    text_of,
    without_blank_rows,
)
from chief_project.web.plan_form.moves import (
    Removal,
    add_row,
    add_step,
    clear,
    drop_row,
    move_step,
    remove_step,
)
from chief_project.web.plan_form.sent import read_plan, read_step
from chief_project.web.plan_form.shown import MOST_ROWS, Form, choices, lines, plan_form, step_form
from chief_project.web.plan_form.texts import slot_of

__all__ = [
    "CONSTRUCTS",
    "MOST_ROWS",
    "ROWS",
    "TYPES",
    "Document",
    "Form",
    "Removal",
    "Step",
    "add_row",
    "add_step",
    "blank_rows",
    "choices",
    "clear",
    "dependents",
    "document_of",
    "drop_row",
    "json_text",
    "lines",
    "move_step",
    "obstacle",
    "plan_form",
    "read_json",
    "read_plan",
    "read_step",
    "remove_step",
    "slot_of",
    "step_form",
    "text_of",
    "without_blank_rows",
]
