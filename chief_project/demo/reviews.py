"""Plans on their way: drafts at every turn of a review, templates, policies, and what has no run."""

from collections.abc import Callable
from typing import Any

from amendments.selectors.policy import get_approval_policy
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.demo import plans
from chief_project.demo.stage import Scene, Stage, ago
from workflows.documents import StepDocument, plan_value
from workflows.domain.templates import Content, Parameter
from workflows.selectors.policy import get_workflow_approval_policy
from workflows.services.archive_template import archive_template
from workflows.services.archive_workflow import archive_workflow
from workflows.services.create_template import create_template
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.mark_seen import mark_seen
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy

Rule = dict[str, Any]


def a_draft_at_its_third_revision(stage: Stage) -> Scene:
    """Sent back once; the owner has seen the second revision, and the third brings what was asked for."""
    yield ago(d=3, h=4)
    draft = stage.draft(plans.ORDERS, by=stage.claude)
    yield ago(d=2, h=23, m=12)
    stage.note(
        draft,
        "Which consumers live outside this repository? The warehouse reads the topic too, I think.",
        "inventory",
    )
    yield ago(d=2, h=23, m=4)
    compatible = stage.note(draft, "What may a consumer of the first version rely on meanwhile?", "schema")
    stage.send_back(draft, "Good order of steps. Two things first, see the notes.")
    yield ago(d=2, h=6, m=20)
    stage.revise(draft, plans.ORDERS_2, stage.claude, "Names consumers elsewhere; a table of compatibility.")
    yield ago(d=1, h=22, m=10)
    resolve_review_note(caller=stage.owner, workflow_id=draft, note_id=compatible)
    yield ago(d=1, h=22, m=8)
    stage.note(
        draft,
        "Counts alone agreed last time while 214 orders had the wrong currency. Compare what is in them too.",
        "compare-month",
    )
    yield ago(d=1, h=22, m=2)
    replayed = stage.note(
        draft, "How do we know that both versions agree before the first real order goes through?"
    )
    yield ago(d=1, h=21, m=47)
    stage.note(
        draft,
        "Partners must hear of it 30 days ahead, not afterwards. And that is ours to do, not a harness's.",
        "tell-partners",
        by=stage.reviewer,
    )
    yield ago(d=1, h=21, m=40)
    stage.send_back(draft, "Nearly. Prove that both agree, and compare more than counts.")
    yield ago(h=5, m=42)
    stage.revise(
        draft,
        plans.ORDERS_3,
        stage.claude,
        "Replays a recorded day first; compares checksums; the message to partners is left to people.",
    )
    yield ago(h=4, m=51)
    resolve_review_note(caller=stage.reviewer, workflow_id=draft, note_id=replayed)
    yield ago(h=4, m=49)
    stage.note(
        draft,
        "Checksums over 88,000 orders a shop will be felt on the replica at the end of the month."
        " Can it run between 2:00 and 5:00?",
        "compare-month",
        by=stage.reviewer,
    )


def a_large_draft_nobody_has_seen(stage: Stage) -> Scene:
    """Twelve services in three waves."""
    yield ago(h=6, m=51)
    stage.draft(plans.UPGRADE, by=stage.codex)


def a_draft_sent_back(stage: Stage) -> Scene:
    """It waits for its harness."""
    yield ago(d=3, h=1, m=30)
    draft = stage.draft(plans.KEYS, by=stage.codex)
    yield ago(d=2, h=20, m=15)
    stage.note(draft, "Two of the fourteen services can't reload their keys without a restart.", "swap")
    stage.note(draft, "Nothing here says how we get back if one of them rejects the new key.", "rotate")
    yield ago(d=2, h=20, m=11)
    stage.send_back(draft, "Plan for the two that must restart, and say how each step is undone.")


def a_draft_by_a_person(stage: Stage) -> Scene:
    """Written by hand, in no project; its writer revised it."""
    yield ago(h=4, m=32)
    draft = stage.draft(plans.ACCESS, by=stage.reviewer)
    yield ago(h=4, m=5)
    changed = plans.with_steps(
        plans.ACCESS, plans.task("export", "Export who may do what, from each system, robots included")
    )
    stage.revise(draft, changed, stage.reviewer, "Robots have rights too.")
    yield ago(h=3, m=48)
    mark_seen(caller=stage.owner, workflow_id=draft, revision=1)


def archived(stage: Stage) -> Scene:
    """A draft that something else made needless."""
    yield ago(d=18, h=3)
    draft = stage.draft(plans.VECTORS, by=stage.planner)
    yield ago(d=12, h=5)
    archive_workflow(
        caller=stage.owner, workflow_id=draft, reason="The database's own index is enough for us."
    )


def approved_and_not_begun(stage: Stage) -> Scene:
    """It waits for a harness to start it."""
    yield ago(d=4, h=2)
    draft = stage.draft(plans.TRANSLATE, by=stage.claude)
    yield ago(d=3, h=22)
    stage.approve(draft, "Start with the pages on returns, please.", by=stage.reviewer)


