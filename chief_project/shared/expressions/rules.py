"""An approval policy: rules in order, each proved harmless when it is written (contract 5)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.expressions.evaluation import evaluate, prove
from chief_project.shared.expressions.parser import parse
from chief_project.shared.expressions.values import ExpressionError, Facts, Or, Vocabulary
from chief_project.shared.ids import MAX_LENGTH as MAX_ID_LENGTH
from chief_project.shared.ids import is_valid
from chief_project.shared.pointers import pointer

MAX_RULES = 200
MAX_ERRORS = 50


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """What one of the policies may speak of, and what none of its rules may ever approve.

    A rule that approves must be false whenever the facts ``never`` hold. ``protected`` names what those are of, and
    ``guard`` is the condition that makes any rule safe, both for people.
    """

    vocabulary: Vocabulary
    never: Mapping[str, str | None]
    protected: str
    guard: str


def read_rules(rules: object, kind: PolicyKind) -> list[dict[str, Any]]:
    """The rules as they are kept: ``[{id, match, auto_approve}]``, every id given or minted (``rule_1`` by position).

    Raises ``ValidationFailed`` with every problem's place: unknown or missing keys, an id that can't be one or stands
    twice, a ``match`` that is not in the language (``offset``, ``end``, ``found``, ``expected``, ``pointed``), and an
    approving rule that can't be proved never to match what no policy may approve.
    """
    if not isinstance(rules, list):
        raise ValidationFailed("rules must be a list of {match, auto_approve, id?}", pointer="/rules")
    if len(rules) > MAX_RULES:
        raise ValidationFailed(
            f"a policy has at most {MAX_RULES} rules, this one has {len(rules)}: join some with '||'",
            pointer="/rules",
        )
    problems: list[dict[str, Any]] = []
    for position, rule in enumerate(rules):
        problems += _problems_of(rule, ("rules", position), kind)
    problems += _repeated_ids(rules)
    if problems:
        first = dict(problems[0])
        message = f"{first['pointer']}: {first.pop('message')}"
        if len(problems) > 1:
            message += f" (and {len(problems) - 1} more)"
        raise ValidationFailed(message, **first, errors=problems[:MAX_ERRORS])
    return _with_ids(rules)


def first_match(rules: Sequence[Mapping[str, Any]], facts: Facts, kind: PolicyKind) -> str | None:
    """The id of the rule that approves; ``None`` when a person decides.

    ``rules`` as ``read_rules`` gave them. The first that matches decides, also when it is one that doesn't approve.
    Whatever the rules say, nothing is approved where the facts are those that no policy may approve; and a rule that
    can't be read (any more) might have held the rest back, so nothing behind it approves.
    """
    if all(facts[name] == value for name, value in kind.never.items()):
        return None
    for rule in rules:
        try:
            expression = parse(rule["match"], kind.vocabulary)
        except ExpressionError:
            return None
        if evaluate(expression, facts):
            return str(rule["id"]) if rule["auto_approve"] is True else None
    return None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be said of rules before they are kept. ``kept`` is None where they couldn't be.

    ``problems`` holds each rule's, by position, as ``read_rules`` gives them; ``general`` those of no single rule.
    ``reach`` says of each rule whether its ``match`` is true of everything, of nothing (False), or whether it depends
    (None; also where it can't be read).
    """

    kept: list[dict[str, Any]] | None
    problems: tuple[tuple[dict[str, Any], ...], ...]
    general: tuple[str, ...]
    reach: tuple[bool | None, ...]


def judge_rules(rules: Sequence[Mapping[str, Any]], kind: PolicyKind) -> Judgement:
    """Read ``rules`` as ``read_rules`` would, and refuse nothing."""
    kept: list[dict[str, Any]] | None = None
    errors: list[dict[str, Any]] = []
    general: tuple[str, ...] = ()
    try:
        kept = read_rules(list(rules), kind)
    except ValidationFailed as refusal:
        errors = refusal.details.get("errors", [])
        general = () if errors else (refusal.message,)
    of_rule: dict[int, list[dict[str, Any]]] = {}
    for error in errors:
        of_rule.setdefault(int(error["pointer"].split("/")[2]), []).append(error)
    return Judgement(
        kept=kept,
        problems=tuple(tuple(of_rule.get(position, ())) for position in range(len(rules))),
        general=general,
        reach=tuple(_reach(rule["match"], kind) for rule in rules),
    )


