"""A backfill's look at transcripts that are not as their client writes them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.backfilling import survey
from ingest.transcripts import CLIENTS, root_of
from tests.fixtures.transcripts.writer import Writer, jsonl

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LINE = jsonl(Writer().typed("Is the kettle on?"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_transcript_in_another_encoding_is_named_with_what_to_do(
    encoding: str, tmp_path: Path
) -> None:
    folder = tmp_path / "-home-mara"
    folder.mkdir()
    (folder / "converted.jsonl").write_bytes(LINE.decode().encode(encoding))
    (folder / "whole.jsonl").write_bytes(LINE)
    found = survey(CLIENTS["claude-code"], [tmp_path], "laptop", NOW)
    assert found.problems == [
        "-home-mara/converted.jsonl: cannot be read (it is UTF-16; convert it to UTF-8)"
    ]
    assert found.total == 1


@pytest.mark.parametrize(
    "start",
    [b"\0\0", b"\0", b"\xef\xbb\xbf", b"\xfe\xff\0{\n", b"\xff\xfe{\0\n", b'\0{\0"\n'],
)
def test_what_a_crash_left_in_front_of_a_whole_line_is_no_encoding(
    start: bytes, tmp_path: Path
) -> None:
    folder = tmp_path / "-home-mara"
    folder.mkdir()
    (folder / "one.jsonl").write_bytes(start + LINE)
    found = survey(CLIENTS["claude-code"], [tmp_path], "laptop", NOW)
    assert (found.problems, found.total) == ([], 1)


def test_the_folder_above_the_transcripts_is_as_good(tmp_path: Path) -> None:
    assert root_of("claude-code", tmp_path) == tmp_path
    (tmp_path / "projects").mkdir()
    assert root_of("claude-code", tmp_path) == tmp_path / "projects"
    assert root_of("codex", tmp_path) == tmp_path
