"""What the toolset `patch` publishes, and that its answers are what it says."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.types import Tool

from hot.server import NAME
from tests.unit.hot.conftest import House, Talk, held, text_of
from tests.unit.hot.test_facts import FUZZ, assert_same_facts, garbage, ids, maybe, texts
from tests.unit.hot.test_schemas import DESCRIPTION_BYTES, nodes

ARGUMENTS = {
    "memory_record_event": ["event"],
    "memory_search": ["request"],
    "memory_read": ["memory_id", "include_history"],
    "memory_apply": ["request"],
    "memory_history": ["memory_id", "after_version"],
    "memory_patch_read": ["patch_id"],
}
OPERATIONS = ["ADD", "UPDATE", "SUPERSEDE", "REMOVE", "PIN", "UNPIN", "RESOLVE", "RETAG"]


@pytest.fixture
async def tools(tmp_path: Path, era: str) -> AsyncIterator[list[Tool]]:
    async with held(House(None, tmp_path, era), toolsets=("patch",)) as talk:
        yield (await talk.client.list_tools()).tools


@pytest.fixture
async def talk(house: House) -> AsyncIterator[Talk]:
    async with held(house, toolsets=("patch",)) as talk:
        yield talk


async def test_there_are_six_with_the_arguments_their_users_know(tools: list[Tool]) -> None:
    found = {tool.name: list(tool.input_schema["properties"]) for tool in tools}
    assert found == ARGUMENTS
    assert len(f"mcp__{NAME}__{max(ARGUMENTS, key=len)}") <= 60


async def test_descriptions_are_short_and_say_the_protocol(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.title
        assert tool.description is not None
        assert len(tool.description.encode()) <= DESCRIPTION_BYTES
        assert {"Call", "Returns"} <= set(re.findall(r"\w+", tool.description)), tool.name
    said = {tool.name: tool.description or "" for tool in tools}
    assert "before every ADD" in said["memory_search"]
    assert "before you change" in said["memory_read"]
    assert "citing the messages you read" in " ".join(said["memory_apply"].split())
    seen = [
        {"name": tool.name, "description": tool.description, "schema": tool.input_schema}
        for tool in tools
    ]
    assert len(json.dumps(seen)) < 10_500


async def test_schemas_are_valid_lean_and_closed(tools: list[Tool]) -> None:
    """F4: a field that is not known is refused at every depth."""
    for tool in tools:
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            text = json.dumps(schema)
            assert not any(word in text for word in ("$ref", "$defs", "discriminator", "oneOf"))
            assert {"type": "null"} not in list(nodes(schema))
        for node in nodes(tool.input_schema):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False


async def test_each_operation_has_one_shape(tools: list[Tool]) -> None:
    [apply] = [tool for tool in tools if tool.name == "memory_apply"]
    request = apply.input_schema["properties"]["request"]
    assert list(request["properties"]) == ["operations", "reason", "idempotency_key"]
    shapes = request["properties"]["operations"]["items"]["anyOf"]
    kinds = [shape["properties"]["type"] for shape in shapes]
    named = [name for kind in kinds for name in kind.get("enum", [kind.get("const")])]
    assert named == OPERATIONS
    for shape in shapes:
        on_memory = "memory_id" in shape["properties"]
        assert on_memory == ("expected_version" in shape["required"])


async def test_hints_tell_what_a_tool_may_do(tools: list[Tool]) -> None:
    hints = {
        tool.name: (
            tool.annotations.read_only_hint,
            tool.annotations.destructive_hint,
            tool.annotations.idempotent_hint,
        )
        for tool in tools
        if tool.annotations is not None
    }
    assert hints == {
        "memory_record_event": (False, False, False),
        "memory_search": (True, False, True),
        "memory_read": (True, False, True),
        "memory_apply": (False, True, False),
        "memory_history": (True, False, True),
        "memory_patch_read": (True, False, True),
    }
    assert not any(tool.annotations and tool.annotations.open_world_hint for tool in tools)


roles = st.sampled_from(["user", "assistant", "system", "tool"])
seen = st.fixed_dictionaries({"memory_id": ids, "expected_version": st.integers(1, 4)})
cited = st.lists(ids, max_size=3)
operations = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("ADD"),
            "subject": texts,
            "content": texts,
            "evidence_event_ids": cited,
        },
        optional={
            "kind": st.sampled_from(["fact", "promise"]),
            "importance": st.integers(1, 10),
            "valence": st.floats(-1, 1),
            "intensity": st.floats(0, 1),
            "pinned": st.booleans(),
            "tags": st.lists(texts, max_size=3),
            "attribute": maybe,
            "occurred_at": st.none() | st.datetimes().map(lambda time: time.isoformat()),
        },
    ),
    st.tuples(seen, st.sampled_from(["UPDATE", "SUPERSEDE"]), texts, cited).map(
        lambda drawn: {
            **drawn[0],
            "type": drawn[1],
            "new_content": drawn[2],
            "evidence_event_ids": drawn[3],
        }
    ),
    st.tuples(seen, st.sampled_from(["REMOVE", "PIN", "UNPIN", "RESOLVE"])).map(
        lambda drawn: {**drawn[0], "type": drawn[1]}
    ),
    st.tuples(seen, st.lists(texts, max_size=3)).map(
        lambda drawn: {**drawn[0], "type": "RETAG", "tags": drawn[1]}
    ),
)
CALLS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "memory_record_event": st.fixed_dictionaries(
        {
            "event": st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["user", "assistant", "system", "tool"]),
                    "content": texts,
                },
                optional={"external_id": maybe},
            )
        }
    ),
    "memory_search": st.fixed_dictionaries(
        {
            "request": st.fixed_dictionaries(
                {"query": texts},
                optional={
                    "subject": maybe,
                    "include_removed": st.booleans(),
                    "limit": st.integers(1, 100),
                },
            )
        }
    ),
    "memory_read": st.fixed_dictionaries(
        {"memory_id": ids}, optional={"include_history": st.booleans()}
    ),
    "memory_apply": st.fixed_dictionaries(
        {
            "request": st.fixed_dictionaries(
                {"operations": st.lists(operations, max_size=4), "reason": texts},
                optional={"idempotency_key": maybe},
            )
        }
    ),
    "memory_history": st.fixed_dictionaries(
        {"memory_id": ids}, optional={"after_version": st.integers(0, 3)}
    ),
    "memory_patch_read": st.fixed_dictionaries({"patch_id": ids}),
}
calls = st.one_of(*(st.tuples(st.just(name), arguments) for name, arguments in CALLS.items()))
shapeless = st.tuples(
    st.sampled_from(list(CALLS)),
    st.dictionaries(
        st.sampled_from(["event", "request", "memory_id", "patch_id"]) | texts,
        garbage
        | st.dictionaries(
            st.sampled_from(["operations", "reason", "query", "role", "content", "type"]), garbage
        ),
        max_size=3,
    ),
)
YEAR = re.compile("occurred_at: should lie between")


@FUZZ
@given(st.lists(calls, min_size=1, max_size=6))
async def test_well_formed_calls_are_answered_alike_in_text_and_structure(
    talk: Talk, made: list[tuple[str, dict[str, Any]]]
) -> None:
    """D10, F15: no string, number or combination is a bug."""
    schemas = {
        tool.name: Draft202012Validator(tool.output_schema or {})
        for tool in (await talk.client.list_tools()).tools
    }
    for name, arguments in made:
        result = await talk.call(name, **arguments)
        if result.is_error and YEAR.search(text_of(result)):
            continue
        assert not result.is_error, (name, arguments, text_of(result))
        schemas[name].validate(result.structured_content)
        assert_same_facts(result)
        json.dumps(result.structured_content).encode()
        text_of(result).encode()


@FUZZ
@given(shapeless)
async def test_no_arguments_crash_a_tool(talk: Talk, made: tuple[str, dict[str, Any]]) -> None:
    name, arguments = made
    result = await talk.client.call_tool(name, arguments)
    assert "failed inside" not in text_of(result)
    text_of(result).encode()