def _reach(match: str, kind: PolicyKind) -> bool | None:
    try:
        return prove(parse(match, kind.vocabulary), {})
    except ExpressionError:
        return None


def revision_of(rules: Sequence[Mapping[str, Any]]) -> str:
    """A name for these rules as they are kept, which others don't have: for who writes what they have read."""
    text = json.dumps(list(rules), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _problems_of(rule: object, where: tuple[str | int, ...], kind: PolicyKind) -> list[dict[str, Any]]:
    if not isinstance(rule, dict):
        return [_problem(where, "a rule must be an object {match, auto_approve, id?}")]
    problems = [
        _problem((*where, key), f"unknown field {str(key)[:80]!r}: a rule has match, auto_approve and id")
        for key in rule
        if key not in {"match", "auto_approve", "id"}
    ]
    rule_id = rule.get("id")
    if "id" in rule and not (isinstance(rule_id, str) and is_valid(rule_id)):
        problems.append(
            _problem(
                (*where, "id"),
                f"id {str(rule_id)[:80]!r} is not an id: use 1 to {MAX_ID_LENGTH} ASCII letters, digits, '_', '-', '.'"
                " or ':' (not '.' or '..' alone), or leave it out",
            )
        )
    approves = rule.get("auto_approve")
    if not isinstance(approves, bool):
        problems.append(
            _problem(
                (*where, "auto_approve"),
                "auto_approve must be true or false: true approves what matches, false leaves it to a person",
            )
        )
    match = rule.get("match")
    if not isinstance(match, str):
        problems.append(
            _problem((*where, "match"), "match must be a text: an expression, such as 'true' in a text")
        )
        return problems
    try:
        expression = parse(match, kind.vocabulary)
    except ExpressionError as error:
        problems.append(
            _problem(
                (*where, "match"),
                error.message,
                offset=error.offset,
                end=error.end,
                found=error.found,
                expected=list(error.expected),
                pointed=error.pointed,
            )
        )
        return problems
    # A definite no is needed: "unknown" means that some facts might make it match.
    if approves is True and prove(expression, kind.never) is not False:
        around = " and parentheses around the rest" if isinstance(expression.root, Or) else ""
        problems.append(
            _problem(
                (*where, "match"),
                f"this rule could approve {kind.protected}, which is a human decision:"
                f" add `{kind.guard} &&` in front{around}",
                offset=0,
                end=len(match),
            )
        )
    return problems


def _repeated_ids(rules: list[Any]) -> list[dict[str, Any]]:
    seen: dict[str, int] = {}
    problems = []
    for position, rule in enumerate(rules):
        rule_id = rule.get("id") if isinstance(rule, dict) else None
        if not isinstance(rule_id, str):
            continue
        if rule_id in seen:
            problems.append(
                _problem(
                    ("rules", position, "id"),
                    f"id {rule_id[:80]!r} is the id of rule {seen[rule_id]} already: give each rule its own, or none",
                )
            )
        seen.setdefault(rule_id, position)
    return problems


def _with_ids(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    taken = {rule["id"] for rule in rules if rule.get("id") is not None}
    kept = []
    for position, rule in enumerate(rules, 1):
        rule_id = rule.get("id")
        number = position
        while rule_id is None:
            if f"rule_{number}" not in taken:
                rule_id = f"rule_{number}"
                taken.add(rule_id)
            number += 1
        kept.append({"id": rule_id, "match": rule["match"], "auto_approve": rule["auto_approve"]})
    return kept


def _problem(where: tuple[str | int, ...], message: str, **more: Any) -> dict[str, Any]:
    return {"pointer": pointer(where), "message": message, **more}
