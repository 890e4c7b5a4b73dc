"""What a person and a monitor are told about the pool, from the command line."""

from pathlib import Path

import pytest

from agents_memory.services.status import report
from agents_memory.storage.connections import Database
from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool

SECRET = "s3cret-word"
AWAY = {"DATABASE_URL": f"postgresql://me:{SECRET}@127.0.0.1:1/memory"}


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    return on_pool(pool, tmp_path)


def test_the_report_has_its_stable_keys(line: CommandLine) -> None:
    """F17, E7: pending, failed, parked and the oldest age are told apart."""
    line.run("message", "add", "--text", "the queue is a table")
    ended = line.run("status", "--json")
    assert ended.code == 0, ended.stderr
    values = ended.json
    assert set(values) == {
        "version", "database", "leader", "stages", "embedder", "counts", "holds", "quarantine",
        "alarms", "degraded", "spool",
    }  # fmt: skip
    assert values["database"]["reachable"] is True
    assert set(values["leader"]) == {"holder", "epoch", "pid", "since", "beat_at"}
    assert set(values["stages"]["screen"]) == {
        "pending",
        "held",
        "failed",
        "parked",
        "oldest_age_s",
        "overdue_s",
        "reason",
    }
    assert values["stages"]["screen"]["pending"] == 1
    assert values["counts"]["messages"] == 1
    assert values["embedder"]["active_model"] == values["embedder"]["profile"]
    assert any("no daemon" in reason for reason in values["degraded"])


def test_the_table_says_the_same_to_a_person(line: CommandLine) -> None:
    line.run("message", "add", "--text", "the queue is a table")
    ended = line.run("status")
    assert ended.code == 0
    assert "1 messages, 0 memories" in ended.stdout
    assert "screen      1 waiting" in ended.stdout


def test_a_database_that_is_away_is_reported_and_ends_with_3(tmp_path: Path) -> None:
    """E18: degraded is an explicit answer and a failing exit code."""
    ended = CommandLine(tmp_path, AWAY).run("status", "--json")
    assert ended.code == 3
    assert ended.json["database"]["reachable"] is False
    assert ended.json["degraded"]
    assert SECRET not in ended.stdout + ended.stderr


async def test_what_is_reported_without_a_database_has_the_same_keys(
    hot_database: Database, tmp_path: Path
) -> None:
    there = (await report(hot_database, None, described="here")).values
    away = CommandLine(tmp_path, {"MEMORY_DATA_DIR": str(tmp_path / "none")}).run(
        "status", "--json"
    )
    # What waits on this machine is no matter of the database.
    assert set(away.json) == {*there, "spool"}


def test_a_memory_that_was_never_made_is_not_made_by_looking(tmp_path: Path) -> None:
    """F101: a misspelt folder never becomes a silent, empty memory."""
    missing = tmp_path / "misspelt"
    line = CommandLine(tmp_path, {"MEMORY_DATA_DIR": str(missing)})
    for command in (["status"], ["search", "x"], ["message", "show", "1"]):
        ended = line.run(*command)
        assert ended.code == 3
        assert "init" in ended.stdout + ended.stderr
    assert not missing.exists()


@pytest.mark.parametrize("command", ["status", "doctor", "init", "migrate", "coldpath"])
def test_a_misspelt_setting_is_an_error_that_names_the_right_one(
    command: str, tmp_path: Path
) -> None:
    """F101"""
    ended = CommandLine(tmp_path, {"MEMORY_DATA_DIRECTORY": "/x"}).run(command)
    assert ended.code == (1 if command == "doctor" else 2)
    assert "did you mean MEMORY_DATA_DIR?" in ended.stdout + ended.stderr


def test_the_owner_migrates_an_empty_pool_and_again_without_change(
    empty_pool: Pool, tmp_path: Path
) -> None:
    line = on_pool(empty_pool, tmp_path)
    assert line.run("status").code == 3
    first = line.run("migrate", "--json")
    assert first.code == 0, first.stderr
    assert first.json["applied"][0] == "0001_pool"
    assert line.run("migrate", "--json").json["applied"] == []
    assert line.run("status").code == 0


def test_init_prints_what_a_client_needs_and_names_what_only_the_shell_has(
    line: CommandLine,
) -> None:
    ended = line.run("init", "--json")
    assert ended.code == 0, ended.stderr
    assert ended.json["client"]["args"] == ["-I", "-m", "hot"]
    assert ended.json["active_model"] == "hashing:256"
    assert "DATABASE_URL" in ended.json["shell_only"]
    assert ended.json["applied"] == []
    assert "install-client" in ended.json["next"]
    assert "install-client NAME" in line.run("init").stdout


def test_every_command_explains_itself_with_an_example(tmp_path: Path) -> None:
    line = CommandLine(tmp_path)
    for command in (
        ["serve"], ["coldpath"], ["up"], ["init"], ["migrate"], ["status"], ["doctor"], ["search"],
        ["message", "add"], ["message", "show"], ["message", "import"], ["receipt"],
        ["work", "list"], ["retry"], ["work", "retry"], ["park", "list"], ["quarantine", "list"],
        ["quarantine", "release"], ["quarantine", "keep"],
    ):  # fmt: skip
        ended = line.run(*command, "--help")
        assert ended.code == 0
        assert "Example: " in ended.stdout, command