def policies(stage: Stage) -> Scene:
    """Codex may add steps by itself; whoever edits history asks a person."""
    yield ago(d=20, h=1)
    _add_rule(
        stage,
        {
            "id": "codex-adds-steps",
            "match": "amendment.kind == 'forward' && amendment.actor == 'codex'"
            " && amendment.ops subset_of ['insert_after', 'insert_before']",
            "auto_approve": True,
        },
        get_approval_policy,
        update_approval_policy,
    )
    yield ago(d=20)
    _add_rule(
        stage,
        {"id": "history-to-people", "match": "amendment.kind == 'history_edit'", "auto_approve": False},
        get_approval_policy,
        update_approval_policy,
    )


def _add_rule(stage: Stage, rule: Rule, read: Callable[..., Any], write: Callable[..., Any]) -> None:
    """Behind the rules that are there already, if it isn't one of them."""
    rules = read(caller=stage.owner)["rules"]
    if rule["id"] not in {there["id"] for there in rules}:
        write(caller=stage.owner, rules=[*rules, rule])


def a_guide_from_a_template(stage: Stage) -> Scene:
    """A template that a policy trusts, used twice; the run of the first is over."""
    yield ago(d=19, h=6)
    made, _ = create_template(
        caller=stage.planner,
        content=Content(
            str(plans.GUIDE["title"]),
            "A guide that was tried out before it is read.",
            (Parameter("audience", "Whom the guide is for, as in: new operators"),),
            plan_value([StepDocument.model_validate(step) for step in plans.GUIDE["steps"]], []),
            "platform",
        ),
    )
    template_id = made["template_id"]
    yield ago(d=19, h=5)
    _add_rule(
        stage,
        {
            "id": f"guides-{template_id[-6:]}",
            "match": f"workflow.template_id == '{template_id}'",
            "auto_approve": True,
        },
        get_workflow_approval_policy,
        update_workflow_approval_policy,
    )
    yield ago(d=8, h=4)
    workflow_id = _from_template(stage, template_id, audience="new operators")
    yield ago(d=8, h=3, m=58)
    run = stage.run(workflow_id, stage.planner, session="guide-operators")
    run.begin("outline")
    yield ago(d=8, h=3, m=31)
    run.done("outline", "Eleven things they must be able to do; three of them at night, alone.")
    run.begin("draft")
    yield ago(d=8, h=1, m=2)
    run.done("draft", "Fourteen pages, one task each.")
    run.begin("try")
    yield ago(d=7, h=20, m=40)
    run.done(
        "try",
        "Two commands didn't do what the draft says.",
        "41 of 41 commands, on a machine made this morning.",
        "Seven notes in the margin.",
        artifacts=[
            {
                "type": "application/json",
                "description": "Commands that failed",
                "data": {"run": 41, "failed": ["./ops restore --latest", "./ops keys list"]},
            }
        ],
    )
    run.begin("finish")
    yield ago(d=7, h=19, m=15)
    run.done("finish", "All seven notes are worked in.", metadata={"pages": 15, "words": 6210})
    yield ago(h=2, m=2)
    _from_template(stage, template_id, audience="people who only read")


def a_template_with_three_parameters(stage: Stage) -> Scene:
    """What is made from it waits for a person."""
    yield ago(d=16, h=2)
    made, _ = create_template(
        caller=stage.planner,
        content=Content(
            str(plans.BUMP["title"]),
            "One package, one repository, one decision at the end.",
            (
                Parameter("package", "Its name in the lock file"),
                Parameter("version", "The version to go to"),
                Parameter("repository", "Where", required=False, default="warehouse"),
            ),
            plan_value([StepDocument.model_validate(step) for step in plans.BUMP["steps"]], []),
        ),
    )
    yield ago(m=24)
    _from_template(stage, made["template_id"], package="pydantic", version="2.12")


def an_archived_template(stage: Stage) -> Scene:
    """Nothing is made from it any more."""
    yield ago(d=17, h=8)
    made, _ = create_template(
        caller=stage.planner,
        content=Content(
            "Write a short guide for {{ audience }}",
            "Superseded: nobody tried these guides out.",
            (Parameter("audience", "Whom the guide is for"),),
            plan_value([StepDocument.model_validate(step) for step in plans.GUIDE["steps"][:2]], []),
        ),
    )
    yield ago(d=9, h=7)
    archive_template(
        caller=stage.owner, template_id=made["template_id"], reason="The longer one is used instead."
    )


def _from_template(stage: Stage, template_id: str, **parameters: str) -> str:
    made = create_workflow_from_template(caller=stage.planner, template_id=template_id, parameters=parameters)
    return str(made["workflow_id"])


SCENES = (
    policies,
    a_guide_from_a_template,
    a_template_with_three_parameters,
    an_archived_template,
    archived,
    approved_and_not_begun,
    a_draft_at_its_third_revision,
    a_large_draft_nobody_has_seen,
    a_draft_sent_back,
    a_draft_by_a_person,
)
