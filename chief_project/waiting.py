"""What can be waited for in this process, for ``?wait=``, MCP and event streams: one look-out for all (contract 1, 10)."""

import contextlib
import re
from collections.abc import AsyncIterator

from amendments.domain.waits import amendment_settled
from amendments.selectors.waits import NewsReader, amendment_facts
from chief_project.shared.http.events import Stream
from chief_project.shared.http.held import Settled
from chief_project.shared.threads import DatabaseThreads
from chief_project.shared.waits import Waits
from chief_project.web.events import news_event
from runs.api.events import run_event
from runs.domain.waits import run_settled
from runs.selectors.waits import run_facts, state_facts
from workflows.domain.waits import workflow_settled
from workflows.selectors.waits import workflow_facts

LOOKING = DatabaseThreads(1, "chief-waits")
WAITS = Waits(
    {
        "workflow": workflow_facts,
        "run": run_facts,
        "amendment": amendment_facts,
        "state": state_facts,
        "news": NewsReader(),
    },
    LOOKING.run,
)
HELD: dict[str, tuple[str, Settled]] = {
    "/v1/workflows": ("workflow", workflow_settled),
    "/v1/runs": ("run", run_settled),
    "/v1/amendments": ("amendment", amendment_settled),
}

STREAMS = (
    Stream(re.compile(r"/v1/runs/([A-Za-z0-9_.:\-]{1,200})/events"), "run", run_event),
    Stream(re.compile(r"/events"), "news", news_event, pace=1.0),
)


@contextlib.asynccontextmanager
async def looking_out() -> AsyncIterator[None]:
    """While the server runs: the look-out, and at its end its thread and connection closed."""
    try:
        async with WAITS.open():
            yield
    finally:
        LOOKING.close()
