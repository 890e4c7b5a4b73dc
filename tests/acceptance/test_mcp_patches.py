"""The whole way of a memory, as an agent and its owner go it: over stdio, and in a shell."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command_line import CommandLine, on_pool
from tests.acceptance.mcp_process import HotProcess, settings_of
from tests.acceptance.rpc import Hot
from tests.acceptance.test_mcp_start import TRACED, imported
from tests.conftest import Pool


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


@pytest.fixture
async def agents(line: CommandLine) -> AsyncIterator[tuple[Hot, Hot]]:
    """Two editors' servers over one pool, without any daemon."""
    environment = {**line.environment, "AGENTS_MEMORY_TOOLSETS": "core,patch"}
    pair = Hot(environment, line.home), Hot(environment, line.home)
    await asyncio.gather(*(agent.start() for agent in pair))
    yield pair
    for agent in pair:
        assert await agent.stop() == 0


async def record(agent: Hot, content: str, external_id: str) -> dict[str, Any]:
    return await agent.call(
        "memory_record_event",
        event={"role": "user", "content": content, "external_id": external_id},
    )


async def test_a_memory_is_added_superseded_contested_and_taken_back(
    line: CommandLine, agents: tuple[Hot, Hot]
) -> None:
    """F1, F4, F5, F6, F9, F10, F11, F12, F15, F93: without a model, from the first word on."""
    mine, theirs = agents

    said = await record(mine, "I live in Graz.", "chat/1")
    assert (await record(theirs, "I live in Graz.", "chat/1"))["event_id"] == said["event_id"]

    operation = {
        "type": "ADD",
        "subject": "Mara",
        "content": "Mara lives in Graz.",
        "evidence_event_ids": [said["event_id"]],
    }
    request = {"operations": [operation], "reason": "she said so", "idempotency_key": "k1"}
    added = await mine.call("memory_apply", request=request)
    memory_id = added["memory_id"]
    again = await theirs.call("memory_apply", request=request)
    assert (again["patch_id"], again["replayed"]) == (added["patch_id"], True)

    moved = await record(theirs, "We moved to Lisbon.", "chat/2")
    found = await theirs.call("memory_search", request={"query": "mara lives"})
    assert [memory["memory_id"] for memory in found["memories"]] == [memory_id]
    seen = (await theirs.call("memory_read", memory_id=memory_id))["memory"]
    assert (seen["content"], seen["version"]) == ("Mara lives in Graz.", 1)

    def superseding(content: str, version: int) -> dict[str, Any]:
        change = {
            "type": "SUPERSEDE",
            "memory_id": memory_id,
            "expected_version": version,
            "new_content": content,
            "evidence_event_ids": [moved["event_id"]],
        }
        return {"operations": [change], "reason": "they moved"}

    changed = await theirs.call("memory_apply", request=superseding("Mara lives in Lisbon.", 1))
    assert changed["version"] == 2
    assert "-Mara lives in Graz.\n+Mara lives in Lisbon.\n" in changed["diff"]

    history = (await mine.call("memory_history", memory_id=memory_id))["versions"]
    assert [(v["version"], v["operation"], v["evidence_event_ids"]) for v in history] == [
        (1, "ADD", [said["event_id"]]),
        (2, "SUPERSEDE", [moved["event_id"]]),
    ]
    assert history[0]["ended_by"] == "SUPERSEDE"

    stale = await mine.call("memory_apply", request=superseding("Mara lives in Porto.", 1))
    assert (stale["ok"], stale["error"]["code"]) == (False, "VERSION_CONFLICT")
    assert stale["error"]["details"]["current"]["content"] == "Mara lives in Lisbon."
    after = (await mine.call("memory_read", memory_id=memory_id))["memory"]
    assert (after["version"], after["content"]) == (2, "Mara lives in Lisbon.")

    undone = line.run("patch", "rollback", str(changed["patch_id"]), "--reason", "a joke", "--json")
    assert undone.code == 0, undone.stderr
    read = await mine.call("memory_read", memory_id=memory_id, include_history=True)
    assert (read["memory"]["version"], read["memory"]["content"]) == (3, "Mara lives in Graz.")
    assert [v["version"] for v in read["versions"]] == [1, 2, 3]
    last = read["versions"][-1]
    assert (last["operation"], last["actor"], last["reason"]) == ("RESTORE", "owner", "a joke")
    patch = await mine.call("memory_patch_read", patch_id=changed["patch_id"])
    assert patch["rolled_back_by"] == undone.json["patch_id"] == last["patch_id"]


