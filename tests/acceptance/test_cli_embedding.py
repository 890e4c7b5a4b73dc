"""The change from one embedding model to another, as its owner makes it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents_memory.embedding.profiles import HASHING
from tests.acceptance.command_line import CommandLine, Ended, on_pool
from tests.conftest import Pool
from tests.fixtures.endpoint import scripted_endpoint
from tests.fixtures.meanings import DIMS, NAME, PROFILE_ID, Meanings

KEY = "sk-very-secret-words"


class Shell:
    """Runs commands while the endpoint goes on in this process."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line

    async def run(self, *arguments: str, **settings: str) -> Ended:
        line = replace(self.line, settings={**self.line.settings, **settings})
        return await asyncio.to_thread(line.run, *arguments)


@pytest.fixture
async def meanings() -> Meanings:
    return Meanings()


@pytest.fixture
async def shell(pool: Pool, tmp_path: Path, meanings: Meanings) -> AsyncIterator[Shell]:
    async with scripted_endpoint(meanings) as endpoint:
        line = on_pool(pool, tmp_path)
        reached = {"EMBEDDING_BASE_URL": endpoint.url, "EMBEDDING_API_KEY": KEY}
        yield Shell(replace(line, settings={**line.settings, **reached}))


def _models(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0, ended.stderr
    return {model["profile"]: model for model in ended.json["models"]}


async def test_an_owner_changes_the_model_while_searches_go_on(shell: Shell) -> None:
    """D2, D4, D7"""
    for text in ("The heron stood in the shallow water.", "The landlord wants more."):
        assert (await shell.run("message", "add", "--text", text)).code == 0
    assert (await shell.run("coldpath", "--drain")).code == 0

    added = await shell.run("embedding", "add", NAME, "--json")
    assert added.code == 0, added.stderr
    assert added.json["model"]["messages_missing"] == 2
    assert 0 < added.json["calibration"]["midpoint"] < 1
    refused = await shell.run("embedding", "use", NAME, "--json")
    assert refused.code == 1
    assert refused.json["error"]["code"] == "MODEL_INCOMPLETE"
    assert refused.json["error"]["details"] == {"messages_missing": 2, "memories_missing": 0}
    found = await shell.run("search", "heron", "--json")
    assert (found.json["used"], found.json["degraded"]) == ("hybrid", None)

    following = {"EMBEDDING_MODEL_NEXT": NAME}
    assert (await shell.run("coldpath", "--drain", **following)).code == 0
    models = _models(await shell.run("embedding", "list", "--json", **following))
    assert models[PROFILE_ID] == {
        "profile": PROFILE_ID,
        "dims": DIMS,
        "active": False,
        "here": True,
        "messages": 2,
        "messages_missing": 0,
        "memories": 0,
        "memories_missing": 0,
        "indexed": False,
        "index_recall": None,
        "measured": True,
    }
    used = await shell.run("embedding", "use", PROFILE_ID)
    assert used.code == 0, used.stderr
    assert f"set EMBEDDING_MODEL={NAME}" in used.stderr
    after = await shell.run("search", "grey bird", "--json", **following)
    assert (after.json["used"], after.json["degraded"]) == ("hybrid", None)
    assert "heron" in after.json["items"][0]["text"]
    behind = await shell.run("search", "heron", "--json")
    assert behind.json["used"] == "keyword"
    assert NAME in behind.json["degraded"]
    status = await shell.run("status", "--json", **following)
    assert status.json["embedder"]["profile"] == PROFILE_ID
    assert not [reason for reason in status.json["degraded"] if "embedding model" in reason]

    shown = (await shell.run("embedding", "list", **following)).stdout
    assert f"* {PROFILE_ID}" in shown
    assert "messages 2 of 2" in shown
    dropped = await shell.run("embedding", "drop", "hashing")
    assert (dropped.code, dropped.stdout) == (0, f"dropped {HASHING.id} and its vectors\n")
    assert set(_models(await shell.run("embedding", "list", "--json"))) == {PROFILE_ID}


async def test_a_model_that_does_not_work_is_not_added(shell: Shell, meanings: Meanings) -> None:
    """A key that is wrong is found before anything is changed, and is shown nowhere."""
    meanings.down = True
    ended = await shell.run("embedding", "add", NAME, LOG_LEVEL="debug")
    assert ended.code == 1
    assert "was not added: " in ended.stderr
    assert "correct EMBEDDING_API_KEY" in ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    assert set(_models(await shell.run("embedding", "list", "--json"))) == {HASHING.id}


async def test_what_cannot_be_done_says_what_can(shell: Shell) -> None:
    in_use = await shell.run("embedding", "drop", "hashing", "--json")
    assert (in_use.code, in_use.json["error"]["code"]) == (1, "MODEL_IN_USE")
    unknown = await shell.run("embedding", "use", "bge-m3@1024")
    assert unknown.code == 1
    assert f"no embedding model bge-m3@1024, but {HASHING.id}" in unknown.stderr
    nameless = await shell.run("embedding", "add", "http:own-model")
    assert nameless.code == 2
    assert "http:own-model@DIMS" in nameless.stderr
    keyless = await shell.run("embedding", "add", "openai:text-embedding-3-large")
    assert keyless.code == 1
    assert "OPENAI_API_KEY is not set" in keyless.stderr
    again = await shell.run("embedding", "use", "hashing")
    assert (again.code, again.stdout) == (0, f"searches use {HASHING.id} from now on\n")


async def test_who_is_not_the_owner_is_told_which_setting_names_it(shell: Shell) -> None:
    """F94, D11"""
    assert (await shell.run("embedding", "add", NAME)).code == 0
    settings = {k: v for k, v in shell.line.settings.items() if k != "OWNER_DATABASE_URL"}
    poorer = Shell(replace(shell.line, settings=settings))
    for arguments in (("drop", NAME), ("use", NAME, "--anyway"), ("add", NAME)):
        ended = await poorer.run("embedding", *arguments)
        assert ended.code == 3, ended.stdout + ended.stderr
        assert "OWNER_DATABASE_URL is not set" in ended.stderr
        assert "migrate" not in ended.stderr


def test_a_memory_that_was_never_made_is_not_made(tmp_path: Path) -> None:
    """F101"""
    line = CommandLine(tmp_path, {"MEMORY_DATA_DIR": str(tmp_path / "nowhere")})
    for arguments in (("list",), ("add", "local"), ("use", "local"), ("drop", "local")):
        ended = line.run("embedding", *arguments)
        assert ended.code == 3
        assert "init" in ended.stderr
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["\udc80", "'; DROP TABLE messages; --", "x" * 5000, "🙂", ""])
async def test_any_string_is_a_name(shell: Shell, name: str) -> None:
    ended = await shell.run("embedding", "use", "--json", "--", name)
    assert ended.code == 1
    assert ended.json["error"]["code"] == "UNKNOWN_MODEL"
