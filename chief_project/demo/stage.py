"""Who acts in the demo, when, and through which services.

A scene is a generator that says before each thing it does how long ago that was, such as ``yield ago(h=3, m=14)``.
The stage plays all scenes at once, whichever is due next, so that everything happens in the order of its time.
"""

import heapq
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from amendments.domain.operations import Operation
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from amendments.services.reject_amendment import reject_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared import clock
from chief_project.shared.caller import Caller
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.comment_on_artifact import comment_on_artifact
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_instance_update import report_instance_update
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint
from runs.services.withdraw_question import withdraw_question
from workflows.documents import StepDocument, WorkflowCreate
from workflows.domain.plan import Step
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.revise_draft import revise_draft
from workflows.services.send_back_workflow import send_back_workflow

Document = dict[str, Any]
Scene = Generator[timedelta, None, None]


def ago(d: float = 0, h: float = 0, m: float = 0, s: float = 0) -> timedelta:
    """How long before the present: days, hours, minutes, seconds."""
    return timedelta(days=d, hours=h, minutes=m, seconds=s)


@dataclass(frozen=True, slots=True)
class Cast:
    """The people, and the harnesses by the names of their tokens."""

    owner: Caller
    reviewer: Caller
    harnesses: Mapping[str, Caller]


class Stage:
    """Plays scenes in the order of their moments; what is done in the meantime is dated then."""

    def __init__(self, cast: Cast, present: datetime) -> None:
        self.owner = cast.owner
        self.reviewer = cast.reviewer
        self.claude = cast.harnesses["claude-code"]
        self.codex = cast.harnesses["codex"]
        self.planner = cast.harnesses["planner"]
        self._present = present
        self._due: list[tuple[datetime, int, Scene]] = []
        self._numbers = count()

    def play(self, scenes: Iterable[Callable[["Stage"], Scene]]) -> None:
        """Every scene from its first moment to its last, with those that begin in them."""
        for begin in scenes:
            self.meanwhile(begin(self))
        while self._due:
            moment, _, scene = heapq.heappop(self._due)
            with clock.telling(moment):
                self._go_on(scene, moment)

    def meanwhile(self, scene: Scene) -> None:
        """Let ``scene`` play beside the others; it begins by saying when."""
        self._go_on(scene, None)

    def _go_on(self, scene: Scene, since: datetime | None) -> None:
        due = next(scene, None)
        if due is not None:
            moment = self._present - due
            assert (since or moment) <= moment < self._present, f"{moment} is not after {since}, or not past"
            heapq.heappush(self._due, (moment, next(self._numbers), scene))

    # -- Plans -------------------------------------------------------------------------------------

    def draft(self, document: Document, by: Caller) -> str:
        """Submit a plan; answers the workflow's id."""
        named = {} if by.person else {"generated_by": by.actor}
        source = "human" if by.person else "generated"
        body = WorkflowCreate.model_validate({"source": source} | named | document)
        made = create_workflow(
            caller=by,
            title=body.title,
            source=body.source,
            plan=body.plan(),
            generated_by=body.generated_by,
            project=body.project,
            origin_dir=body.origin_dir,
        )
        return str(made["workflow_id"])

    def revise(self, workflow_id: str, document: Document, by: Caller, reason: str) -> None:
        """Submit the next revision."""
        body = WorkflowCreate.model_validate({"source": "generated"} | document)
        plan = body.plan()
        revise_draft(
            caller=by,
            workflow_id=workflow_id,
            title=body.title,
            steps=plan.steps,
            groups=plan.groups,
            reason=reason,
        )

    def note(self, workflow_id: str, body: str, step_id: str | None = None, by: Caller | None = None) -> str:
        """A review note; answers its id."""
        made = add_review_note(caller=by or self.owner, workflow_id=workflow_id, body=body, step_id=step_id)
        return str(made["note_id"])

    def send_back(self, workflow_id: str, reason: str | None = None, by: Caller | None = None) -> None:
        """Changes are wanted."""
        send_back_workflow(caller=by or self.owner, workflow_id=workflow_id, reason=reason)

    def approve(self, workflow_id: str, reason: str | None = None, by: Caller | None = None) -> None:
        """Approve a draft."""
        approve_workflow(caller=by or self.owner, workflow_id=workflow_id, reason=reason)

    def run(self, workflow_id: str, by: Caller, **metadata: Any) -> "Played":
        """Begin a run."""
        made = register_run(caller=by, workflow_id=workflow_id, metadata=metadata)
        return Played(self, str(made.minimal["run_id"]), by)


