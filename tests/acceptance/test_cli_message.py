"""Storing, showing and importing messages by the owner's own hand."""

import json
from pathlib import Path

import asyncpg
import pytest

from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool

TOKEN = "ghp_7Qm2VxHarborFakeT0kenZ9sLw4Rk8YbNc3D"


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


async def rows(pool: Pool, sql: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(pool.url("memory_owner"))
    try:
        await connection.execute("SET search_path TO agents_memory")
        return list(await connection.fetch(sql))
    finally:
        await connection.close()


async def test_what_the_owner_adds_is_asserted_and_trusted_as_theirs(
    line: CommandLine, pool: Pool
) -> None:
    added = line.run("message", "add", "--json", stdin="Wir liefern am Freitag. 😀".encode())
    assert added.code == 0, added.stderr
    assert added.json["ok"] is True
    [row] = await rows(pool, "SELECT * FROM messages")
    assert row["id"] == added.json["id"]
    assert (row["origin"], row["trust"], row["role"]) == ("asserted", "owner", "user")
    assert row["message"] == "Wir liefern am Freitag. 😀"
    assert row["cwd"] == str(line.home)


async def test_a_secret_never_gets_into_the_pool_nor_into_any_output(
    line: CommandLine, pool: Pool
) -> None:
    """F108: what is taken out is counted, not shown."""
    added = line.run("message", "add", "--text", f"the key is {TOKEN}")
    shown = line.run("message", "show", "1")
    assert "1 secrets taken out" in added.stdout
    [row] = await rows(pool, "SELECT message FROM messages")
    for text in (row["message"], added.stdout + added.stderr, shown.stdout + shown.stderr):
        assert TOKEN not in text


@pytest.mark.parametrize(
    "words", [b"\x00\xff\xfe nul and no utf-8", "\ud800 lone".encode("utf-8", "surrogatepass")]
)
def test_bytes_that_are_no_text_are_repaired_and_stored(line: CommandLine, words: bytes) -> None:
    """I1: bad input has a defined result."""
    assert line.run("message", "add", stdin=words).code == 0


def test_an_empty_message_is_refused_with_what_to_do(line: CommandLine) -> None:
    refused = line.run("message", "add", "--json", stdin=b"  \n ")
    assert refused.code == 1
    assert refused.json["ok"] is False
    assert refused.json["error"]["code"] == "INVALID_INPUT"


def test_the_receipt_says_how_far_a_message_has_come(line: CommandLine) -> None:
    """F104: what is done, and what it waits for."""
    number = line.run("message", "add", "--text", "the queue is a table", "--json").json["id"]
    receipt = line.run("message", "show", str(number), "--json")
    assert receipt.code == 0
    assert receipt.json["message"]["text"] == "the queue is a table"
    stages = receipt.json["receipt"]["stages"]
    assert [stage["state"] for stage in stages] == ["waiting"] * 4
    assert (stages[0]["stage"], stages[0]["attempts"]) == ("screen", 0)
    assert stages[1]["reason"] == "screen comes first"


def test_an_unknown_id_is_refused_and_named(line: CommandLine) -> None:
    refused = line.run("message", "show", "9223372036854775807", "--json")
    assert refused.code == 1
    assert refused.json["error"]["code"] == "UNKNOWN_ITEM"


async def test_importing_again_adds_nothing_even_under_another_file_name(
    line: CommandLine, pool: Pool, repository: Path, tmp_path: Path
) -> None:
    """F75, B13: identity is in the records, not in the name of the file."""
    folder = repository / "examples" / "conversations"
    first = line.run("message", "import", str(folder), "--json")
    assert first.code == 0, first.stderr
    assert first.json["stored"] == first.json["found"] > 200
    assert sum(first.json["redacted"].values()) >= 12

    copy = tmp_path / "renamed.jsonl"
    copy.write_bytes(next(iter(sorted(folder.iterdir()))).read_bytes())
    again = line.run("message", "import", str(folder), str(copy), "--json")
    assert (again.code, again.json["stored"]) == (0, 0)
    assert again.json["duplicates"] == again.json["found"] > first.json["found"]

    said = await rows(pool, "SELECT min(occurred_at) AS first, count(*) FROM messages")
    assert said[0]["count"] == first.json["stored"]
    assert f"{said[0]['first']:%Y-%m-%d}" == "2026-09-14", "I6: the time is when it was said"
    trusts = await rows(pool, "SELECT DISTINCT role, trust, origin FROM messages ORDER BY role")
    assert [tuple(row) for row in trusts] == [
        ("assistant", "agent", "imported"),
        ("user", "owner", "imported"),
    ]


async def test_a_rehearsal_stores_nothing(line: CommandLine, pool: Pool, repository: Path) -> None:
    """F87: the statistics come first."""
    folder = repository / "examples" / "conversations"
    ended = line.run("message", "import", str(folder), "--dry-run", "--json")
    assert ended.code == 0
    assert (ended.json["dry_run"], ended.json["stored"]) == (True, 0)
    assert await rows(pool, "SELECT 1 FROM messages") == []


async def test_what_cannot_be_imported_is_listed_and_the_rest_is_stored(
    line: CommandLine, pool: Pool, tmp_path: Path
) -> None:
    """A28, E16: one bad line or file never blocks the others, and the exit code tells."""
    header = {
        "format": "agents-memory/conversation",
        "version": 1,
        "session": "s",
        "platform": "codex",
    }
    turn = {"id": "1", "role": "user", "text": "kept"}
    good = tmp_path / "good.jsonl"
    good.write_text(
        "\n".join([json.dumps(header), json.dumps(turn), "{half a line", "\ud800"]),
        "utf-8",
        "surrogatepass",
    )
    (tmp_path / "headless.jsonl").write_text(json.dumps(turn))
    ended = line.run("message", "import", str(tmp_path), "--json")
    assert ended.code == 1
    assert (ended.json["found"], ended.json["stored"], ended.json["refused"]) == (4, 1, 3)
    problems = {(Path(p["path"]).name, p["line"]) for p in ended.json["problems"]}
    assert problems >= {("good.jsonl", 3), ("good.jsonl", 4), ("headless.jsonl", 1)}
    assert "half a line" not in ended.stdout + ended.stderr
    assert [row["message"] for row in await rows(pool, "SELECT message FROM messages")] == ["kept"]
