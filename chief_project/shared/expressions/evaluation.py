"""What an expression says of facts, all of them or some."""

from collections.abc import Mapping
from itertools import product

from chief_project.shared.expressions.values import (
    Comparison,
    Constant,
    Expression,
    Facts,
    Node,
    Not,
    Or,
    Scalar,
    Set,
    Vocabulary,
)


def evaluate(expression: Expression, facts: Facts) -> bool:
    """Decide ``expression`` on complete facts.

    A field that holds nothing (``None``) is unequal to every text and in no list. Raises ``ValueError`` when a field
    of the vocabulary has no fact, or one it can't hold.
    """
    vocabulary = expression.vocabulary
    vocabulary.check(facts)
    missing = vocabulary.by_name.keys() - facts.keys()
    if missing:
        raise ValueError(f"no fact for {vocabulary.namespace}.{min(missing)}")
    answer = _decide(expression.root, facts, vocabulary)
    assert answer is not None  # nothing is unknown, so nothing is undecided
    return answer


def prove(expression: Expression, known: Facts) -> bool | None:
    """Decide ``expression`` for every possible completion of ``known``: all true, all false, or ``None``.

    Kleene's three-valued logic: an unknown field makes a comparison unknown, and ``&&``, ``||`` and ``!`` carry that on
    unless the other parts settle it. Unknown fields with few possible values are tried with each of them, so
    ``kind == 'a' || kind != 'a'`` is true. Sound, not complete: ``None`` may also stand for an answer that only a
    comparison of open fields with each other would find.
    """
    vocabulary = expression.vocabulary
    vocabulary.check(known)
    open_fields = [
        field
        for field in vocabulary.fields
        if isinstance(field, Scalar) and field.domain is not None and field.name not in known
    ]
    choices = [(*(field.domain or ()), *((None,) if field.nullable else ())) for field in open_fields]
    answers: set[bool | None] = set()
    for values in product(*choices):
        tried: dict[str, str | frozenset[str] | None] = dict(known)
        tried.update(zip((field.name for field in open_fields), values, strict=True))
        answers.add(_decide(expression.root, tried, vocabulary))
        if len(answers) > 1 or None in answers:
            return None
    return answers.pop()


def _decide(node: Node, facts: Facts, vocabulary: Vocabulary) -> bool | None:
    """Kleene's logic. Recursion is safe: the parser bounds the depth."""
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Comparison):
        return _compare(node, facts, vocabulary)
    if isinstance(node, Not):
        answer = _decide(node.part, facts, vocabulary)
        return None if answer is None else not answer
    settles = isinstance(node, Or)  # the answer of one part that settles the whole
    unknown = False
    for part in node.parts:
        answer = _decide(part, facts, vocabulary)
        if answer is settles:
            return settles
        unknown = unknown or answer is None
    return None if unknown else not settles


def _compare(node: Comparison, facts: Facts, vocabulary: Vocabulary) -> bool | None:
    if node.field not in facts:
        return _compare_unknown(node, vocabulary.by_name)
    value = facts[node.field]
    if node.op == "subset_of":
        assert isinstance(value, frozenset)
        return value <= node.values
    return (value in node.values) is not (node.op == "!=")


def _compare_unknown(node: Comparison, fields: Mapping[str, Scalar | Set]) -> bool | None:
    """Every set is within the whole domain; else the field's value would matter."""
    field = fields[node.field]
    whole = isinstance(field, Set) and node.values >= set(field.domain)
    return True if whole else None
