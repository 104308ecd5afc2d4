"""Templates: plans with parameters (contract 6). Pure: check one, fill it in, derive one from a plan.

Two systems share the notation ``{{ name }}``. A template's parameter is filled in once, when the template becomes a
workflow. An instance parameter of a construct is filled in for each branch, by whoever reads it, long afterwards; so
its placeholders are left standing here. They are told apart by the construct that declares them, never globally: a
name that one construct declares is still an undeclared placeholder everywhere outside its body (note 40).

Placeholders count in the title, goals, harness, exit_when, the texts of inputs (at any depth; keys are not text) and
criteria. Everywhere else braces are ordinary characters.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.pointers import pointer
from workflows.domain.plan import Criterion, Plan, Step
from workflows.domain.rules import Problem, problems, refusal

MAX_FILLED = 10_000_000
"""How many characters of values one workflow may take in: a short template must not become a huge plan."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Wider than a parameter's name, so that a misspelt one ({{ Name }}) is found undeclared instead of passing as text.
_PLACEHOLDER = re.compile(r"\{\{\s*(?P<name>[^\W\d][\w-]*)\s*\}\}")
_MOST_NAMED = 20

Where = tuple[str | int, ...]
Change = Callable[[str, Where, frozenset[str]], str]
"""From a text, its place and the instance parameters that it may mention to the text that takes its place."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value that a template asks for. With a ``default`` it need not be given; a blank text is no value."""

    name: str
    description: str | None = None
    required: bool = True
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What a client says when it creates a template; two templates with equal contents are the same template."""

    title: str
    description: str
    parameters: tuple[Parameter, ...]
    plan: Plan
    project: str | None = None


def same_content(one: Content, other: Content) -> bool:
    """Whether two contents say the same: key order and spelled-out defaults don't count; ``1`` isn't ``true``."""

    def outline(content: Content) -> Content:
        bare = tuple(replace(step, inputs={}, outputs={}) for step in content.plan.steps)
        return replace(content, plan=Plan(bare, content.plan.groups))

    return outline(one) == outline(other) and all(
        _same_json(mine.inputs, theirs.inputs) and _same_json(mine.outputs, theirs.outputs)
        for mine, theirs in zip(one.plan.steps, other.plan.steps, strict=True)
    )


def _same_json(one: Any, other: Any) -> bool:
    """Equal as JSON. Python's ``==`` would take ``true`` for 1; a number is its value, however a database wrote it."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_json, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return one == other or float(one) == float(other)
        except OverflowError:  # an integer beyond all floats equals only itself
            return False
    return type(one) is type(other) and bool(one == other)


def is_name(text: str) -> bool:
    """Whether ``text`` can name a parameter: a lower-case letter, then lower-case letters, digits and ``_``."""
    return _NAME.fullmatch(text) is not None


def placeholders(text: str) -> list[str]:
    """The names that stand as ``{{ name }}`` in ``text``, in order, repeats included."""
    return _PLACEHOLDER.findall(text)


def pieces(text: str) -> list[tuple[str, bool]]:
    """``text`` cut at its placeholders, in order; each piece with whether it is one."""
    found: list[tuple[str, bool]] = []
    at = 0
    for match in _PLACEHOLDER.finditer(text):
        found += [(text[at : match.start()], False), (match[0], True)]
        at = match.end()
    return [piece for piece in [*found, (text[at:], False)] if piece[0]]


def ensure_template(content: Content) -> None:
    """Raise ``ValidationFailed`` unless parameters and placeholders fit. The plan keeps the plan rules already.

    ``details.undeclared`` names placeholders that nothing fills in, ``details.both`` names with two meanings.
    """
    _ensure_names(content.parameters)
    declared = {parameter.name for parameter in content.parameters}
    both = [
        (("steps", place, "instance_params", at, "name"), param.name)
        for place, step in enumerate(content.plan.steps)
        for at, param in enumerate(step.instance_params)
        if param.name in declared
    ]
    if both:
        _refuse(
            [
                Problem(
                    pointer(where),
                    f"'{name}' is a parameter of the template and an instance parameter of a construct: it cannot"
                    " mean both; rename one of them",
                )
                for where, name in both
            ],
            both=_unique(name for _, name in both),
        )
    undeclared: list[tuple[Where, str]] = []

    def look(text: str, where: Where, branch: frozenset[str]) -> str:
        undeclared.extend(
            (where, name) for name in placeholders(text) if name not in declared and name not in branch
        )
        return text

    _rewrite(content.title, content.plan, look)
    _ensure_declared(undeclared, "declare it in 'parameters', or on the construct whose branches fill it in")


