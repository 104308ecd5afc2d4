"""The MCP endpoint: the apps' tools on the official SDK, over streamable HTTP and stdio (contract 10).

It keeps no session: every request brings its token and is answered by itself, so any process can answer the next.
Tools and resources run on threads of their own; only waiting stays on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver import tools as sdk
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from starlette.requests import Request

from amendments import mcp_tools as amendment_tools
from chief_project.shared.auth import HOW_TO_SEND, bearer_token
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ChiefError, NotFound, Unauthenticated
from chief_project.shared.http.errors import answer_to, refusal
from chief_project.shared.http.router import (
    App,
    BufferedBody,
    Receive,
    Scope,
    Send,
    send_response,
    while_connected,
)
from chief_project.shared.mcp import Outcome, Tool, carry_out, refused
from chief_project.shared.principals import caller_of_token
from chief_project.shared.threads import DatabaseThreads
from chief_project.shared.waits import MOST_SECONDS, Waits
from chief_project.shared.wire.parsing import refuse_repeated_keys
from chief_project.shared.wire.rendering import dumps
from runs import mcp_tools as run_tools
from runs.selectors.runs import get_run
from workflows import mcp_tools as workflow_tools
from workflows.selectors import get_workflow

TOOLS: tuple[Tool, ...] = (*workflow_tools.TOOLS, *run_tools.TOOLS, *amendment_tools.TOOLS)

_PERSON = "a person's own act: said to a harness, never by one"
_LABEL = "labelling and putting away is a person's housekeeping"
_HISTORY = "for reviewers who compare; an agent gets what changed with the answer it acts on"
NOT_TOOLS: dict[str, str] = {
    "get_approval_policy": "the policy decides what an agent may do unasked: it would help to get round it",
    "update_approval_policy": "self-approval: an agent would approve its own changes",
    "get_workflow_approval_policy": "as for the policy on amendments",
    "update_workflow_approval_policy": "self-approval: an agent would approve its own plans",
    "list_audit": "the audit is the observer of agents, not their tool",
    "add_review_note": _PERSON,
    "resolve_review_note": _PERSON,
    "list_review_notes": "open notes come with get_workflow",
    "comment_on_artifact": _PERSON,
    "send_back_workflow": _PERSON,
    "acknowledge_run": _PERSON,
    "mark_seen": _PERSON,
    "label_workflow": _LABEL,
    "delete_workflow": "what is deleted is gone with its record: people only",
    "delete_template": "what is deleted is gone: people only",
    "archive_template": _LABEL,
    "reopen_workflow": "takes an approval back: a person does that where they see the plan",
    "list_projects": "labels come with list_workflows",
    "list_waiting": "the inbox of the people who decide",
    "list_versions": _HISTORY,
    "get_version": _HISTORY,
    "list_revisions": _HISTORY,
    "get_revision": _HISTORY,
    "get_workflow_diff": _HISTORY,
    "get_amendment_diff": _HISTORY,
    "get_run_definition": "get_next tells each step as it stands; get_workflow with full tells the plan",
    "list_updates": "the whole report log is for auditors: get_run tells what stands",
    "withdraw_question": "rare, and easily done by mistake instead of waiting; over REST where it is meant",
    "export_template": "get_template with full tells it",
    "follow_run": "a stream of changes is for pages; wait_for_decision waits",
    "me": "a refusal names the right that is missing",
}
"""Every operation of the API that is no tool, and why."""

INSTRUCTIONS = """\
Chief records and judges work; you do it. Plan with create_workflow, then wait_for_decision: a person approves.
register_run, then loop: get_next, do the work, report_step_update. Register an instance per loop iteration or
parallel branch; close the construct when no more come. Answer every criterion before 'completed'. A checkpoint
('running', then wait) and ask_question stop for a person. To change the plan under way, propose_amendment.
Approving, resolving, answering and cancelling are a person's: relay only what they said in so many words.
Lost your context? get_next(run_id) says all. Refusals say what to do instead."""


def _not_called(**_: Any) -> None:  # pragma: no cover - the SDK wants a function; ChiefTool.run stands for it
    raise NotImplementedError


class ChiefTool(sdk.Tool):
    """A tool of Chief's in the SDK: schemas as declared, arguments as they came, errors as data."""

    spec: Any
    endpoint: Any

    @classmethod
    def of(cls, spec: Tool, endpoint: Endpoint) -> ChiefTool:
        return cls(
            spec=spec,
            endpoint=endpoint,
            fn=_not_called,
            name=spec.name,
            title=spec.title,
            description=spec.description,
            parameters=spec.input_schema,
            fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=dict(spec.answers)),
            is_async=True,
            annotations=ToolAnnotations(
                read_only_hint=spec.reads,
                destructive_hint=None if spec.reads else spec.destroys,
                idempotent_hint=None if spec.reads else spec.idempotent,
                open_world_hint=False,
            ),
        )

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        outcome = await self.endpoint.call(self.spec, arguments, _request_of(context))
        return _result(outcome)


