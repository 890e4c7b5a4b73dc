"""Tools on the SDK: arguments, refusals and bugs."""

from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, Implementation, ToolAnnotations
from pydantic import Field

from agents_memory.domain.errors import (
    Code,
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    Refusal,
    SchemaMismatch,
)
from hot.answers import Answer
from hot.hints import ADDS, CHANGES, READS, REMOVES, SETS
from hot.toolkit import briefing_middleware, client_name, make_tool
from hot.toolsets.arguments import Count, ItemIds
from tests.unit.hot.conftest import text_of


class Heard(Answer):
    """What a tool was called with."""

    heard: dict[str, Any]
    nothing: str | None = None


def server_of(
    outcome: Exception | Refusal | None = None, annotations: ToolAnnotations = READS
) -> MCPServer:
    async def listen(
        context: Context,
        query: str | None = None,
        limit: Annotated[Count, Field(ge=1, le=50, description="1 to 50. Default 10.")] = 10,
        ids: ItemIds | None = None,
    ) -> Heard | Refusal:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome or Heard(
            heard={"query": query, "limit": limit, "ids": ids, "client": client_name(context)}
        )

    tool = make_tool(
        listen,
        answer=Heard,
        render=lambda answer: f"heard {answer.heard}",
        title="Listen",
        description="Listens.",
        annotations=annotations,
    )

    async def instructions(client: str | None) -> str:
        return f"written for {client}"

    return MCPServer("test", tools=[tool], middleware=[briefing_middleware(instructions)])


async def call(
    era: str,
    arguments: dict[str, Any],
    outcome: Exception | Refusal | None = None,
    annotations: ToolAnnotations = READS,
) -> CallToolResult:
    me = Implementation(name="tester", version="1")
    async with Client(server_of(outcome, annotations), mode=era, client_info=me) as client:
        return await client.call_tool("listen", arguments)


async def heard(era: str, **arguments: Any) -> dict[str, Any]:
    result = await call(era, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    values: dict[str, Any] = result.structured_content["heard"]
    return values


async def test_the_client_is_known_by_name_and_gets_its_instructions(era: str) -> None:
    """F61, F78: in both eras."""
    me = Implementation(name="tester", version="1")
    async with Client(server_of(), mode=era, client_info=me) as client:
        assert client.instructions == "written for tester"
        result = await client.call_tool("listen", {})
    assert result.structured_content is not None
    assert result.structured_content["heard"]["client"] == "tester"


@pytest.mark.parametrize("query", ["null", "true", '{"a": 1}', "[1, 2]", '"quoted"', "12", ""])
async def test_a_string_that_looks_like_json_stays_a_string(era: str, query: str) -> None:
    """D10: any string is a legal query."""
    assert (await heard(era, query=query))["query"] == query


async def test_lists_may_come_as_json_text(era: str) -> None:
    assert (await heard(era, ids="[1, 2]"))["ids"] == [1, 2]


async def test_null_is_an_argument_that_was_not_given(era: str) -> None:
    """Some clients send every argument."""
    got = await heard(era, query=None, limit=None, ids=None)
    assert (got["query"], got["limit"], got["ids"]) == (None, 10, None)


async def test_arguments_that_a_client_adds_are_not_ours_to_refuse(era: str) -> None:
    assert (await heard(era, limit=3, wait_for_previous=True))["limit"] == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": 51}, "limit: should be less than or equal to 50"),
        ({"limit": "many"}, "limit: should be a valid integer"),
        ({"limit": True}, "limit: should be a whole number, not true or false"),
        ({"query": 5}, "query: should be a valid string"),
        ({"ids": "[1,"}, "ids: should be a valid list"),
        ({"ids": [1, 0]}, "ids.1: should be greater than or equal to 1"),
        ({"qery": "x"}, "unknown argument 'qery'; did you mean query?"),
        ({"qery": None}, "unknown argument 'qery'; did you mean query?"),
        ({"zzz": "x"}, "unknown argument 'zzz'; it takes query, limit, ids"),
    ],
)
async def test_malformed_arguments_name_argument_and_rule(
    era: str, arguments: dict[str, Any], said: str
) -> None:
    result = await call(era, arguments)
    assert result.is_error
    assert said in text_of(result)
    assert text_of(result).startswith("invalid arguments for listen: ")
    assert "pydantic" not in text_of(result)