def values_for(parameters: Sequence[Parameter], given: Mapping[str, str]) -> dict[str, str]:
    """The value of every parameter: as given, else its default, else no text.

    Raises ``ValidationFailed`` with ``details.missing`` (a required parameter whose value would be blank counts as
    missing) and ``details.unknown``.
    """
    known = [parameter.name for parameter in parameters]
    values = {parameter.name: given.get(parameter.name, parameter.default or "") for parameter in parameters}
    missing = [
        parameter.name
        for parameter in parameters
        if parameter.required and not values[parameter.name].strip()
    ]
    unknown = [name for name in given if name not in values]
    takes = ", ".join(known[:_MOST_NAMED]) or "none"
    found = [
        Problem(_parameter_at(name), f"parameter '{name}' is required and missing: give it a text")
        for name in missing
    ] + [
        Problem(_parameter_at(name), f"unknown parameter '{name[:80]}': the template takes {takes}")
        for name in unknown
    ]
    if found:
        _refuse(found, missing=missing, unknown=unknown)
    return values


def fill(title: str, plan: Plan, values: Mapping[str, str]) -> tuple[str, Plan]:
    """Title and plan with every placeholder of ``values`` replaced; other placeholders stand.

    Values are plain text: what looks like a placeholder in one is not replaced in turn.
    """
    taken = 0

    def value_of(match: re.Match[str]) -> str:
        nonlocal taken
        value = values.get(match["name"])
        if value is None:
            return match[0]
        taken += len(value)
        if taken > MAX_FILLED:
            raise ValidationFailed(
                f"the values fill in more than {MAX_FILLED:,} characters: shorten them, or name a document that"
                " holds the text",
                pointer="/parameters",
            )
        return value

    return _rewrite(title, plan, lambda text, _where, _branch: _PLACEHOLDER.sub(value_of, text))


def for_branch(text: str, brought: Mapping[str, Any]) -> str:
    """``text`` as it reads in a branch: placeholders of what the branch ``brought`` are filled, others left standing."""

    def value(match: re.Match[str]) -> str:
        found = brought.get(match["name"])
        return match[0] if found is None or isinstance(found, dict | list) else str(found)

    return _PLACEHOLDER.sub(value, text) if "{{" in text else text


def ensure_filled(title: str, plan: Plan) -> None:
    """Raise ``ValidationFailed`` where values left a text blank that a plan needs; its other rules are judged apart."""
    texts: list[tuple[Where, str]] = [(("title",), title)]
    for place, step in enumerate(plan.steps):
        texts.append((("steps", place, "goal"), step.goal))
        texts += [
            (("steps", place, "criteria", at), criterion.text) for at, criterion in enumerate(step.criteria)
        ]
    found = [
        Problem(pointer(where), f"with these parameters {pointer(where)} would be blank: give them a text")
        for where, text in texts
        if not text.strip()
    ]
    if found:
        _refuse(found)


def extract(
    title: str, plan: Plan, *, substitutions: Mapping[str, str], parameters: Sequence[Parameter] = ()
) -> tuple[str, Plan, tuple[Parameter, ...]]:
    """A template's title, plan and parameters: each literal of ``substitutions`` becomes ``{{ its name }}``.

    One pass from left to right, the longest literal first where several begin, so nothing is replaced twice and no
    shorter literal cuts a placeholder open. Each literal becomes a parameter defaulting to it, so filling the template
    without values gives the plan back. ``parameters`` describes those, or declares others that the text mentions
    already. Text that looks like a placeholder and is neither declared there nor an instance parameter of its construct
    is refused (``details.undeclared``): it would begin to mean something. ``details.unused`` names literals that stand
    nowhere.
    """
    _ensure_substitutions(substitutions)
    _ensure_names(parameters)
    described = {parameter.name: parameter for parameter in parameters}
    made = tuple(
        _defaulting(described.get(name, Parameter(name, required=False)), literal)
        for literal, name in substitutions.items()
    )
    replaced = set(substitutions.values())
    others = tuple(parameter for parameter in parameters if parameter.name not in replaced)
    meant = {parameter.name for parameter in others}
    replacer = _Replacer(substitutions)
    undeclared: list[tuple[Where, str]] = []

    def change(text: str, where: Where, branch: frozenset[str]) -> str:
        changed, standing = replacer.replace(text)
        undeclared.extend((where, name) for name in standing if name not in meant and name not in branch)
        return changed

    new_title, new_plan = _rewrite(title, plan, change)
    _ensure_declared(
        undeclared,
        "the workflow's text has it already; declare it in 'parameters' under a name that no literal gets, or make the"
        " whole placeholder a literal",
    )
    unused = [literal for literal in substitutions if literal not in replacer.used]
    if unused:
        _refuse(
            [
                Problem(
                    pointer(("substitutions", literal)),
                    f"the literal {literal[:80]!r} is unused: it stands nowhere in the title, goals, harness,"
                    " exit_when, inputs and criteria, or only inside longer literals; leave it out",
                )
                for literal in unused
            ],
            unused=unused,
        )
    return new_title, new_plan, made + others


