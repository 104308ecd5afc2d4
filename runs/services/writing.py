"""The story that every write to a run shares: lock the chain, decide, write what changed, record, answer.

A service opens a ``Writing``, lets the domain decide on its chain, and closes it with ``finish``. One SELECT locks,
one UPDATE per changed row writes; the audit head moves with the run's own row.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from chief_project.shared import audit, clock, ids
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Conflict,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from runs import mappers, statements
from runs.domain.report import refuse_cancelled_run, refuse_completed_run
from runs.domain.settle import Neighbour, Path, RunHead, made_ready, settle, settle_construct, wanted
from runs.domain.skips import skip_root, skip_sentence
from runs.domain.tree import InstanceNode, StateNode
from runs.models import Artifact, Run, StepInstance, StepState
from runs.selectors.hung import NOTHING, hung_on_instance, hung_on_state
from runs.selectors.runs import no_run, whole_run
from runs.selectors.trees import removing_amendments
from runs.services.outcome import Document, RunWrite
from workflows.domain.plan import Plan
from workflows.mappers import load_plan

NEXT_AT_MOST = 20
_OPEN = frozenset({"pending", "running"})


class Writing:
    """One write to a run: its locked chain, the plan, the time, and what is to be written beside the chain."""

    def __init__(self, caller: Caller, run_id: str, path: Path, if_match: int | None) -> None:
        found = statements.lock_chain(run_id, path)
        if found is None:
            raise explain_missing(run_id, path)
        self.chain, self.counts = found
        self._counts = {id(self.chain.target or self.chain.levels[-1][1]): self.counts}
        self.caller = caller
        self.path = path
        self._place = "/".join(path)  # of the addressed step, also where the answer is about its instance
        self.now = clock.now()
        self.plan: Plan = load_plan(self.run.plan_pk)
        self._baseline = statements.Baseline(self.chain)
        self._columns: dict[int, dict[str, Any]] = {}
        self._added: list[Document] = []
        self._ready: list[Document] = []
        self._more = 0
        check_revision(self.run.run_id, self.run.revision, if_match)

    @property
    def run(self) -> RunHead:
        """The run's row."""
        return self.chain.run

    @property
    def state(self) -> StateNode:
        """The addressed step."""
        assert self.chain.target is not None
        return self.chain.target

    @property
    def instance(self) -> InstanceNode:
        """The addressed instance, or the one that the addressed step stands in."""
        return self.chain.levels[-1][1]

    def into(self, step_id: str) -> "Writing":
        """The writing of the instance's own step, which still writes and answers for the instance."""
        inner = Writing(self.caller, self.run.run_id, (*self.path, step_id), None)
        inner.path = self.path
        outer, node = self.instance, inner.instance
        node.summary, node.metadata, node.stale = outer.summary, outer.metadata, outer.stale
        inner._counts[id(node)] = self.counts
        return inner

    def refuse_cancelled(self) -> None:
        """A cancelled run takes only comments and stale marks."""
        refuse_cancelled_run(self.run.run_id, self.run.status)

    def refuse_completed(self) -> None:
        """Nor does a completed one take reports, also where a tolerated failure left work open in it.

        Asked last: a step's own refusal says more.
        """
        refuse_completed_run(self.run.run_id, self.run.status)

    def refuse_skipped(self) -> None:
        """Name the failed step that a skipped one waits for, or the amendment that removed it."""
        if self.state.status == "skipped":
            raise self._explain_skip()

    def set(self, node: StateNode | InstanceNode, **columns: Any) -> None:
        """Columns to write with ``node``'s row, beyond the derived ones; JSON values as they are."""
        ready = self._columns.setdefault(id(node), {})
        for name, value in columns.items():
            ready[name] = statements.sql_json(value) if isinstance(value, dict | list) else value

    def take_report(self, node: StateNode | InstanceNode, report: Mapping[str, Any]) -> None:
        """The parts that every report has: the summary replaced, metadata merged, artifacts appended."""
        node.summary = report.get("summary", node.summary)
        self.set(node, summary=node.summary)
        if report.get("metadata"):
            node.metadata = {**node.metadata, **report["metadata"]}
            self.set(node, metadata=node.metadata)
        if report.get("artifacts"):
            self._add_artifacts(node, report["artifacts"])

    def move(self, status: str) -> None:
        """Move the addressed step to ``status`` and settle everything that follows in its scope and above."""
        asked = wanted(self.chain, self.plan, status)
        near = statements.read_neighbours(self.chain, asked) if asked else {}
        was = self.state.status
        skipped = settle(self.chain, self.plan, status, self.now, near)
        if skipped:
            statements.skip_states([neighbour.pk for neighbour in skipped])
        if self.state.status != was:
            self._name_next(near.get(self.chain.depth, {}))

    def settle_construct(self) -> None:
        """Re-derive the addressed construct after a report on it, a closing or a new instance."""
        asked = wanted(self.chain, self.plan, "completed") if self.state.instances_closed else []
        was = self.state.status
        settle_construct(self.chain, self.plan, self.state, self.chain.depth, self.now)
        if self.state.status == "completed" != was:
            near = statements.read_neighbours(self.chain, asked) if asked else {}
            self._name_next(near.get(self.chain.depth, {}))

    def offer(self, path: Path, step_ids: Sequence[str]) -> None:
        """Name the steps below ``path`` that this write made ready, in ``next``: none where the scope is over."""
        if any(node.status not in _OPEN for level in self.chain.levels for node in level):
            return
        for step_id in step_ids[:NEXT_AT_MOST]:
            step = self.plan.by_id[step_id]
            self._ready.append(
                {
                    "path": "/".join((*path, step_id)),
                    "step_id": step_id,
                    "type": step.type,
                    "state": "ready",
                    "goal": step.goal,
                }
            )
        self._more += max(0, len(step_ids) - NEXT_AT_MOST)

    def finish(
        self,
        event: str,
        detail: Document,
        *,
        report: tuple[str, Mapping[str, Any]] | None = None,
        answer_instance: bool = False,
        full: Any = None,
    ) -> RunWrite:
        """Write the chain, the report log, the audit entry and the run; return the answer.

        ``report`` is (kind, payload as sent) for what belongs in the report log. ``full`` replaces the RunState as
        the whole answer.
        """
        run = self.run
        path = "/".join(self.path)
        self._baseline.write(self._columns)
        if report is not None:
            kind, payload = report
            text = json.dumps(payload, ensure_ascii=False)
            run.reports += 1
            statements.insert_report(
                run,
                at=self.now,
                kind=kind,
                path=path,
                payload=text,
                actor=self.caller.actor,
                via=self.caller.via,
            )
            # The log's payload is not repeated in the audit; its digest makes a later change to it visible. With
            # sorted keys, because PostgreSQL doesn't keep the order in which they came.
            canonical = json.dumps(payload, ensure_ascii=False, sort_keys=True)
            digest = hashlib.sha256(canonical.encode()).hexdigest()
            detail = detail | {"report": run.reports, "sha256": digest}
        entry = audit.compose(
            caller=self.caller,
            event=event,
            at=self.now,
            detail={"path": path} | detail,
            head=(run.audit_length, run.audit_hash),
            workflow_id=run.workflow_id,
            run_id=run.run_id,
        )
        statements.insert_audit(entry)
        run.audit_length, run.audit_hash = entry.position, entry.hash
        run.revision += 1
        statements.update_run(run, self.now, reported=report is not None)
        run_id = run.run_id
        minimal = {
            "run_id": run_id,
            "revision": run.revision,
            "run_status": run.status,
            "path": path,
            "state": self._instance_document() if answer_instance else self._state_document(),
            "next": {"items": self._ready, "more": self._more},
        }
        return RunWrite(minimal, full or (lambda: whole_run(run_id=run_id)))

    def _add_artifacts(self, node: StateNode | InstanceNode, artifacts: Sequence[Mapping[str, Any]]) -> None:
        rows = [
            {
                "artifact_id": given.get("artifact_id") or ids.mint("art"),
                "type": given["type"],
                "description": given.get("description"),
                "ref": given.get("ref"),
                "data": given.get("data"),
            }
            for given in artifacts
        ]
        names = [row["artifact_id"] for row in rows]
        twice = (
            sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        )
        if twice:
            raise Conflict(f"artifact ids named twice in one report: {', '.join(twice)}", artifact_ids=twice)
        assert node.pk is not None
        owner = "state_id" if isinstance(node, StateNode) else "instance_id"
        added = statements.insert_artifacts(self.run, rows, at=self.now, owner=owner, pk=node.pk)
        if added < len(rows):
            raise self._taken(names, added)
        counts = self._counts[id(node)]
        self._added = [row | {"comments": []} for row in rows]
        self.set(node, artifact_count=counts.artifacts + len(rows))

    def _taken(self, names: Sequence[str], added: int) -> Conflict:
        """Which artifact ids of a report were in use; ``added`` of its artifacts went in, and are the newest."""
        there = Artifact.objects.filter(run=self.run.pk, artifact_id__in=names).order_by("pk")
        taken = list(there.values_list("artifact_id", flat=True))
        taken = taken[: len(taken) - added]
        return Conflict(
            f"artifact ids already in use in run '{self.run.run_id}': {', '.join(taken[:20])}. An artifact keeps its"
            " id for ever, so report the new one under another id or leave the id out",
            artifact_ids=taken,
        )

    def _state_document(self) -> Document:
        state = self.state
        counts = self._counts[id(state)]
        hung = hung_on_state(state.row, counts) if counts.any() else NOTHING
        return mappers.minimal_state_document(
            state,
            artifacts=hung.artifacts if counts.artifacts else self._added,
            questions=hung.questions,
            history=hung.history,
            skipped=self._why_skipped() if state.status == "skipped" else None,
        )

    def _instance_document(self) -> Document:
        construct, instance = self.chain.levels[-1]
        counts = self._counts[id(instance)]
        hung = hung_on_instance(instance.row, counts) if counts.any() else NOTHING
        return mappers.minimal_instance_document(
            instance,
            parent_step_id=construct.step_id,
            artifacts=hung.artifacts if counts.artifacts else self._added,
            history=hung.history,
        )

    def _name_next(self, near: Mapping[str, Neighbour]) -> None:
        state = self.state
        if state.status == "completed":
            self.offer(self.path[:-1], made_ready(state.step_id, self.plan, near))
        elif state.status == "blocked":
            step = self.plan.by_id.get(state.step_id)  # none: removed, in an instance that keeps its body
            self._ready.append(
                {
                    "path": self._place,
                    "step_id": state.step_id,
                    "type": state.type,
                    "state": "blocked",
                    "goal": step.goal if step else None,
                }
            )

    def remover(self, *step_ids: str) -> str | None:
        """The amendment that took the first of these steps out that is out."""
        found = removing_amendments([self.run.pk], step_ids).get(self.run.pk, {})
        return next((found[step_id] for step_id in step_ids if step_id in found), None)

    @property
    def around(self) -> list[str]:
        """The constructs around the addressed step or instance, the innermost first: with one, what is in it goes."""
        return [construct.step_id for construct, _ in reversed(self.chain.levels)]

    def _explain_skip(self) -> InvalidTransition:
        state = self.state
        if state.skip_cause != "dependency":
            by = self.remover(state.step_id, *self.around) if state.skip_cause == "removed" else None
            why = f"amendment '{by}' removed it" if by else "an amendment removed it"
            if state.skip_cause != "removed":
                why = "the run was cancelled"
            return InvalidTransition(
                f"step '{state.step_id}' is skipped: {why}",
                status="skipped",
                cause=state.skip_cause,
                amendment_id=by,
            )
        root = self._root()
        return InvalidTransition(
            f"step '{state.step_id}' is skipped: it waits for '{root}', which failed. Propose an amendment with"
            f" replay_step on '{root}'",
            status="skipped",
            cause="dependency",
            failed_step=root,
        )

    def _root(self) -> str | None:
        """The failed step that the addressed one waits for."""
        scope = StepState.objects.filter(
            run=self.run.pk, instance=self.instance.pk if self.chain.levels else None
        )
        statuses = {
            name: (status, cause)
            for name, status, cause in scope.values_list("step_id", "status", "skip_cause")
        }
        return skip_root(self.plan, statuses, self.state.step_id)

    def _why_skipped(self) -> str:
        cause = self.state.skip_cause or "dependency"
        root = self._root() if cause == "dependency" else None
        by = self.remover(self.state.step_id) if cause == "removed" else None
        return skip_sentence(cause, root=root, amendment_id=by)