@dataclass(frozen=True)
class Played:
    """One run, as its harness reports it and people decide in it."""

    stage: Stage
    run_id: str
    harness: Caller

    def report(self, path: str, summary: str, status: str | None = None, **more: Any) -> None:
        """Report on a step. ``more`` is the rest of the report."""
        report = {"summary": summary} | ({} if status is None else {"status": status}) | more
        report_step_update(caller=self.harness, run_id=self.run_id, path=_path(path), report=report)

    def begin(self, path: str, summary: str = "Begun.", **more: Any) -> None:
        """The step runs (a checkpoint: waits for a person)."""
        self.report(path, summary, "running", **more)

    def done(self, path: str, summary: str, *met: str, **more: Any) -> None:
        """The step is completed; ``met`` answers its criteria in their order."""
        if met:
            more["criteria_met"] = {f"c{place}": sentence for place, sentence in enumerate(met, 1)}
        self.report(path, summary, "completed", **more)

    def fail(self, path: str, summary: str, **more: Any) -> None:
        """The step failed."""
        self.report(path, summary, "failed", **more)

    def close(self, construct: str, summary: str) -> None:
        """No more instances will come."""
        self.report(construct, summary, instances_closed=True)

    def branch(self, construct: str, **metadata: Any) -> str:
        """Register an instance; answers its path."""
        made = register_step_instance(
            caller=self.harness,
            run_id=self.run_id,
            path=_path(construct),
            instance={"metadata": metadata},
        )
        return str(made.minimal["path"])

    def report_branch(self, path: str, summary: str, **more: Any) -> None:
        """Report on an instance."""
        report_instance_update(
            caller=self.harness, run_id=self.run_id, path=_path(path), report={"summary": summary} | more
        )

    def ask(self, path: str, text: str, *fields: Document) -> str:
        """Ask a person; answers the question's id."""
        made = ask_question(
            caller=self.harness,
            run_id=self.run_id,
            path=_path(path),
            question={"text": text, "fields": list(fields)},
        )
        return str(made.minimal["state"]["questions"][-1]["question_id"])

    def answer(self, path: str, question_id: str, by: Caller | None = None, **response: str) -> None:
        """Answer what was asked."""
        answer_question(
            caller=by or self.stage.owner,
            run_id=self.run_id,
            path=_path(path),
            answer={"question_id": question_id, "response": response},
        )

    def take_back(self, path: str, question_id: str, reason: str) -> None:
        """The harness found the answer itself."""
        withdraw_question(
            caller=self.harness,
            run_id=self.run_id,
            path=_path(path),
            withdrawal={"question_id": question_id, "reason": reason},
        )

    def resolve(
        self,
        path: str,
        decision: str = "approved",
        note: str | None = None,
        by: Caller | None = None,
        **response: str,
    ) -> None:
        """Decide a checkpoint."""
        resolution = {"decision": decision, "response": response} | ({} if note is None else {"note": note})
        resolve_checkpoint(
            caller=by or self.stage.owner, run_id=self.run_id, path=_path(path), resolution=resolution
        )

    def comment(self, artifact_id: str, body: str, by: Caller | None = None) -> None:
        """Say something about an artifact."""
        comment_on_artifact(
            caller=by or self.stage.owner,
            run_id=self.run_id,
            artifact_id=artifact_id,
            comment={"body": body},
        )

    def stale(self, path: str, reason: str, by: Caller | None = None) -> None:
        """Mark a step or, where the path ends on one, an instance: it ran, but doesn't count."""
        mark = mark_instance_stale if len(_path(path)) % 2 == 0 else mark_step_stale
        mark(caller=by or self.stage.owner, run_id=self.run_id, path=_path(path), mark={"reason": reason})

    def propose(self, kind: str, reason: str, operations: Sequence[Operation]) -> str:
        """Propose an amendment; answers its id."""
        made = propose_amendment(
            caller=self.harness,
            run_id=self.run_id,
            proposed_by=self.harness.actor,
            kind=kind,
            reason=reason,
            operations=operations,
        )
        return str(made.minimal["amendment_id"])

    def accept(self, amendment_id: str, reason: str | None = None, by: Caller | None = None) -> None:
        """Approve an amendment."""
        approve_amendment(caller=by or self.stage.owner, amendment_id=amendment_id, reason=reason)

    def reject(self, amendment_id: str, reason: str, by: Caller | None = None) -> None:
        """Reject an amendment."""
        reject_amendment(caller=by or self.stage.owner, amendment_id=amendment_id, reason=reason)

    def withdraw(self, amendment_id: str, reason: str) -> None:
        """The harness takes its amendment back."""
        withdraw_amendment(caller=self.harness, amendment_id=amendment_id, reason=reason)

    def cancel(self, reason: str) -> None:
        """End the run for good."""
        cancel_run(caller=self.stage.owner, run_id=self.run_id, reason=reason)

    def acknowledge(self) -> None:
        """Seen; leave it failed."""
        acknowledge_run(caller=self.stage.owner, run_id=self.run_id)


def step_value(document: Document) -> Step:
    """A step's document as a value."""
    return StepDocument.model_validate(document).value()


def after(target: str, document: Document) -> Operation:
    """Insert a step after ``target``."""
    return Operation("insert_after", target, step=step_value(document))


def before(target: str, document: Document) -> Operation:
    """Insert a step before ``target``."""
    return Operation("insert_before", target, step=step_value(document))


def update(document: Document) -> Operation:
    """Put a step in the place of the one with its id."""
    return Operation("update_step", str(document["id"]), step=step_value(document))


def remove(target: str) -> Operation:
    """Take a step out."""
    return Operation("remove_step", target)


def replay(target: str, instance: str | None = None) -> Operation:
    """Run a finished step again, everywhere or in the instance at a path."""
    return Operation("replay_step", target, instance_path=None if instance is None else _path(instance))


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.split("/"))