@dataclass(frozen=True, slots=True)
class Preview:
    """What filling in or extracting would come to while somebody still writes it, and what would be refused.

    ``found``: by literal, how often it stands where placeholders count (only where literals are replaced).
    """

    title: str
    plan: Plan
    problems: tuple[Problem, ...] = ()
    found: Mapping[str, int] = field(default_factory=dict)


def preview_filled(content: Content, given: Mapping[str, str]) -> Preview:
    """The workflow that ``given`` values would make; the placeholders of values that are missing stand."""
    told: list[Problem] = []
    try:
        values_for(content.parameters, given)
    except ValidationFailed as refused:
        told += _told(refused)
    values = {
        parameter.name: value
        for parameter in content.parameters
        if (value := given.get(parameter.name, parameter.default or "")).strip() or not parameter.required
    }
    try:
        title, plan = fill(content.title, content.plan, values)
    except ValidationFailed as refused:
        return Preview(content.title, content.plan, (*told, *_told(refused)))
    try:
        ensure_filled(title, plan)
    except ValidationFailed as refused:
        told += _told(refused)
    return Preview(title, plan, (*told, *problems(plan)))


def preview_extracted(
    title: str,
    plan: Plan,
    *,
    substitutions: Mapping[str, str],
    parameters: Sequence[Parameter] = (),
    instead: str | None = None,
) -> Preview:
    """The template that ``extract`` would make. Literals and names that are refused are left out of it.

    ``instead``: a title that is taken as it is.
    """
    told: list[Problem] = []
    good: dict[str, str] = {}
    for literal, name in substitutions.items():
        try:
            _ensure_substitutions(good | {literal: name})
        except ValidationFailed as refused:
            told += _told(refused)
        else:
            good[literal] = name
    replacer = _Replacer(good)
    taken = title if instead is None else ""
    new_title, new_plan = _rewrite(taken, plan, lambda text, _where, _branch: replacer.replace(text)[0])
    shown = new_title if instead is None else instead
    try:
        _, _, made = extract(taken, plan, substitutions=good, parameters=parameters)
        ensure_template(Content(shown, "", made, new_plan))
    except ValidationFailed as refused:
        told += _told(refused)
    return Preview(shown, new_plan, tuple(told), {literal: replacer.used[literal] for literal in good})


def _told(refused: ValidationFailed) -> list[Problem]:
    details = refused.details
    return [
        Problem(each["pointer"], each["message"])
        for each in details.get("errors", [{"pointer": details["pointer"], "message": refused.message}])
    ]


class _Replacer:
    """Replaces literals by placeholders; placeholders that stand already are passed over whole."""

    def __init__(self, substitutions: Mapping[str, str]) -> None:
        self._names = substitutions
        self._longest_first = sorted(substitutions, key=len, reverse=True)
        self._patterns: dict[tuple[str, ...], re.Pattern[str]] = {}
        self.used: Counter[str] = Counter()

    def replace(self, text: str) -> tuple[str, list[str]]:
        """The new text, and the names of the placeholders that stood in it and still do."""
        standing: list[str] = []

        def placeholder_for(match: re.Match[str]) -> str:
            literal = match[0]
            if literal in self._names:
                self.used[literal] += 1
                return f"{{{{ {self._names[literal]} }}}}"
            standing.append(match["name"])
            return literal

        return self._pattern(text).sub(placeholder_for, text), standing

    def _pattern(self, text: str) -> re.Pattern[str]:
        """Only the literals that occur are tried at each character: texts are long and literals may be many."""
        occurring = tuple(literal for literal in self._longest_first if literal in text)
        if occurring not in self._patterns:
            # A literal that begins with a whole placeholder is the longer one; with a part of it, the shorter.
            longer = [re.escape(literal) for literal in occurring if _PLACEHOLDER.match(literal)]
            shorter = [re.escape(literal) for literal in occurring if not _PLACEHOLDER.match(literal)]
            self._patterns[occurring] = re.compile("|".join([*longer, _PLACEHOLDER.pattern, *shorter]))
        return self._patterns[occurring]


