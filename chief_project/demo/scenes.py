"""What happens in the demo: drafts under review, and a run for each thing that can become of one."""

from dataclasses import dataclass
from typing import Any

from amendments.domain.operations import Operation
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.demo.plans import FLAKY, GUIDE, LICENCES, SEARCH
from chief_project.shared.caller import Caller
from runs.services.acknowledge_run import acknowledge_run
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.mark_stale import mark_instance_stale
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint
from workflows.documents import StepDocument, WorkflowCreate, plan_value
from workflows.domain.plan import Step
from workflows.domain.templates import Content, Parameter
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_template import archive_template
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.create_template import create_template
from workflows.services.create_workflow import create_workflow
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.revise_draft import revise_draft
from workflows.services.send_back_workflow import send_back_workflow

Document = dict[str, Any]


def play(*, person: Caller, harness: Caller) -> None:
    """Fill the database: ``person`` reviews and decides, ``harness`` plans and reports."""
    stage = Stage(person, harness)
    stage.drafts()
    stage.templates()
    search = stage.approved(SEARCH)
    stage.waits_at_a_checkpoint(search)
    stage.branches_under_way(search)
    flaky = stage.approved(FLAKY)
    stage.waits_for_an_answer(flaky)
    stage.waits_for_an_amendment(flaky)
    stage.completed_after_an_amendment(flaky)
    licences = stage.approved(LICENCES)
    stage.failed(licences, acknowledged=False)
    stage.failed(licences, acknowledged=True)
    stage.cancelled(licences)