def check_revision(run_id: str, revision: int, if_match: int | None) -> None:
    """``If-Match`` against the run's revision (contract 1)."""
    if if_match is not None and if_match != revision:
        raise PreconditionFailed(
            f"run '{run_id}' is at revision {revision}, not {if_match}: read it again and decide on what it is now",
            revision=revision,
            given=if_match,
        )


def explain_missing(run_id: str, path: Path) -> Exception:
    """Why no row has this path: no such run, a body step asked for at top level, no such step or instance."""
    run = Run.objects.filter(run_id=run_id).first()
    if run is None:
        return no_run(run_id)
    plan = load_plan(run.plan_id)
    top = path[0]
    if top in plan.container and not StepState.objects.filter(run=run, instance=None, step_id=top).exists():
        return _stands_in_a_body(run, plan, top)
    inside: int | None = None
    construct_pk = None
    for place, token in enumerate(path):
        where = "/".join(path[:place]) or f"run '{run_id}'"
        if place % 2 == 0:
            row = StepState.objects.filter(run=run, instance=inside, step_id=token).first()
            if row is None:
                return NotFound(f"{where} has no step '{token[:200]}'", path="/".join(path[: place + 1]))
            construct_pk = row.pk
        else:
            row_pk = StepInstance.objects.filter(construct=construct_pk, instance_id=token).values_list(
                "pk", flat=True
            )
            if not row_pk:
                return NotFound(
                    f"{where} has no instance '{token[:200]}': take the path from get_next, or register it first",
                    path="/".join(path[: place + 1]),
                )
            inside = row_pk[0]
    return NotFound(f"run '{run_id}' has nothing at {'/'.join(path)}")


def _stands_in_a_body(run: Run, plan: Plan, step_id: str) -> ValidationFailed:
    """A step of a body, asked for at top level: the path that leads to it, through the first instances there are."""
    around: list[str] = [plan.container[step_id]]
    while around[0] in plan.container:
        around.insert(0, plan.container[around[0]])
    path: list[str] = []
    inside: StepInstance | None = None
    without: str | None = None
    for construct_id in around:
        registered = StepInstance.objects.filter(
            run=run, construct__step_id=construct_id, construct__instance=inside
        )
        inside = None if without else registered.order_by("index").first()
        without = without or (None if inside else "/".join([*path, construct_id]))
        path += [construct_id, inside.instance_id if inside else "inst_00"]
    construct = around[-1]
    copies = StepInstance.objects.filter(run=run, construct__step_id=construct).order_by("pk")
    return ValidationFailed(
        f"step '{step_id}' stands in the body of '{construct}' and is addressed through an instance of it, such as"
        f" {'/'.join([*path, step_id])}"
        + (f"; '{without}' has no instance yet: register one" if without else ""),
        pointer="/path",
        construct=construct,
        instances=list(copies.values_list("instance_id", flat=True)[:20]),
    )