async def test_an_event_another_process_recorded_under_an_id_stays_what_it_is(
    agents: tuple[Hot, Hot],
) -> None:
    """F1: whoever comes second, with other words, is told."""
    mine, theirs = agents
    first = await record(mine, "I live in Graz.", "chat/1")
    answers = await asyncio.gather(
        record(mine, "I live in Rome.", "chat/1"), record(theirs, "I live in Wien.", "chat/1")
    )
    for answer in answers:
        assert answer["error"]["code"] == "EVENT_CONFLICT"
        assert answer["error"]["details"] == {"event_id": first["event_id"]}


async def test_malformed_is_a_tool_error_and_forbidden_is_an_answer(
    agents: tuple[Hot, Hot],
) -> None:
    """F15: on the wire."""
    agent, _ = agents
    for operation in ({"type": "SQL", "sql": "DROP"}, {"type": "REMOVE", "memory_id": 1}):
        request = {"operations": [operation], "reason": "x"}
        result = await agent.request(
            "tools/call", {"name": "memory_apply", "arguments": {"request": request}}
        )
        assert result["isError"] is True
        assert "structuredContent" not in result
    uncited: dict[str, Any] = {
        "type": "ADD",
        "subject": "a",
        "content": "b",
        "evidence_event_ids": [],
    }
    request = {"operations": [uncited], "reason": "x"}
    result = await agent.request(
        "tools/call", {"name": "memory_apply", "arguments": {"request": request}}
    )
    assert result.get("isError", False) is False
    assert result["structuredContent"]["error"]["code"] == "MISSING_EVIDENCE"


async def test_what_one_is_asked_to_remember_is_found_by_meaning_without_a_daemon(
    agents: tuple[Hot, Hot],
) -> None:
    """F73: the instant the tool has answered, from another process too."""
    mine, theirs = agents
    done = await mine.call(
        "manage_knowledge", action="add", target="memory", content="The heron stands in Graz."
    )
    assert (done["tagged"], done["embedded"]) == ("ok", "ok")
    found = await theirs.call("search_memory", query="where does the heron stand")
    [item] = [item for item in found["results"] if item["id"] == done["memory_id"]]
    assert found["used"] == "hybrid"
    assert item["similarity"] > 0
    assert item["tags"]


async def test_the_protocol_is_a_prompt(agents: tuple[Hot, Hot]) -> None:
    agent, _ = agents
    [prompt] = (await agent.request("prompts/list", {}))["prompts"]
    got = await agent.request("prompts/get", {"name": prompt["name"]})
    assert "Search before you write" in got["messages"][0]["content"]["text"]


def test_only_the_toolsets_that_are_on_cost_a_start(pool: Pool, tmp_path: Path) -> None:
    """An editor starts a server with each window."""
    settings = settings_of(pool, tmp_path)
    for toolsets, brought in (("core", False), ("core,patch", True)):
        home = tmp_path / toolsets
        home.mkdir()
        environment = {**settings, "AGENTS_MEMORY_TOOLSETS": toolsets}
        with HotProcess(environment, home, TRACED) as server:
            server.shake_hands()
            found = imported(server)
        assert ("hot.toolsets.patch.arguments" in found) is brought
        assert not {"agents_memory.domain.patches", "agents_memory.services.history"} & found
