"""The toolset `mind` as an agent uses it: over stdio, in two processes, without a daemon."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acceptance.command_line import CommandLine, on_pool
from tests.acceptance.rpc import Hot
from tests.conftest import Pool


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


@pytest.fixture
async def agents(line: CommandLine) -> AsyncIterator[tuple[Hot, Hot]]:
    environment = {**line.environment, "AGENTS_MEMORY_TOOLSETS": "core,mind"}
    pair = Hot(environment, line.home), Hot(environment, line.home)
    await asyncio.gather(*(agent.start() for agent in pair))
    yield pair
    for agent in pair:
        assert await agent.stop() == 0


async def test_a_memory_is_felt_linked_recalled_used_and_let_go(
    line: CommandLine, agents: tuple[Hot, Hot]
) -> None:
    """F18, F23, F24, F25, F34, F60: what one process does, the other sees at once."""
    mine, theirs = agents
    tools = [tool["name"] for tool in (await mine.request("tools/list", {}))["tools"]]
    assert len(tools) == len(set(tools)) == 22

    unfelt = await mine.call("remember", content="Mara was promised the photos.")
    assert (unfelt["ok"], unfelt["error"]["code"]) == (False, "INVALID_INPUT")
    assert "from -1 (bad) to 1 (good)" in unfelt["error"]["message"]
    promise = await mine.call(
        "remember",
        content="Mara was promised the harbour photos.",
        kind="promise",
        importance=7,
        valence=0.7,
        intensity=0.3,
    )
    storm = await theirs.call(
        "remember", content="A storm hit the quay on Friday.", valence=-0.6, intensity=0.85
    )
    ids = {"from_id": storm["memory_id"], "to_id": promise["memory_id"]}
    linked = await theirs.call("link", **ids, kind="causes", weight=0.8)
    assert linked["edge"]["weight"] == 0.8

    woken = await theirs.call("wake")
    assert woken["counts"]["promises"] == 1
    opening = await theirs.call("recall")
    assert [item["id"] for item in opening["results"]] == [promise["memory_id"]]
    found = await mine.call("recall", query="storm on the quay", mood=-0.6, max_tokens=800)
    results = {item["id"]: item for item in found["results"]}
    assert results[storm["memory_id"]]["kind"] == "note"
    assert results[promise["memory_id"]]["via"]["kind"] == "causes"
    shown = await mine.call("graph", id=promise["memory_id"], depth=3)
    assert [item["distance"] for item in shown["items"]] == [0, 1]

    await mine.call("cite", ids=[promise["memory_id"]])
    status = await theirs.call("status")
    assert (status["counts"]["used"], status["counts"]["edges"]) == (1, 1)
    await mine.call("revise", id=promise["memory_id"], action="resolve")
    assert (await theirs.call("recall"))["count"] == 0
    assert (await theirs.call("forget"))["items"] >= 2
    listed = (await theirs.call("find_fading"))["memories"]
    assert {memory["id"] for memory in listed} == {storm["memory_id"], promise["memory_id"]}
    assert (await mine.call("find_duplicates"))["count"] == 0

    gone = await theirs.call("unlink", **ids)
    assert gone["removed"] == ["causes"]
    assert "no such edge" in (await mine.call("unlink", **ids))["note"]
    deleted = await mine.call("revise", id=storm["memory_id"], action="delete")
    assert deleted["status"] == "archived"
    deleted = await mine.call("revise", id=storm["memory_id"], action="delete")
    assert deleted["status"] == "removed"
    doctor = line.run("doctor", "--deep")
    assert "edges" in doctor.stdout


async def test_malformed_is_a_tool_error_and_out_of_range_is_an_answer(
    agents: tuple[Hot, Hot],
) -> None:
    """F15: on the wire."""
    agent, _ = agents
    malformed = await agent.request(
        "tools/call", {"name": "graph", "arguments": {"id": 1, "depth": 9}}
    )
    assert malformed["isError"] is True
    refused = await agent.call("link", from_id=1, to_id=1)
    assert refused["error"]["code"] == "INVALID_INPUT"
