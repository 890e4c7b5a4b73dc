"""Which files an import reads, and in which order."""

import json
import os
from pathlib import Path

from agents_memory.cli.importing import summarise
from agents_memory.services.conversations import find_files, rehearse, survey


def write(path: Path, at: str | None, text: str = "hello") -> None:
    header = {"format": "agents-memory/conversation", "version": 1, "session": path.stem}
    turn = {"id": "1", "role": "user", "text": text} | ({"at": at} if at else {})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(header | {'platform': 'codex'})}\n{json.dumps(turn)}\n")


def test_folders_are_searched_and_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "er" / "b.jsonl", None)
    write(tmp_path / "a.jsonl", None)
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    found = find_files([tmp_path / "a.jsonl", tmp_path])
    assert found == [tmp_path / "a.jsonl", tmp_path / "deep" / "er" / "b.jsonl"]


def test_the_earliest_conversation_comes_first_and_undated_ones_last(tmp_path: Path) -> None:
    """Ids follow the time of what was said."""
    write(tmp_path / "a.jsonl", "2026-11-02T10:00:00Z")
    write(tmp_path / "b.jsonl", None)
    write(tmp_path / "c.jsonl", "2026-11-01T23:30:00-05:00")
    write(tmp_path / "d.jsonl", "2026-11-01T10:00:00Z")
    usable, report = survey(find_files([tmp_path]))
    assert [path.stem for path in usable] == ["d", "c", "a", "b"]
    assert (report.files, report.found, report.problems) == (4, 4, [])


def test_lines_that_are_no_turns_are_counted_as_refused(tmp_path: Path) -> None:
    """A1: count in = stored + refused, whatever the complaint; an unknown time refuses nothing."""
    write(tmp_path / "a.jsonl", "yesterday")
    with open(tmp_path / "a.jsonl", "a") as file:
        file.write('not JSON\n[1]\n{"id": "1", "role": "user", "text": "twice"}\n')
        file.write('{"id": "2", "role": "nobody", "text": "x"}\n\n')
    usable, report = survey(find_files([tmp_path]))
    rehearse(usable, report)
    assert (report.found, report.refused, len(report.problems)) == (5, 4, 5)
    assert "1 messages would be stored" in summarise(report, dry_run=True)
    assert "4 refused" in summarise(report)


def test_a_rehearsal_counts_secrets_and_refusals(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", None, "the key is ghp_7Qm2VxHarborFakeT0kenZ9sLw4Rk8YbNc3D")
    write(tmp_path / "b.jsonl", None, "\u200b")
    usable, report = survey(find_files([tmp_path]))
    rehearse(usable, report)
    assert (report.found, report.refused) == (2, 1)
    assert sum(report.redacted.values()) == 1
    assert summarise(report, dry_run=True).startswith("2 files: 1 messages would be stored")