def _defaulting(parameter: Parameter, literal: str) -> Parameter:
    return replace(parameter, default=literal) if parameter.default is None else parameter


def _rewrite(title: str, plan: Plan, change: Change) -> tuple[str, Plan]:
    """Every text in which placeholders count, changed; ids, edges and everything else as they are."""
    branches = _branch_names(plan)
    nothing: frozenset[str] = frozenset()
    new_title = change(title, ("title",), nothing)
    steps = tuple(
        _rewrite_step(step, ("steps", place), branches.get(step.id, nothing), change)
        for place, step in enumerate(plan.steps)
    )
    return new_title, replace(plan, steps=steps)


def _rewrite_step(step: Step, where: Where, branch: frozenset[str], change: Change) -> Step:
    return replace(
        step,
        goal=change(step.goal, (*where, "goal"), branch),
        harness=change(step.harness, (*where, "harness"), branch),
        exit_when=None if step.exit_when is None else change(step.exit_when, (*where, "exit_when"), branch),
        inputs=_rewrite_json(step.inputs, (*where, "inputs"), branch, change),
        criteria=tuple(
            Criterion(criterion.id, change(criterion.text, (*where, "criteria", at), branch))
            for at, criterion in enumerate(step.criteria)
        ),
    )


def _rewrite_json(value: Any, where: Where, branch: frozenset[str], change: Change) -> Any:
    """Recursion is bounded: no document deeper than the JSON-depth limit gets in."""
    if isinstance(value, str):
        return change(value, where, branch)
    if isinstance(value, Mapping):
        return {key: _rewrite_json(each, (*where, key), branch, change) for key, each in value.items()}
    if isinstance(value, list):
        return [_rewrite_json(each, (*where, at), branch, change) for at, each in enumerate(value)]
    return value


def _branch_names(plan: Plan) -> dict[str, frozenset[str]]:
    """For each step inside constructs, the instance parameters of all of them; other steps are absent."""
    found: dict[str, frozenset[str]] = {}
    if not any(step.instance_params for step in plan.steps):
        return found
    for step in plan.steps:
        names: set[str] = set()
        construct = plan.container.get(step.id)
        while construct is not None:
            names.update(param.name for param in plan.by_id[construct].instance_params)
            construct = plan.container.get(construct)
        if names:
            found[step.id] = frozenset(names)
    return found


def _ensure_names(parameters: Sequence[Parameter]) -> None:
    found: list[Problem] = []
    seen: set[str] = set()
    for at, parameter in enumerate(parameters):
        where = pointer(("parameters", at, "name"))
        if not is_name(parameter.name):
            found.append(Problem(where, _misnamed(parameter.name)))
        elif parameter.name in seen:
            found.append(Problem(where, f"the same parameter twice: '{parameter.name}'"))
        seen.add(parameter.name)
    if found:
        _refuse(found)


def _ensure_substitutions(substitutions: Mapping[str, str]) -> None:
    found: list[Problem] = []
    literal_of: dict[str, str] = {}
    for literal, name in substitutions.items():
        where = pointer(("substitutions", literal))
        if not literal.strip():
            found.append(Problem(where, f"the literal {literal[:80]!r} is blank: name a text of the plan"))
        if not is_name(name):
            found.append(Problem(where, _misnamed(name)))
        elif name in literal_of:
            found.append(
                Problem(
                    where,
                    f"the same parameter twice: {literal_of[name][:80]!r} and {literal[:80]!r} both become '{name}',"
                    " which can have one default only; name them differently",
                )
            )
        literal_of.setdefault(name, literal)
    if found:
        _refuse(found)


def _ensure_declared(undeclared: Iterable[tuple[Where, str]], way_out: str) -> None:
    found = _unique(undeclared)
    if found:
        _refuse(
            [
                Problem(pointer(where), f"undeclared placeholder '{{{{ {name} }}}}': {way_out}")
                for where, name in found
            ],
            undeclared=_unique(name for _, name in found),
        )


def _misnamed(name: str) -> str:
    return f"{name[:80]!r} can't name a parameter: begin with a lower-case letter, then lower-case letters, digits or '_'"


def _parameter_at(name: str) -> str:
    return pointer(("parameters", name))


def _refuse(found: list[Problem], **names: list[str]) -> NoReturn:
    """One refusal for all problems; ``names`` go to its details where there are any."""
    refused = refusal(found)
    refused.details.update({key: listed for key, listed in names.items() if listed})
    raise refused


def _unique(items: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(items))
