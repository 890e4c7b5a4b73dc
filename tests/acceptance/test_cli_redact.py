"""`redact` as the owner runs it: the words come by stdin and are never printed."""

import asyncio
from pathlib import Path

import asyncpg

from tests.acceptance.command_line import on_pool
from tests.conftest import Pool


async def _put(pool: Pool, word: str, other: str) -> None:
    connection = await asyncpg.connect(pool.url("memory_owner"))
    try:
        await connection.execute(
            "UPDATE agents_memory.messages SET message = replace(message, $1, $2)", word, other
        )
    finally:
        await connection.close()


def test_an_owner_erases_words_after_a_rehearsal(pool: Pool, tmp_path: Path) -> None:
    """F109"""
    line = on_pool(pool, tmp_path)
    stored = line.run("message", "add", "--text", "The purple walrus sleeps.", "--json").json["id"]
    rehearsed = line.run("redact", "--words", stdin=b"Purple\nWalrus\n")
    assert rehearsed.code == 0, rehearsed.stderr
    assert "messages.message" in rehearsed.stdout
    assert "add --run" in rehearsed.stderr
    assert "walrus" in line.run("message", "show", str(stored)).stdout

    done = line.run("redact", "--words", "--run", "--json", stdin=b"purple walrus")
    assert done.code == 0, done.stderr
    assert done.json["report"]["changed"]["messages.message"] == 1
    for ended in (rehearsed, done):
        assert "walrus" not in (ended.stdout + ended.stderr).lower()
    assert "The [redacted] sleeps." in line.run("message", "show", str(stored)).stdout


def test_what_to_erase_is_one_thing_and_never_an_argument(pool: Pool, tmp_path: Path) -> None:
    line = on_pool(pool, tmp_path)
    assert line.run("redact").code == 2
    assert line.run("redact", "--words", "--message", "1").code == 2
    assert line.run("redact", "--words", "purple walrus").code == 2
    assert line.run("redact", "--scan", "--words").code == 2
    unknown = line.run("redact", "--message", "999", "--json")
    assert unknown.code == 1
    assert unknown.json["error"]["code"] == "UNKNOWN_ITEM"


def test_a_phrase_that_is_not_text_is_refused_with_what_to_do(pool: Pool, tmp_path: Path) -> None:
    line = on_pool(pool, tmp_path)
    for given, told in (
        ("Zoë".encode("latin-1"), "iconv"),
        ("Zoë".encode("utf-16"), "iconv"),
        (b"wal\0rus", "NUL"),
        (b"redacted", "stands in the place"),
    ):
        refused = line.run("redact", "--words", "--run", stdin=given)
        assert refused.code == 1
        assert told in refused.stderr


def test_a_role_that_is_not_the_owner_erases_nothing(pool: Pool, tmp_path: Path) -> None:
    line = on_pool(pool, tmp_path)
    line.settings["OWNER_DATABASE_URL"] = pool.url("memory_hot")
    line.run("message", "add", "--text", "The purple walrus sleeps.")
    refused = line.run("redact", "--words", "--run", stdin=b"walrus")
    assert refused.code == 2
    assert "OWNER_DATABASE_URL" in refused.stderr
    assert "walrus" not in refused.stderr


def test_a_scan_tells_kinds_and_numbers_and_changes_nothing_unless_told(
    pool: Pool, tmp_path: Path
) -> None:
    """F108, F109"""
    token = "ghp_" + "aB3dE5gH7j" * 3 + "kL9mN1"
    line = on_pool(pool, tmp_path)
    stored = line.run("message", "add", "--text", "Deploy with WALRUS now.", "--json").json["id"]
    # As if it had been stored before there was a rule.
    asyncio.run(_put(pool, "WALRUS", token))
    scanned = line.run("redact", "--scan")
    assert scanned.code == 0, scanned.stderr
    assert "github_token 1" in scanned.stdout
    assert "add --run" in scanned.stderr
    assert token in line.run("message", "show", str(stored)).stdout

    done = line.run("redact", "--scan", "--run", "--json")
    assert done.json["report"]["kinds"] == {"github_token": 1}
    for ended in (scanned, done):
        assert token not in ended.stdout + ended.stderr
    shown = line.run("message", "show", str(stored)).stdout
    assert "Deploy with [redacted:github_token] now." in shown
    assert "nothing to erase" in line.run("redact", "--scan").stdout
