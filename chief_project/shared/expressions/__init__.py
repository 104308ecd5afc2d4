"""The language of approval policies: small, total, and provable (contract 5).

``parse`` reads a text with a ``Vocabulary`` and gives an ``Expression``; ``evaluate`` decides it on complete facts;
``prove`` decides it on some of the facts and says ``None`` where the rest would matter. ``rules`` builds approval
policies from it. Pure: the standard library and lark.
"""

from chief_project.shared.expressions.evaluation import evaluate, prove
from chief_project.shared.expressions.parser import MAX_DEPTH, MAX_LENGTH, parse
from chief_project.shared.expressions.values import (
    Expression,
    ExpressionError,
    Facts,
    Scalar,
    Set,
    Vocabulary,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_LENGTH",
    "Expression",
    "ExpressionError",
    "Facts",
    "Scalar",
    "Set",
    "Vocabulary",
    "evaluate",
    "parse",
    "prove",
]
