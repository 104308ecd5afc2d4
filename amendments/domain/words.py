"""What an amendment's operations come to, one after the other, as facts that a page puts into words. Pure.

A fact is a stable ``code`` and what the sentence needs; the sentence itself is made where it can be translated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from amendments.domain.differences import scope_path
from amendments.domain.operations import INSERTS, Operation
from amendments.domain.patch import Draft
from runs.domain.status import FINISHED
from workflows.domain.diff import plan_diff
from workflows.domain.plan import Plan, Step

CODES = ("inserts", "leaves", "rewires", "rewords", "changes", "removes", "reruns", "reruns_instance")


@dataclass(frozen=True, slots=True)
class Standing:
    """How a step stands in a run: how many of its copies are in each status, and when the last finished one ended.

    Copies that were put aside (removed, cancelled) don't count.
    """

    counts: Mapping[str, int]
    finished_at: datetime | None = None

    @property
    def finished(self) -> int:
        """How many copies hold a result that an edit of history keeps: completed or failed."""
        return sum(count for status, count in self.counts.items() if status in FINISHED)

    @property
    def word(self) -> str:
        """The liveliest that any copy is: ``finished``, ``blocked``, ``running`` or ``waiting`` (nothing began)."""
        if self.finished:
            return "finished"
        return next((status for status in ("blocked", "running") if self.counts.get(status)), "waiting")


@dataclass(frozen=True, slots=True)
class Told:
    """What one operation does.

    ``code``, one of ``CODES``: ``inserts`` the step ``now`` ``side`` (``after``, ``before``) of ``beside``, in the body
    of ``within`` or at top level; ``leaves`` it as it is; ``rewires`` it (``needs_added``, ``needs_removed``);
    ``rewords`` its goal; ``changes`` the fields ``changed``; ``removes`` it; ``reruns`` it; ``reruns_instance``.
    ``was`` and ``now`` are the step before and after this one operation. ``path`` is the instance that a scoped
    operation names. ``standing`` is the target's in the run, None where it isn't known or the step is new. ``again``:
    an operation that was merged into this one runs the step again, too.
    """

    operation: int
    op: str
    code: str
    was: Step | None
    now: Step | None
    side: str | None = None
    beside: str | None = None
    within: str | None = None
    path: str | None = None
    changed: tuple[str, ...] = ()
    needs_added: tuple[str, ...] = ()
    needs_removed: tuple[str, ...] = ()
    standing: Standing | None = None
    again: bool = False

    @property
    def step(self) -> Step:
        """The step that it is about: as it will be, or as it was where it goes."""
        step = self.now or self.was
        assert step is not None, self.code
        return step

    @property
    def keeps(self) -> bool:
        """Whether a result of the run goes to history by this. A replay always keeps one: that is what it is for."""
        reruns = self.again or self.op == "replay_step"
        return reruns or (self.standing is not None and bool(self.standing.finished))


def describe_operations(
    operations: Sequence[Operation], plan_before: Plan, states: Mapping[str, Standing]
) -> list[Told]:
    """One ``Told`` per operation, in order.

    ``states`` holds the standing of each step over all its copies, by id; what isn't known may be missing. The
    operations must apply to ``plan_before``, as those of a kept amendment do.
    """
    draft = Draft(plan_before)
    told = []
    for index, operation in enumerate(operations):
        holder = draft.holder(operation.target)
        was = draft.steps.get(operation.target)
        path = scope_path(operation, holder)
        draft.apply(index, operation)
        if operation.op in INSERTS:
            assert operation.step is not None
            told.append(_inserted(index, operation, operation.step, draft.holder(operation.step.id)))
            continue
        assert was is not None
        base = Told(
            operation=index,
            op=operation.op,
            code="removes",
            was=was,
            now=draft.steps.get(was.id),
            within=holder,
            path=path,
            standing=states.get(was.id),
        )
        if operation.op == "replay_step":
            base = replace(base, code="reruns_instance" if _own(operation, path) else "reruns")
        elif operation.op == "update_step":
            base = _updated(base, was, draft.steps[was.id])
        told.append(base)
    return told


def together(told: Iterable[Told]) -> list[Told]:
    """The same for a summary: a step that is changed and replayed is told once, as a change with ``again``."""
    found: list[Told] = []
    for each in told:
        place = next(
            (
                place
                for place, former in enumerate(found)
                if (former.step.id, former.path) == (each.step.id, each.path)
                and {former.op, each.op} == {"update_step", "replay_step"}
            ),
            None,
        )
        if place is None:
            found.append(each)
        else:
            change = found[place] if found[place].op == "update_step" else each
            found[place] = replace(change, again=True)
    return found


def _own(operation: Operation, path: str | None) -> bool:
    """Whether the instance that is named is one of the target's own."""
    return path is not None and path.split("/")[-2] == operation.target


def _inserted(index: int, operation: Operation, step: Step, holder: str | None) -> Told:
    return Told(
        operation=index,
        op=operation.op,
        code="inserts",
        was=None,
        now=step,
        side="after" if operation.op == "insert_after" else "before",
        beside=operation.target,
        within=holder,
    )


def _updated(base: Told, was: Step, now: Step) -> Told:
    changed = plan_diff(Plan((was,)), Plan((now,)))["changed"]
    fields = tuple(changed[0]["fields"]) if changed else ()
    code = {(): "leaves", ("depends_on",): "rewires", ("goal",): "rewords"}.get(fields, "changes")
    return replace(
        base,
        code=code,
        changed=fields,
        needs_added=tuple(needed for needed in now.depends_on if needed not in was.depends_on),
        needs_removed=tuple(needed for needed in was.depends_on if needed not in now.depends_on),
    )
