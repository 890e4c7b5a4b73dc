"""Searching from a shell: the same recall as the tools."""

from pathlib import Path

import pytest

from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool


@pytest.fixture
def line(pool: Pool, tmp_path: Path) -> CommandLine:
    command_line = on_pool(pool, tmp_path)
    for text, platform, said_at in (
        ("The queue is a Postgres table.", "codex", "2026-09-16T10:00+02:00"),
        ("Momo die Katze liegt im Bad.", "claude-code", "2026-10-11T09:00+02:00"),
    ):
        added = command_line.run(
            "message", "add", "--text", text, "--platform", platform, "--at", said_at
        )
        assert added.code == 0, added.stderr
    return command_line


def test_a_word_finds_its_message_with_source_and_trust(line: CommandLine) -> None:
    """F3, F31: found the moment it is stored, without a daemon."""
    ended = line.run("search", "Katze", "--json")
    assert ended.code == 0, ended.stderr
    assert ended.json["used"] == "keyword"
    [item] = ended.json["items"]
    assert item["text"] == "Momo die Katze liegt im Bad."
    assert (item["trust"], item["platform"]) == ("owner", "claude-code")
    shown = line.run("search", "Katze").stdout
    assert f"[{item['id']}] 2026-10-11 09:00 · user · claude-code" in shown


def test_without_a_query_the_newest_comes_first_within_the_filters(line: CommandLine) -> None:
    """F42: dates are those of the speaker's time, in the reader's zone."""
    newest = line.run("search", "--json").json["items"]
    assert [item["platform"] for item in newest] == ["claude-code", "codex"]
    september = line.run("search", "--date-range", "2026-09-01..2026-09-30", "--json")
    assert [item["platform"] for item in september.json["items"]] == ["codex"]
    assert line.run("search", "--platform", "codex", "--limit", "1", "--json").json["items"]


@pytest.mark.parametrize(
    "query", ["", "'; DROP TABLE messages; --", "((((", "\\", "🂡", "% _ *", "a" * 5000]
)
def test_any_string_is_a_legal_query(line: CommandLine, query: str) -> None:
    """D10, J10"""
    assert line.run("search", "--json", "--", query).code == 0


def test_a_date_range_that_means_nothing_is_a_usage_error(line: CommandLine) -> None:
    """D13: never a silent empty result."""
    ended = line.run("search", "--date-range", "someday", "x")
    assert ended.code == 2
    assert "today" in ended.stderr


def test_nothing_found_is_an_answer_and_not_an_error(line: CommandLine) -> None:
    ended = line.run("search", "zzzzzz")
    assert (ended.code, ended.stdout) == (0, "")
    assert "nothing found" in ended.stderr
