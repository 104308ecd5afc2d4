"""The three drawings that pages ask for."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import Any

from django.utils.translation import gettext as _

from chief_project.web.graph import words
from chief_project.web.graph.amendments import amendment_scene, both
from chief_project.web.graph.drawing import Drawing, finished
from chief_project.web.graph.folding import Folding, fold_plan
from chief_project.web.graph.parts import Links, fold_title, title
from chief_project.web.graph.plans import plan_scene
from chief_project.web.graph.runs import run_scene, times_drawn
from chief_project.web.graph.scene import place
from workflows.domain.plan import Plan

_KEPT = 256
_foldings: OrderedDict[Hashable, Folding] = OrderedDict()
_lock = Lock()


def draw_plan(
    plan: Plan,
    *,
    key: Hashable,
    href: Callable[[str], str],
    selected: str | None = None,
    opened: frozenset[str] = frozenset(),
    open_href: Callable[[str], str],
    notes: Mapping[str, int] | None = None,
    marks: Mapping[str, str] | None = None,
) -> Drawing:
    """A plan as it was planned.

    ``key`` names the plan for ever (its id): what was folded is kept by it. ``href`` and ``open_href`` give the link of
    a step's and a fold's id, ``notes`` how many are open on a step, ``marks`` a short word beside it ("new").
    """
    folding = _folded(plan, key, opened)
    links = Links(href, open_href)
    scene = plan_scene(plan, folding, links, notes=notes or {}, marks=marks or {})
    return finished(
        scene,
        placed=place(scene),
        label=_("Plan graph: %(count)s steps") % {"count": len(plan.steps)},
        selected=selected,
        folded=folding.hidden,
        level=folding.level,
        unfolded=_unfolded(plan, folding),
    )


def draw_run(
    plan: Plan,
    run: Mapping[str, Any],
    *,
    key: Hashable,
    href: Callable[[str], str],
    selected: str | None = None,
    opened: frozenset[str] = frozenset(),
    open_href: Callable[[str], str],
    table_href: Callable[[str, str], str] | None = None,
    yours: bool,
) -> Drawing:
    """A run as it stands: ``plan`` is the one it goes by, ``run`` its RunState (contract 3), ``key`` names the plan.

    ``href`` takes a state path; an even one (``step/instance``) is a branch's or an iteration's. The boxes of a body
    without an instance lead to the construct's path. ``selected`` is a path. ``table_href`` takes a construct's path (or
    a fold's id) and a state (waiting, failed, …): the table filtered by it; without, counts are no links. ``yours``: whether
    the reader may decide what waits for a person.
    """
    folding = _folded(plan, key, opened, times_drawn(run))
    scene = run_scene(plan, run, folding, Links(href, open_href, table_href), words.Voice(yours))
    return finished(
        scene,
        placed=place(scene),
        label=_("Run graph: %(count)s steps") % {"count": len(plan.steps)},
        selected=selected,
        folded=folding.hidden,
        level=folding.level,
        unfolded=_unfolded(plan, folding),
    )


def draw_amendment(
    before: Plan,
    after: Plan,
    *,
    key: Hashable,
    operations: Sequence[Mapping[str, Any]],
    href: Callable[[str], str],
    selected: str | None = None,
    view: str = "both",
    run: Mapping[str, Any] | None = None,
    opened: frozenset[str] = frozenset(),
    open_href: Callable[[str], str] | None = None,
    yours: bool,
) -> Drawing:
    """What an amendment would change, before and after in one drawing.

    ``view`` is both, before or after; which one it is moves no box. ``operations`` are ``PatchOperation`` documents.
    With ``run`` (its RunState) boxes tell their states too; ids are then paths, as in ``draw_run``. ``key`` names the
    amendment and the two plans.
    """
    two = both(before, after, operations)
    drawn = {} if run is None else times_drawn(run)
    folding = _folded(two.plan, key, opened, drawn, two.kept)
    links = Links(href, open_href or href)
    scene = amendment_scene(two, folding, links, run=run, view=view, yours=yours)
    return finished(
        scene,
        placed=place(scene),
        label=words.amendment_label(list(two.kinds.values()), len(two.again)),
        selected=selected,
        folded=folding.hidden,
        level=folding.level,
        unfolded=_unfolded(two.plan, folding),
    )


def forget() -> None:
    """Let go of the foldings that are kept; benchmarks and tests begin with it."""
    with _lock:
        _foldings.clear()


def _unfolded(plan: Plan, folding: Folding) -> tuple[tuple[str, str], ...]:
    return tuple((fold.id, title(fold_title(plan, fold))) for fold in folding.opened)


def _folded(
    plan: Plan,
    key: Hashable,
    opened: frozenset[str],
    drawn: Mapping[str, int] | None = None,
    kept: frozenset[str] = frozenset(),
) -> Folding:
    """The plan's folding, kept by what decides it."""
    known = (key, opened, frozenset((drawn or {}).items()), kept)
    with _lock:
        found = _foldings.get(known)
        if found is not None:
            _foldings.move_to_end(known)
            return found
    made = fold_plan(plan, opened=opened, drawn=drawn, kept=kept)
    with _lock:
        _foldings[known] = made
        while len(_foldings) > _KEPT:
            _foldings.popitem(last=False)
    return made
