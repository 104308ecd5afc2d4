"""The two approval policies: read, tried as they are written, and kept (contract 5)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import path, register_converter, reverse
from django.utils.translation import gettext as _

from amendments.domain.policy import AMENDMENT_POLICY
from amendments.selectors.policy import read_approval_policy, try_approval_policy
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.caller import Caller
from chief_project.shared.expressions.rules import PolicyKind
from chief_project.shared.policies import KeptPolicy, Trial
from chief_project.web.forms import number_in
from chief_project.web.pages import action, page, show_again
from workflows.domain.policy import WORKFLOW_POLICY
from workflows.selectors.policy import read_workflow_approval_policy, try_workflow_approval_policy
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy


@dataclass(frozen=True, slots=True)
class Policy:
    """One of the two: its key in addresses and ids, and the calls it is read, tried and kept with."""

    key: str
    kind: PolicyKind
    read: Callable[..., KeptPolicy]
    judge: Callable[..., Trial]
    keep: Callable[..., dict[str, Any]]


POLICIES = {
    policy.key: policy
    for policy in (
        Policy(
            "amendments", AMENDMENT_POLICY, read_approval_policy, try_approval_policy, update_approval_policy
        ),
        Policy(
            "workflows",
            WORKFLOW_POLICY,
            read_workflow_approval_policy,
            try_workflow_approval_policy,
            update_workflow_approval_policy,
        ),
    )
}


class PolicyConverter:
    """``amendments`` or ``workflows``."""

    regex = "|".join(POLICIES)

    def to_python(self, value: str) -> Policy:
        """The policy."""
        return POLICIES[value]

    def to_url(self, value: Policy | str) -> str:
        """Its key."""
        return value if isinstance(value, str) else value.key


register_converter(PolicyConverter, "policy")


@dataclass(frozen=True, slots=True)
class Row:
    """One rule as the form holds it. ``row`` stays its own while it moves, so that the focus can follow."""

    row: int
    rule_id: str
    match: str
    approves: bool

    @property
    def rule(self) -> dict[str, Any]:
        """As the services take it."""
        named = {"id": self.rule_id} if self.rule_id else {}
        return {"match": self.match, "auto_approve": self.approves} | named


@page("pages/policies.html", parts=tuple(POLICIES))
def policies_page(request: HttpRequest, caller: Caller, policy: Policy | None = None) -> dict[str, Any]:
    """Both policies; ``policy`` is the one whose form was sent, which is shown as it was sent, and rearranged."""
    return {
        "section": "policies",
        "sheets": {
            each.key: _sheet(caller, each, request.POST if each is policy else None)
            for each in POLICIES.values()
        },
    }


@action(policies_page)
def edit(request: HttpRequest, caller: Caller, policy: Policy) -> str | HttpResponseBase:
    """Keep the rules; or, by another button of the form, only rearrange or try them."""
    if request.POST.get("do") != "save":
        return show_again(policies_page, request, caller, policy=policy)
    policy.keep(
        caller=caller,
        rules=[row.rule for row in _rows_of(request.POST)],
        based_on=request.POST.get("based_on", ""),
    )
    messages.success(request, _("The policy is kept. It holds for what comes from now on."))
    return f"{reverse('policies')}#{policy.key}"


@action(policies_page)
def check(request: HttpRequest, caller: Caller, policy: Policy) -> HttpResponse:
    """What is to be said of the rules as they are being typed. Writes nothing."""
    rows = _rows_of(request.POST)
    return render(request, "parts/policy_says.html", {"sheet": _judged(caller, policy, rows), "swap": True})


def _sheet(caller: Caller, policy: Policy, sent: QueryDict | None) -> dict[str, Any]:
    kept = policy.read(caller=caller)
    rows = _rows_kept(kept.rules) if sent is None else _rearranged(_rows_of(sent), sent.get("do", ""))
    based_on = kept.revision if sent is None else sent.get("based_on", "")
    stale = based_on != kept.revision
    told = stale and sent is not None and sent.get("do") == "save"
    return _judged(caller, policy, rows) | {
        "kept": kept,
        "kept_rules": kept.rules,
        "sent": sent is not None,
        "did": "" if sent is None else sent.get("do", "").partition(":")[0],
        "changed": [row.rule for row in rows] != kept.rules,
        # Somebody else wrote meanwhile. A save was refused for it: both are shown now, and the next is over theirs.
        "stale": stale,
        "based_on": kept.revision if told else based_on,
    }


def _judged(caller: Caller, policy: Policy, rows: list[Row]) -> dict[str, Any]:
    trial = policy.judge(caller=caller, rules=[row.rule for row in rows])
    judged = zip(rows, trial.judgement.problems, trial.judgement.reach, strict=True)
    return {
        "policy": policy,
        "rows": [{"row": row, "problems": problems, "reach": reach} for row, problems, reach in judged],
        "trial": trial,
    }


def _rows_kept(rules: list[dict[str, Any]]) -> list[Row]:
    return [Row(number, rule["id"], rule["match"], rule["auto_approve"]) for number, rule in enumerate(rules)]


def _rows_of(sent: QueryDict) -> list[Row]:
    """The rules as they were sent: four fields each, in order."""
    columns = zip(*(sent.getlist(name) for name in ("row", "id", "match", "auto_approve")), strict=False)
    return [
        Row(
            row=number if (kept := number_in(row)) is None else kept,
            rule_id=rule_id.strip(),
            match=match.replace("\r\n", "\n").strip(),
            approves=approves == "yes",
        )
        for number, (row, rule_id, match, approves) in enumerate(columns)
    ]


def _rearranged(rows: list[Row], do: str) -> list[Row]:
    """``add``, ``remove:<row>``, ``up:<row>``, ``down:<row>``; anything else leaves them as they are."""
    what, _colon, which = do.partition(":")
    if what == "add":
        return [*rows, Row(max((row.row for row in rows), default=-1) + 1, "", "", approves=True)]
    place = next((at for at, row in enumerate(rows) if str(row.row) == which), None)
    if place is None:
        return rows
    others = [row for row in rows if row is not rows[place]]
    if what == "remove":
        return others
    by = {"up": -1, "down": 1}.get(what, 0)
    at = min(max(place + by, 0), len(others))
    return [*others[:at], rows[place], *others[at:]]


urlpatterns = [
    path("policies", policies_page, name="policies"),
    path("policies/<policy:policy>/edit", edit, name="policy-edit"),
    path("policies/<policy:policy>/check", check, name="policy-check"),
]
