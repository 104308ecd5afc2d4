"""Which failure a skipped step waits for, and the sentence that says so. Pure.

A skip is put down a chain (contract 3), so the step to mend is often not the one named in ``depends_on``. Everything
here looks at one scope: the top level, or one instance's body.
"""

from collections.abc import Iterable, Mapping

from workflows.domain.plan import Plan

Standing = tuple[str, str | None]  # (status, skip_cause)


def skip_root(plan: Plan, statuses: Mapping[str, Standing], step_id: str) -> str | None:
    """The failed step that ``step_id`` waits for, or None when the scope holds none.

    ``statuses`` are the scope's, by step id. A failed dependency comes before one that is itself skipped; both are
    tried in the order of ``depends_on``.
    """
    seen, stack = {step_id}, [step_id]
    while stack:
        step = plan.by_id.get(stack.pop())
        if step is None:
            continue
        for needed in step.depends_on:
            if statuses.get(needed, ("", None))[0] == "failed":
                return needed
        for needed in reversed(step.depends_on):
            if needed not in seen and statuses.get(needed) == ("skipped", "dependency"):
                seen.add(needed)
                stack.append(needed)
    return None


def skip_roots(
    plan: Plan, statuses: Mapping[str, Standing], step_ids: Iterable[str]
) -> dict[str, str | None]:
    """``skip_root`` of many steps of one scope, in time linear in their dependencies.

    ``step_ids`` must be every step of the scope that is skipped for a dependency.
    """
    roots: dict[str, str | None] = {}
    rank = plan.rank
    # A dependency's rank is lower, so its own root is known when its dependents ask.
    for step_id in sorted(step_ids, key=lambda each: rank.get(each, -1)):
        step = plan.by_id.get(step_id)
        needs = () if step is None else step.depends_on
        root = next((needed for needed in needs if statuses.get(needed, ("", None))[0] == "failed"), None)
        if root is None:
            root = next((roots[needed] for needed in needs if roots.get(needed) is not None), None)
        roots[step_id] = root
    return roots


def skip_sentence(skip_cause: str, *, root: str | None = None, amendment_id: str | None = None) -> str:
    """The summary of a skipped step: why it did not run (contract 3)."""
    if skip_cause == "removed":
        return f"Removed by amendment {amendment_id}." if amendment_id else "Removed by an amendment."
    if skip_cause == "cancelled":
        return "Skipped: the run was cancelled."
    if root is None:
        return "Skipped: a step it waits for failed."
    return f"Skipped: it waits for '{root}', which failed."