async def test_malformed_arguments_are_not_echoed(era: str) -> None:
    for arguments in ({"limit": "hunter2"}, {"ids": ["hunter2"]}, {"query": {"a": "hunter2"}}):
        assert "hunter2" not in text_of(await call(era, arguments))


async def test_a_name_that_is_no_name_is_shown_shortened(era: str) -> None:
    text = text_of(await call(era, {"\0" + "x" * 100_000 + "\ud800\n": 1}))
    assert len(text) < 300
    assert "\n" not in text


@pytest.mark.parametrize(
    "fault",
    [DatabaseUnavailable("start it"), SchemaMismatch("migrate it"), ConfigurationError("set it")],
)
async def test_a_pool_that_is_away_is_a_refusal(era: str, fault: MemoryFault) -> None:
    """D11: an error is no empty answer."""
    result = await call(era, {}, fault)
    assert not result.is_error
    assert result.structured_content == {
        "ok": False,
        "error": {"code": "DATABASE_UNAVAILABLE", "message": str(fault)},
    }


@pytest.mark.parametrize("annotations", [ADDS, SETS, CHANGES, REMOVES])
async def test_a_tool_that_changes_something_says_that_it_did_not(
    era: str, annotations: ToolAnnotations
) -> None:
    """D11: the cause first, and what could not be stored."""
    result = await call(era, {}, DatabaseUnavailable("start it"), annotations)
    assert result.structured_content is not None
    assert result.structured_content["error"]["message"] == (
        "start it. Nothing was stored or changed by this call, as far as is known"
    )


async def test_a_refusal_has_its_details_in_text_and_structure(era: str) -> None:
    """F15."""
    refusal = Refusal(Code.UNKNOWN_ITEM, "use the ids of results", {"unknown": [4, 5]})
    result = await call(era, {}, refusal)
    assert not result.is_error
    assert result.structured_content == {
        "ok": False,
        "error": {
            "code": "UNKNOWN_ITEM",
            "message": "use the ids of results",
            "details": {"unknown": [4, 5]},
        },
    }
    assert "UNKNOWN_ITEM" in text_of(result)
    assert "unknown: [4, 5]" in text_of(result)


@pytest.mark.parametrize("bug", [ZeroDivisionError("SECRET"), MemoryFault("SECRET SQLSTATE")])
async def test_a_bug_is_a_tool_error_without_its_text(
    era: str, bug: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """F15: the class goes to the log, the content nowhere."""
    result = await call(era, {"query": "PRIVATE"}, bug)
    assert result.is_error
    assert "listen failed inside the memory server" in text_of(result)
    assert "SECRET" not in text_of(result)
    logged = capsys.readouterr().err
    assert "tool_failed" in logged
    assert type(bug).__name__ in logged
    assert "PRIVATE" not in logged


async def test_nulls_are_not_sent(era: str) -> None:
    result = await call(era, {})
    assert result.structured_content is not None
    assert "nothing" not in result.structured_content


async def test_an_unknown_tool_is_a_tool_error(era: str) -> None:
    async with Client(server_of(), mode=era) as client:
        assert (await client.call_tool("no_such_tool", {})).is_error


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(st.sampled_from(["query", "limit", "ids", "x", "\ud800"]), json_values))
async def test_no_arguments_crash_a_tool(era: str, arguments: dict[str, Any]) -> None:
    result = await call(era, arguments)
    assert "failed inside" not in text_of(result)