class ChiefServer(MCPServer[Any]):
    """The SDK's server, whose refusal of an unknown tool has a code like every other."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        if self._tool_manager.get_tool(name) is None:
            text = f"there is no tool {name[:80]!r} here: tools/list names those there are"
            return _result(refused(NotFound(text, tool=name[:200])))
        return await super().call_tool(name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> Any:
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as problem:  # a client's mistake: said to it, and no fault in the log
            text = f"{problem}: prompts/list names the prompts and their arguments"
            raise MCPError(code=INVALID_PARAMS, message=text) from problem


def _result(outcome: Outcome) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=outcome.text)],
        structured_content=outcome.content,
        is_error=outcome.refused,
    )


def _request_of(context: Context[Any, Any]) -> Request | None:
    request = context.request_context.request
    return request if isinstance(request, Request) else None


class Endpoint:
    """The MCP server of one process. ``token`` stands for whoever is at the other end of stdio."""

    def __init__(self, *, tools: str, waits: Waits, token: str | None = None) -> None:
        self.waits = waits
        self.token = token
        self.threads = DatabaseThreads(max(2, settings.CHIEF_THREADS // 2), "chief-mcp")
        offered = [tool for tool in TOOLS if tools == "all" or tool.core]
        self.server = ChiefServer(
            name="chief",
            title="Chief",
            version=settings.CHIEF_VERSION,
            instructions=INSTRUCTIONS,
            tools=[ChiefTool.of(tool, self) for tool in offered],
            subscriptions=False,
            request_state_security=RequestStateSecurity(keys=[settings.SECRET_KEY]),
        )
        self._add_resources()
        self._add_prompts()

    def who(self, request: Request | None) -> Callable[[], Caller]:
        """Who calls; asked on a thread, and anew for each look while a call waits."""
        token = self.token if request is None else request.scope["chief.token"]
        return lambda: caller_of_token(token or "", via="mcp")

    async def call(self, tool: Tool, arguments: Mapping[str, Any], request: Request | None) -> Outcome:
        """Carry a call out; where it waits, look again until it is decided or the time is over."""
        who = self.who(request)
        raw = b"" if request is None else request.scope.get("chief.body", b"")

        def judged() -> Caller:
            refuse_repeated_keys(raw, within=("params", "arguments"))
            return who()

        outcome: Outcome = await self.threads.run(carry_out, tool, judged, arguments)
        if outcome.watch is None:
            return outcome
        seconds = arguments.get("seconds")
        until = asyncio.get_running_loop().time() + (MOST_SECONDS if seconds is None else seconds)
        while outcome.watch is not None:
            left = until - asyncio.get_running_loop().time()
            if not await self.waits.until(outcome.watch, left):
                break
            outcome = await self.threads.run(carry_out, tool, who, arguments)
        return outcome

    async def read(self, request: Request | None, read: Callable[[Caller], Any]) -> str:
        """A document as JSON, for a resource."""
        who = self.who(request)
        try:
            return (await self.threads.run(lambda: dumps(read(who())))).decode()
        except ChiefError as problem:
            kind = ResourceNotFoundError if problem.code == "not_found" else ResourceError
            raise kind(answer_to(problem).content.decode()) from problem

    def _add_resources(self) -> None:
        server = self.server

        @server.resource(
            "chief://workflows/{workflow_id}",
            title="A workflow",
            description="The whole plan, with its review notes.",
            mime_type="application/json",
        )
        async def workflow(workflow_id: str, ctx: Context[Any, Any]) -> str:
            return await self.read(
                _request_of(ctx), lambda caller: get_workflow(caller=caller, workflow_id=workflow_id)
            )

        @server.resource(
            "chief://runs/{run_id}",
            title="A run",
            description="Everything that happened in a run.",
            mime_type="application/json",
        )
        async def run(run_id: str, ctx: Context[Any, Any]) -> str:
            return await self.read(_request_of(ctx), lambda caller: get_run(caller=caller, run_id=run_id))

        @server.resource(
            "chief://skill",
            title="How to work with Chief",
            description="The protocol that no tool's description conveys: read it once.",
            mime_type="text/markdown",
        )
        def skill() -> str:
            try:
                return settings.CHIEF_SKILL_FILE.read_text(encoding="utf-8")
            except OSError as problem:
                raise ResourceError("the skill is not installed beside this server") from problem

    def _add_prompts(self) -> None:
        @self.server.prompt(
            title="Plan work", description="Turn a goal into a plan that a person can review."
        )
        def plan_work(goal: str) -> str:
            return (
                f"Plan this work in Chief: {goal}\n\n"
                "1. list_templates: if one fits, create_workflow_from_template.\n"
                "2. Else find the shape before the steps: what repeats until something holds (loop), what is done to"
                " many things (parallel), where a person must say yes (checkpoint), what can run side by side.\n"
                "3. Write each goal as what is true when the step is done; put checkable conditions into criteria.\n"
                "4. create_workflow, tell the person what waits for them, and wait_for_decision. Don't begin before."
            )

        @self.server.prompt(title="Resume work", description="Go on with a run after losing its context.")
        def resume_work(run_id: str = "") -> str:
            found = (
                f"The run is {run_id}."
                if run_id
                else "list_runs with status 'running' (then 'waiting_on_human') names the runs; take the one that is yours."
            )
            return (
                f"Resume work in Chief. {found}\n\n"
                "get_next tells what is ready, running, blocked and failed. A 'running' step was begun and not"
                " finished: look at what is there (get_run with its path) before doing it again. For what is blocked,"
                " wait_for_decision with its path. Then go on: do, report_step_update, get_next."
            )


class HttpEndpoint(Endpoint):
    """The endpoint as an ASGI application, on ``/mcp``. ``running`` is open while the server runs."""

    def __init__(self, *, tools: str, waits: Waits, origins: tuple[str, ...] = ()) -> None:
        super().__init__(tools=tools, waits=waits)
        self.origins = origins
        self._manager: StreamableHTTPSessionManager | None = None
        self._security: TransportSecurityMiddleware | None = None
        self._app: App = BufferedBody(self._serve, limit=settings.CHIEF_MAX_BODY_BYTES)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        security = TransportSecuritySettings(
            allowed_hosts=[name for host in settings.ALLOWED_HOSTS for name in (host, f"{host}:*")],
            allowed_origins=[*settings.CSRF_TRUSTED_ORIGINS, *self.origins],
        )
        self._security = TransportSecurityMiddleware(security)
        self.server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=security,
            max_request_body_size=settings.CHIEF_MAX_BODY_BYTES,
        )
        self._manager = self.server.session_manager
        try:
            async with self._manager.run():
                yield
        finally:
            self._manager = None
            self.threads.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what can be refused unread: another path, method, host, origin, or nobody."""
        refused = await self._refusal(scope)
        if refused is not None:
            await send_response(refused, send)
            return
        await self._app(scope, receive, send)

    async def _refusal(self, scope: Scope) -> Any:
        if scope["path"] not in ("/mcp", "/mcp/"):
            return refusal(404, "nothing is here: the MCP endpoint is /mcp")
        if self._security is None:
            raise ImproperlyConfigured("the MCP endpoint needs its lifespan")
        request = Request(scope)
        foreign = await self._security.validate_request(request)
        if foreign is not None:
            header = "Origin" if foreign.status_code == 403 else "Host"
            text = f"not served to this {header}: use the address that Chief was set up for (CHIEF_URL)"
            return refusal(foreign.status_code, text, code="forbidden")
        if scope["method"] != "POST":
            text = "this endpoint keeps no session and streams nothing: POST each message"
            return refusal(405, text, headers={"Allow": "POST"})
        try:
            token = bearer_token(", ".join(request.headers.getlist("authorization")))
            if token is None:
                raise Unauthenticated(f"an agent needs a token: {HOW_TO_SEND}")
            scope["chief.token"] = token
            await self.threads.run(lambda: caller_of_token(token, via="mcp"))
        except ChiefError as problem:
            return answer_to(problem)
        return None

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None
        first = await receive()
        # The SDK parses this leniently; the call judges it as the API would.
        scope["chief.body"] = first.get("body", b"")
        unread = [first]

        async def replayed() -> Any:
            return unread.pop() if unread else await receive()

        await while_connected(self._manager.handle_request, scope, replayed, send)
