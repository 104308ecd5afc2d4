"""What differs between two plans, by step id: for programs, and in words for people. Pure.

An order that changed alone (of steps, dependencies or a body) is no change: no rule depends on it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from workflows.domain.plan import Group, Plan, Step
from workflows.domain.words import Budget, word_changes

_TEXTS = ("goal", "harness", "exit_when")
_SETS = ("depends_on", "body")
_PLAIN = ("type", "on_instance_failure", "group")


def plan_diff(
    before: Plan, after: Plan, *, title_before: str | None = None, title_after: str | None = None
) -> dict[str, Any]:
    """The difference as a JSON-ready document.

    ``title`` ``{before, after, words}`` or null; ``added`` and ``removed`` as step documents; ``changed``
    ``[{step_id, type, goal, fields: {name: {before, after, …}}}]``, where a text has ``words`` too
    (``[["=" | "-" | "+", text]]``) and a list of ids ``added`` and ``removed``; ``groups`` ``{added, removed,
    changed}``; ``unchanged``, how many steps are the same; ``same``, whether nothing differs; ``text``, all of it as
    readable lines.
    """
    budget = Budget()
    title = None
    if title_before is not None and title_after is not None and title_before != title_after:
        title = _text_change(title_before, title_after, budget)
    added = [step for step in after.steps if step.id not in before.by_id]
    removed = [step for step in before.steps if step.id not in after.by_id]
    changed = []
    for step in after.steps:
        former = before.by_id.get(step.id)
        if former is not None and former is not step:
            fields = _changed_fields(former, step, budget)
            if fields:
                changed.append({"step_id": step.id, "type": step.type, "goal": step.goal, "fields": fields})
    groups = _group_changes(before.groups, after.groups)
    found = {
        "title": title,
        "added": [step_document(step) for step in added],
        "removed": [step_document(step) for step in removed],
        "changed": changed,
        "groups": groups,
        "unchanged": len(after.steps) - len(added) - len(changed),
        "same": not (title or added or removed or changed or any(groups.values())),
    }
    return found | {"text": "\n".join(_lines(found))}


def step_document(step: Step) -> dict[str, Any]:
    """A step as the contract shows it: every key, ``null`` or empty where unset (contract 2)."""
    return {
        "id": step.id,
        "type": step.type,
        "goal": step.goal,
        "harness": step.harness,
        "depends_on": list(step.depends_on),
        "inputs": step.inputs,
        "outputs": step.outputs,
        "criteria": [{"id": criterion.id, "text": criterion.text} for criterion in step.criteria],
        "body": None if step.body is None else list(step.body),
        "on_instance_failure": step.on_instance_failure,
        "exit_when": step.exit_when,
        "instance_params": [
            {"name": param.name, "description": param.description, "required": param.required}
            for param in step.instance_params
        ],
        "fields": [
            {"name": asked.name, "label": asked.label, "hint": asked.hint, "required": asked.required}
            for asked in step.fields
        ],
        "group": step.group,
        "ref_template_id": None,
        "ref_parameters": {},
    }


def _text_change(before: str | None, after: str | None, budget: Budget) -> dict[str, Any]:
    return {"before": before, "after": after, "words": word_changes(before or "", after or "", budget)}


def _changed_fields(before: Step, after: Step, budget: Budget) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in _PLAIN:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found[name] = {"before": old, "after": new}
    for name in _TEXTS:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found[name] = _text_change(old, new, budget)
    for name in _SETS:
        old, new = getattr(before, name), getattr(after, name)
        former, later = set(old or ()), set(new or ())
        if (old is None) is (new is None) and former == later:
            continue
        found[name] = {
            "before": None if old is None else list(old),
            "after": None if new is None else list(new),
            "added": [step_id for step_id in new or () if step_id not in former],
            "removed": [step_id for step_id in old or () if step_id not in later],
        }
    for name in ("inputs", "outputs"):
        old, new = getattr(before, name), getattr(after, name)
        if not _same_json(old, new):
            found[name] = {"before": old, "after": new}
    for name in ("criteria", "instance_params", "fields"):
        if getattr(before, name) != getattr(after, name):
            found[name] = {"before": step_document(before)[name], "after": step_document(after)[name]}
    return found


def _same_json(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Equal as JSON, where ``1``, ``1.0`` and ``true`` are three values."""
    if before is after or (not before and not after):
        return True
    return before == after and json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _group_changes(before: tuple[Group, ...], after: tuple[Group, ...]) -> dict[str, list[dict[str, Any]]]:
    old = {group.path: group.description for group in before}
    new = {group.path: group.description for group in after}
    return {
        "added": [{"path": path, "description": text} for path, text in new.items() if path not in old],
        "removed": [{"path": path, "description": text} for path, text in old.items() if path not in new],
        "changed": [
            {"path": path, "before": old[path], "after": text}
            for path, text in new.items()
            if path in old and old[path] != text
        ],
    }


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if found["same"]:
        yield "Nothing changed."
    if found["title"]:
        yield f"~ title: {_marked(found['title']['words'])}"
    for step in found["added"]:
        yield f"+ {step['id']} ({step['type']}): {step['goal']}"
    for step in found["removed"]:
        yield f"- {step['id']} ({step['type']}): {step['goal']}"
    for step in found["changed"]:
        for name, change in step["fields"].items():
            if "words" in change:
                told = _marked(change["words"])
            elif "added" in change:
                told = ", ".join(
                    [f"+{each}" for each in change["added"]] + [f"-{each}" for each in change["removed"]]
                )
            else:
                told = f"{_short(change['before'])} → {_short(change['after'])}"
            yield f"~ {step['step_id']}.{name}: {told}"
    for group in found["groups"]["added"]:
        yield f"+ group {group['path']}: {group['description']}"
    for group in found["groups"]["removed"]:
        yield f"- group {group['path']}: {group['description']}"
    for group in found["groups"]["changed"]:
        yield f"~ group {group['path']}: {group['before']} → {group['after']}"


def _marked(words: list[list[str]]) -> str:
    frame = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(frame[mark].format(text) for mark, text in words)


def _short(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, dict) and "text" in each for each in value):
        return "; ".join(f"{each['id']}: {each['text']}" for each in value) or "none"
    return (
        "none"
        if value is None
        else value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False)
    )
