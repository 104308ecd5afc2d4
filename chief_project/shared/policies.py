"""What both approval policies are to people who edit them: the document, and what rules would come to."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chief_project.shared.expressions.rules import Judgement, PolicyKind, judge_rules, revision_of
from chief_project.shared.models import ConfigDocument

TRIED_ON = 50


@dataclass(frozen=True, slots=True)
class KeptPolicy:
    """A policy as it is kept: its rules, the name of this state of them, and who wrote them when."""

    rules: list[dict[str, Any]]
    revision: str
    updated_at: datetime | None
    updated_by: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What rules are worth, and what they would have decided among the ``considered`` newest there are.

    ``decided`` are those that a rule would have approved (``rule``, its id); ``held_back`` those that a rule would,
    but that no policy may (``why``). Both empty where the rules couldn't be kept.
    """

    judgement: Judgement
    considered: int = 0
    decided: list[dict[str, Any]] = field(default_factory=list)
    held_back: list[dict[str, Any]] = field(default_factory=list)


def kept_policy(name: str) -> KeptPolicy:
    """The policy called ``name``; without a rule until a person writes one. One statement."""
    row = ConfigDocument.objects.filter(name=name).first()
    rules: list[dict[str, Any]] = [] if row is None else row.document["rules"]
    if row is None:
        return KeptPolicy(rules, revision_of(rules), None, "")
    return KeptPolicy(rules, revision_of(rules), row.updated_at, row.updated_by)


def untried(rules: list[dict[str, Any]], kind: PolicyKind) -> Trial:
    """The rules judged, and tried on nothing yet."""
    return Trial(judge_rules(rules, kind))
