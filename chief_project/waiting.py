"""What can be waited for in this process, for ``?wait=`` and for MCP: one look-out for both (contract 1 and 10)."""

import contextlib
from collections.abc import AsyncIterator

from amendments.domain.waits import amendment_settled
from amendments.selectors.waits import amendment_facts
from chief_project.shared.http.held import Settled
from chief_project.shared.threads import DatabaseThreads
from chief_project.shared.waits import Waits
from runs.domain.waits import run_settled
from runs.selectors.waits import run_facts, state_facts
from workflows.domain.waits import workflow_settled
from workflows.selectors.waits import workflow_facts

LOOKING = DatabaseThreads(1, "chief-waits")
WAITS = Waits(
    {"workflow": workflow_facts, "run": run_facts, "amendment": amendment_facts, "state": state_facts},
    LOOKING.run,
)
HELD: dict[str, tuple[str, Settled]] = {
    "/v1/workflows": ("workflow", workflow_settled),
    "/v1/runs": ("run", run_settled),
    "/v1/amendments": ("amendment", amendment_settled),
}


@contextlib.asynccontextmanager
async def looking_out() -> AsyncIterator[None]:
    """While the server runs: the look-out, and at its end its thread and connection closed."""
    try:
        async with WAITS.open():
            yield
    finally:
        LOOKING.close()
