"""What a run's rows hold, compared with what the whole-tree derivation makes of its leaves."""

from __future__ import annotations

from runs.domain.tree import derive_all
from runs.models import Run
from runs.services.tree_store import load_tree
from workflows.mappers import load_plan


def assert_derived(run_id: str = "r1") -> None:
    """Every stored field is what the whole derivation makes of the leaves."""
    run = Run.objects.get(run_id=run_id)
    plan = load_plan(run.plan_id)
    stored, derived = load_tree(run, plan), load_tree(run, plan)
    derive_all(derived.tree, plan, run.updated_at)
    assert derived.tree.status == stored.tree.status
    assert derived.tree.tally == stored.tree.tally
    assert derived.tree.blocked_on_person == stored.tree.blocked_on_person
    pairs = [(derived.tree.states, stored.tree.states)]
    while pairs:
        left, right = pairs.pop()
        assert left.keys() == right.keys()
        for step_id, state in left.items():
            other = right[step_id]
            assert (state.status, state.skip_cause, state.tally, state.failures) == (
                other.status,
                other.skip_cause,
                other.tally,
                other.failures,
            ), step_id
            for instance_id, instance in (state.instances or {}).items():
                twin = (other.instances or {})[instance_id]
                assert (instance.status, instance.tally, instance.failures) == (
                    twin.status,
                    twin.tally,
                    twin.failures,
                )
                pairs.append((instance.states, twin.states))
