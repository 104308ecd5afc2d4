"""What the tools are: the contract's list, what they cost, and that each is the API's own operation (contract 10)."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

import bpe_openai
import pytest
from jsonschema import Draft202012Validator

from chief_project.mcp import NOT_TOOLS, TOOLS, Endpoint
from chief_project.shared.http.description import description
from chief_project.shared.mcp import Tool
from chief_project.waiting import WAITS
from tests.mcp.agents import play

CONTRACT = [
    "create_workflow",
    "revise_draft",
    "approve_workflow",
    "archive_workflow",
    "get_workflow",
    "list_workflows",
    "register_run",
    "get_run",
    "list_runs",
    "get_next",
    "report_step_update",
    "resolve_checkpoint",
    "ask_question",
    "answer_question",
    "mark_step_stale",
    "mark_instance_stale",
    "register_step_instance",
    "report_instance_update",
    "propose_amendment",
    "get_amendment",
    "list_amendments",
    "approve_amendment",
    "reject_amendment",
    "withdraw_amendment",
    "cancel_run",
    "wait_for_decision",
    "list_templates",
    "get_template",
    "create_template",
    "create_template_from_workflow",
    "create_workflow_from_template",
    "clone_workflow",
]
RELAYED = {
    "approve_workflow",
    "archive_workflow",
    "resolve_checkpoint",
    "answer_question",
    "mark_step_stale",
    "mark_instance_stale",
    "approve_amendment",
    "reject_amendment",
    "cancel_run",
}


def listed(tools: str) -> list[dict[str, Any]]:
    """The answer to ``tools/list``, as it goes over the wire."""
    found = play(Endpoint(tools=tools, waits=WAITS).server.list_tools)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found]


def tokens(value: Any) -> int:
    """What ``value`` costs in the vocabulary of GPT-4o (o200k_base)."""
    return len(bpe_openai.get_encoding("o200k_base").encode(json.dumps(value, separators=(",", ":"))))


def test_the_tools_are_those_of_the_contract() -> None:
    assert sorted(tool.name for tool in TOOLS) == sorted(CONTRACT)


def test_the_core_is_enough_to_plan_run_report_wait_and_propose() -> None:
    core = {tool.name for tool in TOOLS if tool.core}
    assert core >= {
        "create_workflow",
        "register_run",
        "get_next",
        "report_step_update",
        "register_step_instance",
        "wait_for_decision",
        "propose_amendment",
    }
    assert not core & RELAYED


@pytest.mark.parametrize(("tools", "most"), [("all", 10_000), ("core", 4_000)])
def test_listing_the_tools_stays_within_its_price(tools: str, most: int, capsys: Any) -> None:
    cost = tokens({"tools": listed(tools)})
    with capsys.disabled():
        sys.stdout.write(f"\ntools/list, {tools}: {cost:,} tokens (o200k_base), {most:,} at most\n")
    assert cost <= most


# -- Schemas and annotations -------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_its_schemas_are_whole_and_plain(tool: Tool) -> None:
    """A client that can't follow a reference, or knows draft 7 alone, can use every tool."""
    for schema in (tool.input_schema, tool.answers):
        Draft202012Validator.check_schema(dict(schema))
        assert schema["type"] == "object"
        assert set(schema.get("required", [])) <= schema["properties"].keys()
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(_keys(schema))
    assert tool.input_schema["additionalProperties"] is False
    assert all(name for name in (tool.title, tool.description))


def _keys(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        return [*schema, *(key for inner in schema.values() for key in _keys(inner))]
    return [key for inner in schema for key in _keys(inner)] if isinstance(schema, list) else []


def test_annotations_tell_reading_from_deciding() -> None:
    by_name = {tool["name"]: tool["annotations"] for tool in listed("all")}
    reading = {name for name, hints in by_name.items() if hints["readOnlyHint"]}
    assert reading == {name for name in by_name if name.startswith(("get_", "list_", "wait_"))}
    destroying = {name for name, hints in by_name.items() if hints.get("destructiveHint")}
    assert destroying == {"archive_workflow", "approve_amendment", "cancel_run"}
    assert all(hints["openWorldHint"] is False for hints in by_name.values())


def test_what_is_a_persons_says_so() -> None:
    for tool in TOOLS:
        assert ("relay token" in tool.description) == (tool.name in RELAYED - {"mark_instance_stale"}), (
            tool.name
        )


# -- One operation, three doors ----------------------------------------------------------------------


def _operations() -> set[str]:
    paths = json.loads(description()[0])["paths"]
    return {operation["operationId"] for methods in paths.values() for operation in methods.values()}


def test_every_tool_stands_for_operations_of_the_api() -> None:
    assert {operation for tool in TOOLS for operation in tool.operations} <= _operations()


def test_every_operation_is_a_tool_or_has_a_reason_not_to_be() -> None:
    tools = {operation for tool in TOOLS for operation in tool.operations}
    fixed = {name for name in _operations() if name.endswith("_at_top")}
    reasons = set(NOT_TOOLS)
    assert _operations() - tools - reasons - fixed == set()
    assert {name.removesuffix("_at_top") for name in fixed - tools} <= tools | reasons
    assert reasons <= _operations()
    assert not reasons & tools
    assert all(reason.strip() for reason in NOT_TOOLS.values())


def _called(function: Callable[..., Any]) -> set[Any]:
    """The services and selectors that a function, or one of its module that it calls, knows."""
    names = inspect.getclosurevars(inspect.unwrap(function)).globals
    found: set[Any] = set()
    for value in names.values():
        if inspect.ismodule(value):
            used = function.__code__.co_names
            found |= {getattr(value, name) for name in used if hasattr(value, name)}
        elif inspect.isfunction(value) and value.__module__ == function.__module__:
            found |= _called(value)
        elif inspect.isfunction(value):
            found.add(value)
        elif isinstance(value, dict):
            found |= {inner for each in value.values() if inspect.isfunction(each) for inner in _called(each)}
    return {
        value
        for value in found
        if inspect.isfunction(value) and ({"services", "selectors"} & set(value.__module__.split(".")))
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_calls_the_service_that_its_route_calls(tool: Tool) -> None:
    names = {tool.name} if tool.name != "wait_for_decision" else set(tool.operations)
    called = {function.__name__ for function in _called(tool.call)}
    assert names <= called, called
    others = called - names - {"amendment_facts", "blocked_state", "get_run"}
    assert not others, f"one call, and no logic of its own: {others}"