@dataclass(frozen=True)
class Stage:
    """The two who act, and the scenes."""

    person: Caller
    harness: Caller

    # -- Plans -------------------------------------------------------------------------------------

    def draft(self, document: Document, **changes: Any) -> str:
        body = WorkflowCreate.model_validate({"source": "generated"} | document | changes)
        made = create_workflow(
            caller=self.harness,
            title=body.title,
            source=body.source,
            plan=body.plan(),
            generated_by=body.generated_by,
            project=body.project,
            origin_dir=body.origin_dir,
        )
        return str(made["workflow_id"])

    def approved(self, document: Document) -> str:
        workflow_id = self.draft(document)
        approve_workflow(
            caller=self.person, workflow_id=workflow_id, reason="Small steps, each can be undone."
        )
        return workflow_id

    def drafts(self) -> None:
        """One that waits, one that was sent back, one revised since, one archived."""
        self.draft(LICENCES, title="List the licences of the mobile app", project=None)
        sent_back = self.draft(FLAKY, title="Make the delivery tests dependable")
        self.note(sent_back, "Where does the list of failures come from? CI keeps only 30 days.", "collect")
        send_back_workflow(
            caller=self.person, workflow_id=sent_back, reason="Say what the failures are counted from."
        )
        revised = self.draft(SEARCH, title="Move the help centre's search")
        note_id = self.note(revised, "Measure first, please: we don't know what is slow.", "choose")
        self.note(revised, "Who tells the support team before the switch?")
        send_back_workflow(caller=self.person, workflow_id=revised)
        steps: list[Document] = list(SEARCH["steps"])
        steps[1] = steps[1] | {"goal": "Compare two candidate engines on the recorded queries"}
        plan = plan_value([StepDocument.model_validate(step) for step in steps], [])
        revise_draft(
            caller=self.harness,
            workflow_id=revised,
            title="Move the help centre's search",
            steps=plan.steps,
            reason="The comparison uses what was measured.",
        )
        resolve_review_note(caller=self.person, workflow_id=revised, note_id=note_id)
        old = self.draft(LICENCES, title="List the licences by hand")
        archive_workflow(caller=self.person, workflow_id=old, reason="The script does it now.")

    def note(self, workflow_id: str, body: str, step_id: str | None = None) -> str:
        made = add_review_note(caller=self.person, workflow_id=workflow_id, body=body, step_id=step_id)
        return str(made["note_id"])

    def templates(self) -> None:
        """One in use, one archived."""
        plan = plan_value([StepDocument.model_validate(step) for step in GUIDE["steps"]], [])
        audience = Parameter("audience", "Whom the guide is for", required=True)
        content = Content(
            str(GUIDE["title"]), "A guide that was tried out before it is read.", (audience,), plan
        )
        made, _ = create_template(caller=self.harness, content=content)
        create_workflow_from_template(
            caller=self.harness,
            template_id=made["template_id"],
            parameters={"audience": "new operators"},
            project="handbook",
        )
        short = Content("Write a short guide for {{ audience }}", "", (audience,), plan)
        retired, _ = create_template(caller=self.harness, content=short)
        archive_template(caller=self.person, template_id=retired["template_id"])

    # -- Runs --------------------------------------------------------------------------------------

    def run(self, workflow_id: str, **metadata: Any) -> str:
        made = register_run(caller=self.harness, workflow_id=workflow_id, metadata=metadata)
        return str(made.minimal["run_id"])

    def report(self, run_id: str, path: str, summary: str, status: str | None = None, **more: Any) -> None:
        report = {"summary": summary} | ({} if status is None else {"status": status}) | more
        report_step_update(caller=self.harness, run_id=run_id, path=tuple(path.split("/")), report=report)

    def branch(self, run_id: str, construct: str, **metadata: Any) -> str:
        made = register_step_instance(
            caller=self.harness, run_id=run_id, path=(construct,), instance={"metadata": metadata}
        )
        return str(made.minimal["path"])

    def waits_at_a_checkpoint(self, workflow_id: str) -> str:
        """Measured and compared; a person chooses."""
        run_id = self.run(workflow_id, branch="search-engine")
        self.report(run_id, "measure", "Recording the queries.", "running")
        self.report(
            run_id,
            "measure",
            "41,300 queries in a week. Half are answered within 180 ms, 95 % within 1.4 s.",
            "completed",
            criteria_met={"c1": "See queries.csv, seven days.", "c2": "180 ms and 1,400 ms, in latency.md."},
            artifacts=[
                {"type": "text/csv", "description": "The queries, without names", "ref": "data/queries.csv"},
                {"type": "text/markdown", "description": "How long they take", "ref": "notes/latency.md"},
            ],
            metadata={"queries": 41300, "p50_ms": 180, "p95_ms": 1400},
        )
        self.report(
            run_id,
            "choose",
            "Two of three candidates find everything the old index finds; the third loses accents.",
            "completed",
            artifacts=[
                {
                    "artifact_id": f"art_comparison_{run_id}",
                    "type": "text/markdown",
                    "data": {
                        "text": "# Comparison\n\n| engine | p95 |\n|---|---|\n| A | 90 ms |\n| B | 120 ms |"
                    },
                }
            ],
        )
        comment_on_artifact(
            caller=self.person,
            run_id=run_id,
            artifact_id=f"art_comparison_{run_id}",
            comment={"body": "Please add what each costs to run."},
        )
        self.report(run_id, "agree", "The comparison is ready to be decided on.", "running")
        return run_id

    def branches_under_way(self, workflow_id: str) -> None:
        """One branch done, one failed and tolerated, one that no longer counts, one at work."""
        run_id = self.waits_at_a_checkpoint(workflow_id)
        resolve_checkpoint(
            caller=self.person,
            run_id=run_id,
            path=("agree",),
            resolution={"decision": "approved", "response": {"engine": "A", "limit_ms": "300"}},
        )
        books = self.branch(run_id, "index", catalogue="books")
        for step, summary in [("export", "1.2 million documents."), ("load", "Loaded in 14 minutes.")]:
            self.report(run_id, f"{books}/{step}", summary, "completed")
        self.report(
            run_id,
            f"{books}/compare",
            "97.1 % of the queries agree.",
            "completed",
            criteria_met={"c1": "97.1 %, in compare-books.json."},
        )
        music = self.branch(run_id, "index", catalogue="music")
        self.report(run_id, f"{music}/export", "The export stops at a record without a title.", "failed")
        maps = self.branch(run_id, "index", catalogue="maps")
        self.report(run_id, f"{maps}/export", "900 documents.", "completed")
        mark_instance_stale(
            caller=self.person,
            run_id=run_id,
            path=tuple(maps.split("/")),
            mark={"reason": "The maps catalogue closes this year."},
        )
        films = self.branch(run_id, "index", catalogue="films")
        self.report(run_id, f"{films}/export", "Exporting, 40 % done.", "running")

    def waits_for_an_answer(self, workflow_id: str) -> None:
        """A task that can't go on without a person."""
        run_id = self.run(workflow_id)
        self.report(run_id, "collect", "38 failures, in four groups.", "completed")
        first = self.branch(run_id, "rounds")
        self.report(run_id, f"{first}/mend", "The card tests share one clock.", "running")
        ask_question(
            caller=self.harness,
            run_id=run_id,
            path=(*first.split("/"), "mend"),
            question={
                "text": "The sandbox accepts only ten payments a minute. May the tests use the recorded answers?",
                "fields": [
                    {"name": "decision", "label": "Recorded answers", "hint": "yes, no, or only for cards"}
                ],
            },
        )

    def waits_for_an_amendment(self, workflow_id: str) -> None:
        """The plan no longer fits: a step before the report is proposed."""
        run_id = self.run(workflow_id)
        self.report(run_id, "collect", "Six failures, all in one file.", "completed")
        extra = Step(id="upgrade", type="task", goal="Upgrade the test runner first", harness="builder")
        self.propose(
            run_id, "forward", "Four of the six are bugs of the runner.", [self.after("collect", extra)]
        )

    def completed_after_an_amendment(self, workflow_id: str) -> None:
        """A round that failed was replayed by a person's decision, and the run ended well."""
        run_id = self.run(workflow_id)
        self.report(run_id, "collect", "Twelve failures.", "completed")
        first = self.branch(run_id, "rounds")
        self.report(run_id, f"{first}/mend", "The refund test waited for the wrong event.", "completed")
        self.report(run_id, f"{first}/prove", "Stopped: the machine ran out of disk after 12 runs.", "failed")
        replay = Operation("replay_step", "prove", instance_path=tuple(first.split("/")))
        rejected = self.propose(run_id, "history_edit", "Run it again.", [replay])
        reject_amendment(
            caller=self.person,
            amendment_id=rejected,
            reason="Make room on the disk first, or it fails again.",
        )
        again = self.propose(run_id, "history_edit", "The disk has room now: prove it again.", [replay])
        approve_amendment(caller=self.person, amendment_id=again, reason="Yes.")
        self.report(
            run_id,
            f"{first}/prove",
            "50 of 50 runs passed.",
            "completed",
            criteria_met={"c1": "50 runs, 50 passed."},
        )
        self.report(run_id, "rounds", "No failure is left.", instances_closed=True)
        self.report(run_id, "report", "Written; watch the sandbox's limit.", "completed")

    def failed(self, workflow_id: str, *, acknowledged: bool) -> None:
        """A failure that leaves steps skipped; one that somebody has seen, one that nobody has."""
        run_id = self.run(workflow_id)
        self.report(run_id, "inventory", "214 packages.", "completed")
        self.report(run_id, "resolve", "The registry refuses the token after 60 packages.", "failed")
        if acknowledged:
            acknowledge_run(caller=self.person, run_id=run_id)

    def cancelled(self, workflow_id: str) -> None:
        """Begun, then nobody's business any more; its plan lives on as a copy."""
        run_id = self.run(workflow_id)
        self.report(run_id, "inventory", "Reading the images.", "running")
        cancel_run(caller=self.person, run_id=run_id, reason="The release was called off.")
        clone_workflow(caller=self.harness, workflow_id=workflow_id, run_id=run_id)

    def propose(self, run_id: str, kind: str, reason: str, operations: list[Operation]) -> str:
        made = propose_amendment(
            caller=self.harness,
            run_id=run_id,
            proposed_by="planner",
            kind=kind,
            reason=reason,
            operations=operations,
        )
        return str(made.minimal["amendment_id"])

    @staticmethod
    def after(target: str, step: Step) -> Operation:
        return Operation("insert_after", target, step=step)
