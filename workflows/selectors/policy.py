"""The workflow approval policy, as it is kept, and what other rules would come to (contract 5)."""

from typing import Any

from django.db.models import OuterRef, Subquery

from chief_project.shared.caller import Caller, Right
from chief_project.shared.policies import TRIED_ON, KeptPolicy, Trial, kept_policy, untried
from workflows.domain.policy import DOCUMENT_NAME, WORKFLOW_POLICY, WorkflowFacts, decide_workflow
from workflows.models import Revision, Workflow

Document = dict[str, Any]


def get_workflow_approval_policy(*, caller: Caller) -> Document:
    """``{rules: [{id, match, auto_approve}]}``; no rules until a person writes some."""
    return {"rules": read_workflow_approval_policy(caller=caller).rules}


def read_workflow_approval_policy(*, caller: Caller) -> KeptPolicy:
    """The policy with who wrote it when, and the revision that ``based_on`` names."""
    caller.must(Right.OVERSEE, "read the workflow approval policy")
    return kept_policy(DOCUMENT_NAME)


def workflow_approval_rules() -> list[Document]:
    """The rules in order, for ``decide_workflow``; whoever the caller is, the policy judges what they made."""
    return kept_policy(DOCUMENT_NAME).rules


def try_workflow_approval_policy(*, caller: Caller, rules: list[Document]) -> Trial:
    """Judge ``rules`` (``{match, auto_approve, id?}``), and say which of the newest workflows from a template they
    would have approved as they were made. Nothing is written. One statement.
    """
    caller.must(Right.OVERSEE, "try a workflow approval policy")
    trial = untried(rules, WORKFLOW_POLICY)
    if trial.judgement.kept is None:
        return trial
    first_title = Revision.objects.filter(workflow=OuterRef("pk"), number=1).values("title")
    rows = list(
        Workflow.objects.filter(template_id__isnull=False)
        .annotate(first_title=Subquery(first_title))
        .order_by("-id")
        .values(
            "workflow_id",
            "title",
            "first_title",
            "template_id",
            "source",
            "generated_by",
            "status",
            "decided_by",
            "created_at",
        )[:TRIED_ON]
    )
    decided = []
    for row in rows:
        facts = WorkflowFacts(
            row["template_id"], row["source"], row["generated_by"], row["first_title"] or row["title"]
        )
        rule = decide_workflow(trial.judgement.kept, facts)
        if rule is not None:
            decided.append({**row, "rule": rule})
    return Trial(trial.judgement, len(rows), decided)
