"""A plan as a form: form data ⇄ the plan's document, and what the form's buttons do to it. Pure.

One step is open at a time. The document, ``{title, steps, groups, …}`` as it is submitted, travels with the page as
JSON (compressed), and the fields of what is open lie over it: a plan of any length has few fields, and nothing is kept
here. Of a long list of steps a part is shown, and of many choices the nearest.

Nothing that a person typed is lost, whether it is a plan (yet) or not. A field that wasn't touched keeps its exact
value. What should be JSON and isn't stays in the document as the text it is, for the rules to refuse. Where a list
or an object holds what rows can't show, it is shown as JSON. Rows that make no object yet stay as rows (``rows``).

Names of fields: ``s.goal``, ``s.criteria.0``, ``s.inputs.0.value`` of the open step; ``p.title``, ``p.groups.0.path`` of
the plan itself. Behind the first dot stands the field's pointer below the step, with dots.
"""

from chief_project.web.plan_form.document import (
    CONSTRUCTS,
    TYPES,
    Document,
    Step,
    dependents,
    document_of,
    json_text,
    not_json,
    obstacle,
    packed,
    read_json,
    same,
    text_of,
    unpacked,
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
from chief_project.web.plan_form.rows import (
    OBJECTS,
    ROWS,
    at_rows,
    blank_rows,
    row_problems,
    without_blank_rows,
    without_rows,
)
from chief_project.web.plan_form.sent import read_plan, read_step
from chief_project.web.plan_form.shown import (
    MOST_ENTRIES,
    MOST_LINES,
    MOST_OFFERED,
    MOST_ROWS,
    PART,
    Form,
    choices,
    lines,
    listed,
    plan_form,
    step_form,
)
from chief_project.web.plan_form.texts import slot_of

__all__ = [
    "CONSTRUCTS",
    "MOST_ENTRIES",
    "MOST_LINES",
    "MOST_OFFERED",
    "MOST_ROWS",
    "OBJECTS",
    "PART",
    "ROWS",
    "TYPES",
    "Document",
    "Form",
    "Removal",
    "Step",
    "add_row",
    "add_step",
    "at_rows",
    "blank_rows",
    "choices",
    "clear",
    "dependents",
    "document_of",
    "drop_row",
    "json_text",
    "lines",
    "listed",
    "move_step",
    "not_json",
    "obstacle",
    "packed",
    "plan_form",
    "read_json",
    "read_plan",
    "read_step",
    "remove_step",
    "row_problems",
    "same",
    "slot_of",
    "step_form",
    "text_of",
    "unpacked",
    "without_blank_rows",
    "without_rows",
]
