"""A difference between two plans as ``templates/parts/diff.html`` shows it: what changed, field by field."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chief_project.web.change_words import FAILURE_RULES, LABELS, TYPES
from workflows.domain.changes import criteria_changes
from workflows.domain.words import Budget, word_changes

Document = dict[str, Any]
Words = list[list[str]]
Label = str | Promise
_MOST_SAME = 8
_NOUNS: dict[str, Promise] = {
    "goal": gettext_lazy("goal"),
    "type": gettext_lazy("type"),
    "depends_on": gettext_lazy("dependencies"),
    "harness": gettext_lazy("harness"),
    "criteria": gettext_lazy("criteria"),
    "inputs": gettext_lazy("inputs"),
    "outputs": gettext_lazy("outputs"),
    "body": gettext_lazy("body"),
    "exit_when": gettext_lazy("end"),
    "on_instance_failure": gettext_lazy("rule for failures"),
    "instance_params": gettext_lazy("parameters"),
    "fields": gettext_lazy("questions"),
    "group": gettext_lazy("group"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a field. ``mark``: ``+`` came, ``-`` went, ``=`` stays, ``~`` changed word by word (``words``).

    ``name`` stands before it (``c1``, an input's key); ``ids`` are step ids to show instead of a text.
    """

    mark: str
    text: str = ""
    words: Words | None = None
    name: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One field: its label, and what became of it."""

    label: Label
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Entry:
    """One place that changed: a step (``step_id``), the title, the groups. ``look``: ``add``, ``del`` or ``mod``."""

    look: str
    icon: str
    label: str
    step_id: str = ""
    href: str = ""
    rows: list[Row] = field(default_factory=list)
    notes: list[Document] = field(default_factory=list)


def entries_of(
    diff: Mapping[str, Any],
    *,
    link: Callable[[str], str] | None = None,
    gone: Callable[[str], str] | None = None,
    notes: Mapping[str, list[Document]] | None = None,
    dependents: Mapping[str, Sequence[str]] | None = None,
) -> list[Entry]:
    """Every place of a ``plan_diff``: the title, steps that changed, came and went, and the groups.

    ``link``: where a step that is still there is shown, ``gone`` one that isn't; ``notes``: what people had said, by step id; ``dependents``:
    of the later plan, for what comes after a new step.
    """
    budget = Budget()
    said = notes or {}
    found = []
    if diff["title"]:
        row = Row(LABELS["title"], [Line("~", words=diff["title"]["words"])])
        found.append(Entry("mod", "edit", _("Title changed"), rows=[row]))
    for step in diff["changed"]:
        step_id = step["step_id"]
        found.append(
            Entry(
                "mod",
                "edit",
                changed_label(step["fields"]),
                step_id,
                link(step_id) if link else "",
                changed_rows(step["fields"], goal=step["goal"], budget=budget),
                said.get(step_id, []),
            )
        )
    for step in diff["added"]:
        then = None if dependents is None else dependents.get(step["id"], ())
        rows = step_rows(step, "+", then=then)
        href = link(step["id"]) if link else ""
        found.append(
            Entry("add", "plusop", _("Step added"), step["id"], href, rows, said.get(step["id"], []))
        )
    for step in diff["removed"]:
        rows = step_rows(step, "-")
        found.append(
            Entry(
                "del",
                "minusop",
                _("Step removed"),
                step["id"],
                gone(step["id"]) if gone else "",
                rows,
                said.get(step["id"], []),
            )
        )
    if any(diff["groups"].values()):
        found.append(Entry("mod", "edit", _("Groups changed"), rows=[_group_row(diff["groups"], budget)]))
    return found


def changed_label(fields: Mapping[str, Any]) -> str:
    """What to call a change at a glance: by its only field, by two or three, else that the step changed."""
    if len(fields) > 3:
        return _("Step changed")
    if len(fields) > 1:
        parts = ", ".join(str(_NOUNS[name]) for name in LABELS if name in fields)
        return _("%(parts)s changed") % {"parts": parts[:1].upper() + parts[1:]}
    name = next(iter(fields))
    if name == "criteria":
        told = criteria_changes(fields[name])
        kinds = [kind for kind in ("added", "removed", "reworded") if told[kind]]
        n = len(told[kinds[0]]) if len(kinds) == 1 else 0
        if kinds == ["added"]:
            return ngettext("Criterion added", "Criteria added", n)
        if kinds == ["removed"]:
            return ngettext("Criterion removed", "Criteria removed", n)
        if kinds == ["reworded"]:
            return ngettext("Criterion reworded", "Criteria reworded", n)
        return _("Criteria changed")
    return {
        "goal": _("Goal reworded"),
        "depends_on": _("Rewired"),
        "type": _("Type changed"),
        "harness": _("Given to another"),
        "inputs": _("Inputs changed"),
        "outputs": _("Outputs changed"),
        "body": _("Body changed"),
        "exit_when": _("End changed"),
        "group": _("Group changed"),
    }.get(name, _("Step changed"))


def changed_rows(
    fields: Mapping[str, Any], *, goal: str | None = None, budget: Budget | None = None
) -> list[Row]:
    """The fields of one changed step, the goal first: as it is (``goal``) where it stays, to know the step by."""
    budget = budget or Budget()
    rows = []
    if "goal" not in fields and goal is not None:
        rows.append(Row(LABELS["goal"], [Line("=", goal)]))
    for name in LABELS:
        if name in fields:
            rows.append(Row(LABELS[name], list(_lines(name, fields[name], budget))))
    return rows


def step_rows(step: Mapping[str, Any], mark: str, *, then: Sequence[str] | None = None) -> list[Row]:
    """Everything that a step which came (``+``) or went (``-``) says, empty fields left out.

    ``then``: what waits for it, where that is known; a step that nothing waits for is told as such.
    """
    rows = [Row(LABELS["goal"], [Line(mark, step["goal"])])]
    if step["type"] != "task":
        rows.append(Row(LABELS["type"], [Line(mark, _plain("type", step["type"]))]))
    if step["depends_on"]:
        rows.append(Row(LABELS["depends_on"], [Line(mark, ids=tuple(step["depends_on"]))]))
    if then is not None and not then:
        rows.append(Row(LABELS["then"], [Line("=", _("nothing waits for it"))]))
    elif then:
        rows.append(Row(LABELS["then"], [Line("=", ids=tuple(then[:_MOST_SAME]), text=_more(then))]))
    for name in ("harness", "exit_when", "on_instance_failure", "group"):
        if step[name]:
            rows.append(Row(LABELS[name], [Line(mark, _plain(name, step[name]))]))
    if step["body"]:
        rows.append(Row(LABELS["body"], [Line(mark, ids=tuple(step["body"]))]))
    for name in ("criteria", "inputs", "outputs", "instance_params", "fields"):
        if step[name]:
            named = _named(name, step[name])
            rows.append(Row(LABELS[name], [Line(mark, text, name=key) for key, text in named.items()]))
    return rows


def _lines(name: str, change: Mapping[str, Any], budget: Budget) -> Iterable[Line]:
    before, after = change["before"], change["after"]
    if "words" in change:
        yield Line("~", words=change["words"])
    elif "added" in change:
        stays = [each for each in after or () if each not in change["added"]]
        if stays:
            yield Line("=", ids=tuple(stays[:_MOST_SAME]), text=_more(stays))
        yield from (Line("-", ids=(each,)) for each in change["removed"])
        yield from (Line("+", ids=(each,)) for each in change["added"])
        if not after and not change["removed"]:
            yield Line("-", _("none"))
    elif name == "criteria":
        yield from _criteria_lines(change, budget)
    elif name in ("inputs", "outputs", "instance_params", "fields"):
        yield from _named_lines(_named(name, before), _named(name, after), budget)
    else:
        if before is not None:
            yield Line("-", _plain(name, before))
        if after is not None:
            yield Line("+", _plain(name, after))


def _criteria_lines(change: Mapping[str, Any], budget: Budget) -> Iterable[Line]:
    told = criteria_changes(change)
    same = [each["id"] for each in told["same"]]
    if same:
        if told["added"] or told["removed"] or told["reworded"]:
            text = ngettext("%(ids)s stays as it was", "%(ids)s stay as they were", len(same))
        else:
            text = _("%(ids)s are the same in another order")
        shown = ", ".join(same[:_MOST_SAME]) + (" …" if len(same) > _MOST_SAME else "")
        yield Line("=", text % {"ids": shown})
    for old, new in told["reworded"]:
        yield Line("~", words=word_changes(old["text"], new["text"], budget), name=new["id"])
    yield from (Line("-", each["text"], name=each["id"]) for each in told["removed"])
    yield from (Line("+", each["text"], name=each["id"]) for each in told["added"])


def _named_lines(before: Mapping[str, str], after: Mapping[str, str], budget: Budget) -> Iterable[Line]:
    for name, text in after.items():
        if name not in before:
            yield Line("+", text, name=name)
        elif before[name] != text:
            yield Line("~", words=word_changes(before[name], text, budget), name=name)
    yield from (Line("-", text, name=name) for name, text in before.items() if name not in after)
    same = sum(1 for name, text in after.items() if before.get(name) == text)
    if same:
        yield Line(
            "=", ngettext("%(n)d other stays as it was", "%(n)d others stay as they were", same) % {"n": same}
        )


def _named(name: str, value: Any) -> dict[str, str]:
    """A list or an object of a step, as texts by name."""
    if name in ("inputs", "outputs"):
        return {key: text_of(each) for key, each in (value or {}).items()}
    if name == "criteria":
        return {each["id"]: each["text"] for each in value}
    found = {}
    for each in value:
        parts = [each.get("label"), each.get("hint"), each.get("description")]
        if not each["required"]:
            parts.append(_("optional"))
        found[each["name"]] = " · ".join(part for part in parts if part)
    return found


def text_of(value: Any) -> str:
    """A value of an input as people read it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(name: str, value: str) -> str:
    words: Mapping[str, Label] = {"type": TYPES, "on_instance_failure": FAILURE_RULES}.get(name, {})
    return str(words.get(value, value))


def _more(ids: Sequence[str]) -> str:
    rest = len(ids) - _MOST_SAME
    if rest <= 0:
        return ""
    return ngettext("and %(n)d more", "and %(n)d more", rest) % {"n": rest}


def _group_row(groups: Mapping[str, Any], budget: Budget) -> Row:
    lines = [Line("+", each["description"], name=each["path"]) for each in groups["added"]]
    lines += [
        Line("~", words=word_changes(each["before"], each["after"], budget), name=each["path"])
        for each in groups["changed"]
    ]
    lines += [Line("-", each["description"], name=each["path"]) for each in groups["removed"]]
    return Row(LABELS["groups"], lines)
