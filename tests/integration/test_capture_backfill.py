"""Backfill: shown first, stored once, resumed at will."""

import asyncio
import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agents_memory.storage.connections import Database
from tests.conftest import Pool
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import SAID
from tests.fixtures.transcripts.writer import jsonl
from tests.integration.capturers import Machine, stored
from tests.unit.ingest.reading import EDGE, FORK, MAIN, MAIN_TURNS, ROOT, SUBAGENT

TURNS = {"user": 7, "assistant": 10}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the fixtures, the fork written last."""
    copy = tmp_path / "transcripts"
    shutil.copytree(ROOT, copy)
    for age, path in enumerate((MAIN, SUBAGENT, EDGE, FORK)):
        os.utime(copy / path, (1_800_000_000 + age, 1_800_000_000 + age))
    return copy


@pytest.fixture
def machine(tmp_path: Path, pool: Pool) -> Machine:
    return Machine(tmp_path, pool.url("memory_hot"))


async def backfill(machine: Machine, *words: str, **environ: str) -> tuple[int, Any]:
    """Its exit code, and what it printed as JSON."""
    return await backfill_of("claude-code", machine, *words, **environ)


async def backfill_of(
    client: str, machine: Machine, *words: str, **environ: str
) -> tuple[int, Any]:
    """The same of any client."""
    arguments = (client, "--json", *words)
    async with machine.capturer("ingest.backfill", *arguments, **environ) as process:
        output, _ = await process.process.communicate()
    assert process.process.returncode is not None
    return process.process.returncode, json.loads(output) if output else None


async def rows(database: Database) -> list[dict[str, Any]]:
    async with database.acquire() as connection:
        return [dict(row) for row in await connection.fetch("SELECT * FROM messages ORDER BY id")]


async def test_the_clients_own_folder_stands_for_the_transcripts_in_it(
    machine: Machine, root: Path
) -> None:
    home = root.parent / "elsewhere"
    shutil.copytree(root, home / "projects")
    shutil.copyfile(root / MAIN, home / "history.jsonl")
    code, shown = await backfill(machine, f"--root={home}")
    assert (code, shown["files"], shown["turns"]) == (0, 4, TURNS)
    assert shown["root"] == str(home / "projects")


async def test_the_folder_of_one_project_is_refused(machine: Machine, root: Path) -> None:
    project = (root / MAIN).parent
    assert await backfill(machine, f"--root={project}") == (2, None)


async def test_without_run_it_only_shows_and_asks_no_database(machine: Machine, root: Path) -> None:
    """F87: statistics and samples first."""
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    code, shown = await backfill(machine, f"--root={root}", DATABASE_URL=nowhere)
    assert (code, shown["dry_run"]) == (0, True)
    assert (shown["files"], shown["sessions"]) == (4, 3)
    assert (shown["turns"], shown["owner"], shown["subagent"]) == (TURNS, 7, 2)
    assert (shown["from"], shown["to"]) == (
        "2026-11-20T08:00:01+00:00",
        "2026-11-20T09:00:16+00:00",
    )
    assert (shown["copies"], shown["refused"], shown["problems"]) == (7, 0, [])
    assert shown["redacted"] == {"password": 1}
    assert shown["dropped"]["tool"] == 8
    assert shown["dropped"]["unfinished"] == 1
    samples = [sample["text"] for sample in shown["samples"]]
    assert len(samples) == 3
    assert MAIN_TURNS[0][1] in samples
    assert "hunter2" not in json.dumps(shown)


async def test_where_nothing_was_found_nothing_is_offered(
    machine: Machine, root: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    said = []
    for folder in (empty, root):
        async with machine.capturer(
            "ingest.backfill", "claude-code", f"--root={folder}"
        ) as process:
            output, _ = await process.process.communicate()
        said.append(output.decode().splitlines()[-1])
    assert said[0] == "there is nothing to store"
    assert said[1].startswith("nothing was stored; --run does")


async def test_run_stores_each_turn_once_and_again_adds_nothing(
    machine: Machine, root: Path, hot_database: Database
) -> None:
    """F87, F75, A19: resumable, and a second run changes nothing."""
    code, done = await backfill(machine, f"--root={root}", "--run", "--device=desktop")
    assert (code, done["stored"], done["duplicate"]) == (0, 17, 7)
    before = await rows(hot_database)
    assert Counter(row["role"] for row in before) == TURNS
    assert {(row["origin"], row["device"], row["platform"]) for row in before} == {
        ("imported", "desktop", "claude-code")
    }
    assert {row["trust"] for row in before if row["role"] == "user"} == {"owner"}
    assert {row["trust"] for row in before if row["role"] == "assistant"} == {"agent"}
    assert all(row["occurred_at"] < row["created_at"] for row in before)
    assert [row["subagent_role"] for row in before if row["subagent"]] == ["Explore"] * 2
    everything = json.dumps(before, default=str)
    for never in (
        "hunter2",
        "BRIEF",
        "being continued",
        "system-reminder",
        "API Error",
        "still being",
    ):
        assert never not in everything
    code, again = await backfill(machine, f"--root={root}", "--run")
    assert (code, again["stored"], again["duplicate"]) == (0, 0, 24)
    assert await rows(hot_database) == before


async def test_one_that_was_interrupted_goes_on(machine: Machine, hot_database: Database) -> None:
    machine.say(*(f"Turn {number}." for number in range(100)))
    arguments = ("claude-code", "--run", "--rate=20")
    async with machine.capturer("ingest.backfill", *arguments) as process:
        await stored(hot_database, *(f"Turn {number}." for number in range(20)))
        assert await process.ended(signal.SIGINT) == 130
    assert 20 <= len(await rows(hot_database)) < 100
    code, done = await backfill(machine, "--run", "--rate=10000")
    assert code == 0
    assert done["stored"] + done["duplicate"] == 100
    assert [row["message"] for row in await rows(hot_database)] == [
        f"Turn {n}." for n in range(100)
    ]


async def test_a_turn_that_is_captured_too_is_stored_once(
    machine: Machine, hot_database: Database
) -> None:
    """B13: by whichever way, and under whichever name, it comes first."""
    async with machine.capturer() as capturer:
        await capturer.said("capture_begun")
        machine.say("Said once.")
        await stored(hot_database, "Said once.")
        copy = machine.home / "copy" / "renamed"
        copy.parent.mkdir()
        machine.folder.rename(copy)
        code, done = await backfill(machine, f"--root={copy.parent}", "--run")
        assert (code, done["stored"], done["duplicate"]) == (0, 0, 1)


async def test_what_cannot_be_read_is_named_and_the_rest_is_stored(
    machine: Machine, hot_database: Database
) -> None:
    machine.say("Readable.")
    locked = machine.folder.parent / "locked"
    locked.mkdir()
    (locked / "s2.jsonl").write_bytes(jsonl(machine.write.typed("Locked.")))
    locked.chmod(0)
    try:
        code, done = await backfill(machine, "--run")
    finally:
        locked.chmod(0o700)
    await stored(hot_database, *(["Readable."] if code else ["Readable.", "Locked."]))
    # Root may read everything, so there is nothing to name.
    assert bool(done["problems"]) == bool(code)


@pytest.mark.parametrize("name", ["codex", "opencode", "cursor_chat", "cline"])
async def test_any_client_is_shown_first_and_brought_in_once(
    machine: Machine, tmp_path: Path, hot_database: Database, name: str
) -> None:
    """F87, F75: lines, databases and documents; a backfill resumes by doing it again."""
    store, root = STORES[name], tmp_path / "store"
    store.write(root)
    code, shown = await backfill_of(store.client, machine, f"--root={root}")
    assert (code, shown["dry_run"], shown["problems"]) == (0, True, [])
    assert await rows(hot_database) == []
    total = sum(shown["turns"].values())
    code, done = await backfill_of(store.client, machine, f"--root={root}", "--run")
    assert (code, done["stored"], done["failed"]) == (0, total, 0)
    stored = await rows(hot_database)
    main = [row for row in stored if row["session"] == store.session and not row["subagent"]]
    assert [(row["role"], row["message"]) for row in main] == SAID
    assert {row["platform"] for row in stored} == {store.client}
    assert {row["trust"] for row in main if row["role"] == "user"} == {"owner"}
    code, again = await backfill_of(store.client, machine, f"--root={root}", "--run")
    assert (code, again["stored"], again["duplicate"]) == (0, 0, total + again["copies"])
    assert len(await rows(hot_database)) == total


@pytest.mark.parametrize(
    ("words", "code"), [(("--root=/nowhere",), 2), (("--run",), 3), (("--rate=fast",), 2)]
)
async def test_what_is_wrong_is_said_with_an_exit_code(
    machine: Machine, words: tuple[str, ...], code: int
) -> None:
    machine.say("Unheard.")
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    assert (await backfill(machine, *words, DATABASE_URL=nowhere))[0] == code


async def test_for_people_it_prints_a_page(machine: Machine, root: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *machine.command("ingest.backfill", "claude-code", f"--root={root}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=machine.environ,
    )
    output, remarks = await process.communicate()
    page = output.decode()
    assert process.returncode == 0
    assert "17 (10 assistant, 7 user); 7 typed by a person, 2 of sub-agents" in page
    assert "nothing was stored" in page
    assert "hunter2" not in page
    assert b"reading" in remarks
