"""A Chief in which every text that anybody may write is a given one, made through the services.

``Words`` says what stands in a field; ``build`` fills all of them: drafts, approved and archived workflows, runs in
every state, amendments pending and decided, questions, templates, policies, tokens, users.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amendments.services.cancel_run import cancel_run
from amendments.services.reject_amendment import reject_amendment
from amendments.services.update_approval_policy import update_approval_policy
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.caller import Caller, Role
from chief_project.shared.principals import caller_of_token
from chief_project.shared.serializers import parse_document
from chief_project.shared.services.create_signin_link import create_signin_link
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from tests.amendments import amend, insert_after, propose, remove, replay
from tests.amendments import update as update_op
from tests.plans import checkpoint, loop, parallel, task
from tests.run_calls import acknowledge, answer, ask, comment, resolve, update, update_instance
from tests.workflows import new_approved, new_draft, revised
from workflows.documents_templates import TemplateCreate
from workflows.services.add_review_note import add_review_note
from workflows.services.archive_template import archive_template
from workflows.services.archive_workflow import archive_workflow
from workflows.services.create_template import create_template
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy


@dataclass
class Words:
    """What stands in the fields. Each names its field by a word of its own, so that a page can be asked for it."""

    text: str = "words"  # of any length and on many lines
    line: str = "words"  # on one line of 200 characters
    match: str = "words"  # within the quotes of a policy's rule
    ids: str = "x"  # of the letters that an id may have
    used: set[str] = field(default_factory=set)

    def long(self, name: str) -> str:
        return self.text.replace("MARK", self._mark(name))

    def short(self, name: str) -> str:
        return self.line.replace("MARK", self._mark(name))

    def group(self, name: str) -> str:
        """A display path: names between single slashes."""
        return "/".join(filter(None, self.short(name).split("/")))

    def id(self, name: str) -> str:
        return f"{self.ids}{name}"

    def _mark(self, name: str) -> str:
        self.used.add(name)
        return f"zq{name}zq"


@dataclass(frozen=True)
class World:
    """Ids of what a page may be about."""

    workflows: list[str]
    runs: list[str]
    amendments: list[str]
    templates: list[str]
    artifacts: list[tuple[str, str]]


def build(words: Words, *, reviewer: Caller, admin: Caller) -> World:
    """``reviewer`` and ``admin`` are people; the harness is a token of its own."""
    long, short, ident = words.long, words.short, words.id
    token = create_token(caller=admin, kind="harness", name=short("token")[:150])["token"]
    create_token(caller=admin, kind="viewer", name="another")
    create_user(caller=admin, username="javascript@evil.example", role=Role.VIEWER)
    create_signin_link(caller=admin, username="javascript@evil.example")
    harness = caller_of_token(token)

    def steps(tag: str) -> list[dict[str, Any]]:
        return [
            task(
                ident("a"),
                goal=long(f"{tag}goal"),
                harness=short(f"{tag}harness"),
                criteria=[long(f"{tag}criterion"), "second"],
                inputs={short(f"{tag}inputname"): [long(f"{tag}inputvalue"), {"n": None}]},
                outputs={short(f"{tag}outputname"): {"description": long(f"{tag}outputvalue")}},
                group=words.group(f"{tag}group"),
            ),
            loop(ident("l"), [ident("x")], goal=long(f"{tag}loopgoal"), exit_when=long(f"{tag}exitwhen"), depends_on=[ident("a")]),
            task(ident("x"), goal=long(f"{tag}bodygoal")),
            parallel(
                ident("p"),
                [ident("y")],
                goal=long(f"{tag}parallelgoal"),
                depends_on=[ident("a")],
                on_instance_failure="continue",
                instance_params=[{"name": short(f"{tag}paramname"), "description": long(f"{tag}paramtext")}],
            ),
            task(ident("y"), goal=long(f"{tag}innergoal")),
            checkpoint(
                ident("ok"),
                goal=long(f"{tag}checkgoal"),
                depends_on=[ident("a")],
                fields=[{"name": short(f"{tag}fieldname"), "label": long(f"{tag}fieldlabel"), "hint": long(f"{tag}fieldhint")}],
            ),
            task(ident("q"), goal=long(f"{tag}askgoal"), depends_on=[ident("a")]),
            task(ident("z"), goal=long(f"{tag}lastgoal"), depends_on=[ident("ok")]),
        ]  # fmt: skip

    def labels(tag: str) -> dict[str, Any]:
        return {
            "title": long(f"{tag}title"),
            "generated_by": long(f"{tag}generatedby"),
            "project": short(f"{tag}project"),
            "origin_dir": long(f"{tag}origindir"),
            "groups": [{"path": words.group(f"{tag}group"), "description": long(f"{tag}grouptext")}],
        }

    # -- Plans
    draft = new_draft(harness, *steps("draft"), workflow_id=ident("draft"), **labels("draft"))
    note = add_review_note(caller=reviewer, workflow_id=ident("draft"), body=long("planote"))
    add_review_note(caller=reviewer, workflow_id=ident("draft"), body=long("stepnote"), step_id=ident("a"))
    add_review_note(caller=reviewer, workflow_id=ident("draft"), body=long("removednote"), step_id=ident("z"))
    send_back_workflow(caller=reviewer, workflow_id=ident("draft"), reason=long("sentback"))
    changed = [*steps("revised")[:-1], task(ident("new"), goal=long("newgoal"), depends_on=[ident("ok")])]
    revised(harness, draft, *changed, title=long("revisedtitle"), reason=long("revisionreason"))
    words.used.discard("revisedlastgoal")  # its step is gone, and the note on it has lost its place
    resolve_review_note(caller=reviewer, workflow_id=ident("draft"), note_id=note["note_id"], resolved=True)
    archived = new_approved(reviewer, *steps("old"), workflow_id=ident("old"), **labels("old"))
    archive_workflow(caller=reviewer, workflow_id=archived["workflow_id"], reason=long("archivereason"))
    new_approved(reviewer, *steps("plan"), workflow_id=ident("plan"), **labels("plan"))
    unused = task(ident("a"), goal=long("unusedgoal"))
    new_approved(reviewer, unused, title=long("unusedtitle"), workflow_id=ident("unused"))

    # -- A run with a bit of everything
    one = ident("one")

    def run(name: str) -> None:
        register_run(
            caller=harness, workflow_id=ident("plan"), run_id=name, metadata={short("runkey"): long("runvalue"), "deep": {"er": [long("deepvalue")]}}
        )  # fmt: skip

    def artifact(name: str, **keys: Any) -> dict[str, Any]:
        return {"artifact_id": ident(name), "type": short("arttype"), "description": long("arttext")} | keys

    run(one)
    update(
        harness, ident("a"), "completed", run_id=one, summary=long("summary"), metadata={short("metakey"): long("metavalue")},
        criteria_met={"c1": long("proof"), "c2": "yes"},
        artifacts=[
            artifact("ref", ref=long("artref")),
            artifact("doc", type="text/markdown", data=long("artdocument")),
            artifact("csv", type="text/csv", data=f'{short("cell")!r},b\n"{short("quoted")}",2\n'),
            artifact("json", type="application/json", data={long("jsonkey"): [long("jsonvalue")]}),
            artifact("html", type="text/html", data=long("arthtml")),
            artifact("svg", type="image/svg+xml", data=long("artsvg")),
            artifact("plain", type="text/plain", data=long("artplain")),
            artifact("code", type="text/x-python", data=long("artcode")),
            artifact("tall", description=None, ref=long("untitledref")),
        ],
    )  # fmt: skip
    comment(reviewer, ident("doc"), long("comment"), run_id=one)
    for number, status in enumerate(["completed", "failed", None]):
        made = {short("planparamname"): long("paramvalue")}
        register_step_instance(
            caller=harness,
            run_id=one,
            path=(ident("p"),),
            instance={"instance_id": ident(f"b{number}"), "metadata": made},
        )
        where = f"{ident('p')}/{ident(f'b{number}')}"
        if status:
            update(harness, f"{where}/{ident('y')}", status, run_id=one, summary=long("branchsummary"))
        else:
            update_instance(
                harness,
                where,
                run_id=one,
                summary=long("instancesummary"),
                artifacts=[artifact("branchart", ref=short("branchref"))],
            )
    mark_instance_stale(
        caller=reviewer, run_id=one, path=(ident("p"), ident("b0")), mark={"reason": long("staleinstance")}
    )
    register_step_instance(
        caller=harness,
        run_id=one,
        path=(ident("l"),),
        instance={"metadata": {short("iterkey"): long("itervalue")}},
    )
    mark_step_stale(caller=reviewer, run_id=one, path=(ident("a"),), mark={"reason": long("stalereason")})
    asks = {"name": short("askname"), "label": long("asklabel"), "hint": long("askhint")}
    update(harness, ident("q"), "running", run_id=one)
    asked = ask(harness, ident("q"), long("question"), asks, run_id=one).minimal["state"]["questions"][-1]
    answer(reviewer, ident("q"), asked["question_id"], {short("askname"): long("answer")}, run_id=one)
    ask(harness, ident("q"), long("openquestion"), asks, run_id=one)
    update(harness, ident("ok"), "running", run_id=one, summary=long("checksummary"))

    # -- Amendments
    reason = {"reason": long("amendreason"), "proposed_by": short("proposer")}
    rejected = propose(
        harness, insert_after(ident("ok"), task(ident("n0"), goal=long("rejectedgoal"))), run_id=one, **reason
    )
    reject_amendment(caller=reviewer, amendment_id=rejected["amendment_id"], reason=long("rejectreason"))
    taken = propose(harness, remove(ident("z")), run_id=one, **reason)
    withdraw_amendment(caller=harness, amendment_id=taken["amendment_id"], reason=long("withdrawreason"))
    applied = amend(
        reviewer,
        insert_after(ident("ok"), task(ident("n1"), goal=long("insertedgoal"))),
        run_id=one,
        **reason,
    )
    pending = propose(
        harness,
        replay(ident("a")),
        update_op(task(ident("q"), goal=long("amendedgoal"), depends_on=[ident("a")], criteria=[long("amendedcriterion")])),
        run_id=one, kind="history_edit", **reason,
    )  # fmt: skip

    # -- Runs that ended, one way or another
    for name in ("two", "failed", "seen", "cancelled"):
        run(ident(name))
    update(harness, ident("a"), "completed", run_id=ident("two"), criteria_met={"c1": "y", "c2": "y"})
    update(harness, ident("ok"), "running", run_id=ident("two"))
    resolve(
        reviewer,
        ident("ok"),
        run_id=ident("two"),
        note=long("checknote"),
        response={short("planfieldname"): long("checkanswer")},
    )
    for name in ("failed", "seen"):
        update(harness, ident("a"), "failed", run_id=ident(name), summary=long("failsummary"))
    acknowledge(reviewer, run_id=ident("seen"))
    cancel_run(caller=reviewer, run_id=ident("cancelled"), reason=long("cancelreason"))

    # -- Templates
    for name in ("template", "retired"):
        content = {
            "template_id": ident(name), "title": long("tpltitle"), "description": long("tpltext"), "project": short("tplproject"),
            "parameters": [{"name": "topic", "description": long("tplparam"), "required": False, "default": long("tpldefault")}],
            "steps": [task(ident("t"), goal="On {{ topic }} " + long("tplgoal"), group=words.group("tplgroup"))],
            "groups": [{"path": words.group("tplgroup"), "description": long("tplgrouptext")}],
        }  # fmt: skip
        create_template(
            caller=harness, content=parse_document(TemplateCreate, content).content(), template_id=ident(name)
        )
    archive_template(caller=reviewer, template_id=ident("retired"), reason=long("retirereason"))

    # -- Policies: they match nothing here
    rule = {
        "id": ident("rule"),
        "match": f'amendment.kind == "forward" && amendment.proposed_by == "{words.match}"',
        "auto_approve": True,
    }
    update_approval_policy(caller=admin, rules=[rule])
    rule = {
        "id": ident("rule"),
        "match": f'workflow.template_id == "{ident("template")}" && workflow.title == "{words.match}"',
        "auto_approve": True,
    }
    update_workflow_approval_policy(caller=admin, rules=[rule])
    return World(
        workflows=[ident(name) for name in ("draft", "old", "plan", "unused")],
        runs=[ident(name) for name in ("one", "two", "failed", "seen", "cancelled")],
        amendments=[each["amendment_id"] for each in (rejected, taken, applied, pending)],
        templates=[ident("template"), ident("retired")],
        artifacts=[(one, ident(name)) for name in ("ref", "doc", "csv", "json", "html", "svg", "plain", "code", "tall", "branchart")],
    )  # fmt: skip
