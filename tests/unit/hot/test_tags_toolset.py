"""The toolset `tags`: the registry of projects over MCP (F66-F69)."""

from collections.abc import AsyncIterator

import pytest

from agents_memory.storage import suggestions
from agents_memory.storage.connections import Database
from tests.unit.hot.conftest import House, Talk, held, text_of

TOOL = "manage_project_tags"


@pytest.fixture
async def talk(house: House) -> AsyncIterator[Talk]:
    async with held(house, toolsets=("tags",)) as talk:
        yield talk


async def test_a_tag_is_added_described_aliased_listed_and_taken_back(talk: Talk) -> None:
    """F66, F67"""
    added = await talk.ask(TOOL, action="add", tag="Port App", description="where ships come in")
    assert (added["tag"], added["changed"]) == ("port-app", True)
    await talk.ask(TOOL, action="add", tag="harbor")
    await talk.ask(TOOL, action="describe", tag="harbor", description="the new name")
    done = await talk.ask(TOOL, action="alias", tag="port-app", target_tag="harbor")
    assert (done["tag"], done["target_tag"]) == ("port-app", "harbor")
    listed = await talk.ask(TOOL, action="list")
    assert listed["tags"] == [
        {"name": "harbor", "messages": 0, "description": "the new name", "aliases": ["port-app"]},
        {
            "name": "port-app",
            "messages": 0,
            "description": "where ships come in",
            "alias_of": "harbor",
        },
    ]
    await talk.ask(TOOL, action="unalias", tag="port-app")
    text = text_of(await talk.call(TOOL, action="list"))
    assert "stands for" not in text
    assert "harbor · messages 0 · about the new name" in text
    short = await talk.ask(TOOL, action="list", limit=1)
    assert (short["count"], short["left_out"]) == (1, 1)


async def test_a_suggestion_is_shown_and_decided_once(talk: Talk, cold_database: Database) -> None:
    """F69: a rejection is final."""
    async with cold_database.transaction() as connection:
        wetlands = await suggestions.suggest_name(connection, "wetlands", 12, {"uses": 12})
        tides = await suggestions.suggest_name(connection, "tides", 11, {"uses": 11})
    shown = await talk.ask(TOOL, action="suggestions")
    assert [(one["suggestion_id"], one["tag"]) for one in shown["suggestions"]] == [
        (wetlands, "wetlands"),
        (tides, "tides"),
    ]
    confirmed = await talk.ask(TOOL, action="confirm", suggestion_id=wetlands)
    assert confirmed["filing"] is True
    await talk.ask(TOOL, action="reject", suggestion_id=tides)
    error = await talk.refused(TOOL, action="confirm", suggestion_id=tides)
    assert error["code"] == "OPERATION_NOT_ALLOWED"
    assert (await talk.ask(TOOL, action="suggestions"))["suggestions"] == []
    rejected = await talk.ask(TOOL, action="suggestions", status="rejected")
    assert [one["tag"] for one in rejected["suggestions"]] == ["tides"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"action": "add"}, "pass tag"),
        ({"action": "alias", "tag": "a"}, "pass target_tag"),
        ({"action": "describe", "tag": "a"}, "pass description"),
        ({"action": "confirm"}, "pass suggestion_id"),
        ({"action": "list", "tag": "a"}, "takes no tag"),
        ({"action": "confirm", "suggestion_id": 1, "tag": "a"}, "takes no tag"),
    ],
)
async def test_what_an_action_needs_is_said(
    talk: Talk, arguments: dict[str, object], says: str
) -> None:
    error = await talk.refused(TOOL, **arguments)
    assert error["code"] == "INVALID_INPUT"
    assert says in error["message"]


async def test_malformed_arguments_are_tool_errors(talk: Talk) -> None:
    assert "action" in await talk.malformed(TOOL, action="merge")
    assert "limit" in await talk.malformed(TOOL, action="list", limit=101)
    assert "suggestion_id" in await talk.malformed(TOOL, action="confirm", suggestion_id=True)


async def test_the_tool_says_what_it_does(talk: Talk) -> None:
    [tool] = (await talk.client.list_tools()).tools
    assert tool.name == TOOL
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (False, True)
    assert tool.output_schema is not None
