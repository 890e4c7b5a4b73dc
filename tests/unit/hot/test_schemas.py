"""What the server publishes about its tools."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.types import Tool

from agents_memory.settings.table import TOOLSETS
from hot.server import NAME, build_server
from tests.unit.hot.conftest import House, Talk

NAMES = ["memory_startup", "search_memory", "manage_knowledge", "save_message", "cite"]
ARGUMENTS = {
    "memory_startup": "short_term_days agent_platform_filter",
    "search_memory": "query p_tag date_range role agent_platform device_scope venue limit "
    "include_archived max_tokens",
    "manage_knowledge": "action target content memory_id agent_platform agent_model subagent "
    "subagent_model subagent_role kind subject attribute",
    "save_message": "role message agent_model agent_platform subagent subagent_model subagent_role",
    "cite": "ids",
}
# What a client may cut away without a word.
DESCRIPTION_BYTES = 2_048


@pytest.fixture
async def tools(alone: Talk) -> list[Tool]:
    return (await alone.client.list_tools()).tools


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


async def test_there_are_five_with_the_arguments_their_users_know(tools: list[Tool]) -> None:
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert " ".join(tool.input_schema["properties"]) == ARGUMENTS[tool.name]


async def test_names_fit_every_client(tools: list[Tool]) -> None:
    assert all(re.fullmatch("[a-z][a-z0-9_]{2,29}", tool.name) for tool in tools)
    assert len(f"mcp__{NAME}__{max(NAMES, key=len)}") <= 60


async def test_descriptions_stand_alone_and_are_not_cut(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.description is not None
        assert len(tool.description.encode()) <= DESCRIPTION_BYTES
        assert {"Call", "Returns"} <= set(re.findall(r"\w+", tool.description)), tool.name
        assert tool.title


async def test_bounds_and_defaults_stand_in_the_words(tools: list[Tool]) -> None:
    """Codex strips minimum, maximum and default from a schema."""
    for tool in tools:
        for name, schema in tool.input_schema["properties"].items():
            words = schema["description"]
            for key in ("minimum", "maximum"):
                if key in schema and name != "memory_id":
                    assert str(schema[key]) in words, (tool.name, name)
            if name not in tool.input_schema.get("required", []) and name not in (
                ["content", "memory_id", "subagent_model", "subagent_role"]
            ):
                assert re.search(r"[Dd]efault|nothing means|Without it", words), (tool.name, name)
            for value in schema.get("enum", []):
                assert value in words, (tool.name, name)


async def test_schemas_are_valid_and_lean(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)
            assert {"type": "null"} not in list(nodes(schema))
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["required"] == ["ok"]
        assert "error" in tool.output_schema["properties"]


async def test_titles_of_properties_are_left_out(tools: list[Tool]) -> None:
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            named = [node for node in nodes(schema) if isinstance(node.get("title"), str)]
            assert named == []


async def test_hints_tell_what_a_tool_may_do(tools: list[Tool]) -> None:
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in tools
        if tool.annotations is not None
    }
    assert hints == {
        "memory_startup": (True, False),
        "search_memory": (True, False),
        "manage_knowledge": (False, True),
        "save_message": (False, False),
        "cite": (False, False),
    }
    assert not any(tool.annotations and tool.annotations.open_world_hint for tool in tools)


async def test_all_definitions_together_stay_small(tools: list[Tool]) -> None:
    """Every session of every client pays for them."""
    seen = [
        {"name": tool.name, "description": tool.description, "schema": tool.input_schema}
        for tool in tools
    ]
    assert len(json.dumps(seen)) < 16_000


async def test_every_toolset_that_can_be_set_is_there(tmp_path: Path) -> None:
    app = House(None, tmp_path, "auto").app(toolsets=TOOLSETS)
    names = {tool.name for tool in await build_server(app).list_tools()}
    assert {"search_memory", "wake", "memory_apply", "manage_project_tags"} <= names
    await app.close()


async def test_bounds_are_told_in_the_words_of_json_schema(talk: Talk) -> None:
    """What a client checks by: pydantic's own `ge` and `le` mean nothing to it."""
    tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
    limit = tools["search_memory"].input_schema["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"]) == (1, 50)
    assert not {"ge", "le", "gt", "lt"} & limit.keys()
