"""Finding transcripts: looked at, never opened, and no link followed."""

import os
from pathlib import Path

from ingest.finding import Finder
from ingest.transcripts import CLIENTS
from tests.unit.ingest.reading import CLIENT


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("{}\n")


def found(root: Path) -> list[str]:
    return [one.path for one in Finder(root, CLIENT).find()]


def test_sessions_and_sub_agents_are_found_the_longest_unchanged_first(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jsonl", "a/1/subagents/agent-x.jsonl", "b/2.jsonl", "b/notes.md", "3.jsonl")
    for age, path in enumerate(["b/2.jsonl", "a/1/subagents/agent-x.jsonl", "a/1.jsonl"]):
        os.utime(tmp_path / path, (1000 + age, 1000 + age))
    assert found(tmp_path) == ["b/2.jsonl", "a/1/subagents/agent-x.jsonl", "a/1.jsonl"]


def test_a_root_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    finder = Finder(tmp_path / "later", CLIENT)
    assert finder.find() == []
    make(tmp_path / "later", "a/1.jsonl")
    assert [one.path for one in finder.find()] == ["a/1.jsonl"]


def test_a_root_may_be_a_link_but_nothing_below_it(tmp_path: Path) -> None:
    real, outside = tmp_path / "real", tmp_path / "outside"
    make(real, "a/1.jsonl")
    make(outside, "o/9.jsonl")
    (tmp_path / "root").symlink_to(real)
    (real / "out").symlink_to(outside / "o")
    (real / "a" / "loop").symlink_to(real)
    (real / "a" / "9.jsonl").symlink_to(outside / "o" / "9.jsonl")
    assert found(tmp_path / "root") == ["a/1.jsonl"]


def test_pipes_and_folders_that_look_like_transcripts_are_left_alone(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jsonl", "a/folder.jsonl/x.txt")
    os.mkfifo(tmp_path / "a" / "pipe.jsonl")
    assert found(tmp_path) == ["a/1.jsonl"]


def test_a_file_that_grows_shrinks_or_is_replaced_has_another_signature(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jsonl")
    finder, path = Finder(tmp_path, CLIENT), tmp_path / "a" / "1.jsonl"
    signatures = [finder.find()[0].signature]
    path.write_text("{}\n{}\n")
    signatures.append(finder.find()[0].signature)
    (tmp_path / "new").write_text("{}\n{}\n")
    os.replace(tmp_path / "new", path)
    signatures.append(finder.find()[0].signature)
    assert len(set(signatures)) == 3
    assert finder.find()[0].signature == signatures[-1]


def test_names_of_any_bytes_are_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 \xff.jsonl")
    make(tmp_path, f"a b\u2028/{name}")
    assert found(tmp_path) == [f"a b\u2028/{name}"]


def test_folders_that_hold_no_transcripts_are_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "sessions/2026/11/20/x.txt", "log/rollout.jsonl", "sessions/notes.md")
    (tmp_path / "log").chmod(0)
    finder = Finder(tmp_path, CLIENTS["codex"])
    try:
        assert finder.find() == []
    finally:
        (tmp_path / "log").chmod(0o700)
    assert finder.unreadable == set()


def test_a_database_changes_with_its_log_and_what_is_told_elsewhere_comes_last(
    tmp_path: Path,
) -> None:
    old = "storage/message/ses/msg.json"
    make(tmp_path, "opencode.db", old)
    os.utime(tmp_path / old, (1, 1))
    finder = Finder(tmp_path, CLIENTS["opencode"])
    before = finder.find()
    assert [one.path for one in before] == ["opencode.db", old]
    make(tmp_path, "opencode.db-wal")
    after = finder.find()
    assert [one.path for one in after] == ["opencode.db", old]
    assert after[0].signature != before[0].signature


def test_single_paths_are_found_as_all_are(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jsonl", "a/1/subagents/agent-x.jsonl", "a/notes.md", "b/2.jsonl")
    finder = Finder(tmp_path, CLIENT)
    everything = {one.path: one for one in finder.find()}
    assert finder.find_at(["a/1.jsonl"]) == [everything["a/1.jsonl"]]
    assert finder.find_at(["a/notes.md", "c", "c/3.jsonl", "a/4.jsonl"]) == []
    below = {one.path for one in finder.find_at(["a", "a/1/subagents"])}
    assert below == {"a/1.jsonl", "a/1/subagents/agent-x.jsonl"}
    assert {one.path: one for one in finder.find_at([""])} == everything


def test_below_a_folder_that_is_new_everything_is_found(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jsonl")
    finder = Finder(tmp_path, CLIENT)
    finder.find()
    assert finder.take_entered() == {"", "a"}
    make(tmp_path, "b/2.jsonl", "b/2/subagents/agent-x.jsonl")
    # Told of one file, since its folders came before anybody could hear of them.
    found = {one.path for one in finder.find_at(["b/2/subagents/agent-x.jsonl"])}
    assert found == {"b/2.jsonl", "b/2/subagents/agent-x.jsonl"}
    assert finder.take_entered() == {"b", "b/2", "b/2/subagents"}
    assert finder.take_entered() == set()


def settled(root: Path) -> None:
    """Nothing in these folders changed lately."""
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        os.utime(folder, (1, 1))


def test_what_is_new_is_found_without_looking_into_folders_that_did_not_change(
    tmp_path: Path,
) -> None:
    make(tmp_path, "a/1.jsonl", "a/1/subagents/agent-x.jsonl", "b/2.jsonl", "c/3.jsonl")
    settled(tmp_path)
    finder = Finder(tmp_path, CLIENT)
    finder.find()
    finder.take_entered()
    assert not finder.has_new()
    assert finder.find_new() == []
    make(tmp_path, "b/4.jsonl", "d/5.jsonl", "d/5/subagents/agent-y.jsonl")
    (tmp_path / "c" / "3.jsonl").unlink()
    assert finder.has_new()
    assert {one.path for one in finder.find_new()} == {
        *("b/2.jsonl", "b/4.jsonl", "d/5.jsonl", "d/5/subagents/agent-y.jsonl")
    }
    assert finder.take_entered() == {"", "b", "c", "d", "d/5", "d/5/subagents"}
    settled(tmp_path)
    finder.find_new()
    assert not finder.has_new()


def test_a_folder_that_changed_a_moment_ago_may_change_again_at_the_same_time(
    tmp_path: Path,
) -> None:
    """Two files that came within one tick of the file system's clock."""
    make(tmp_path, "a/1.jsonl")
    finder = Finder(tmp_path, CLIENT)
    finder.find()
    before = (tmp_path / "a").stat().st_mtime_ns
    make(tmp_path, "a/2.jsonl")
    os.utime(tmp_path / "a", ns=(before, before))
    assert {one.path for one in finder.find_new()} == {"a/1.jsonl", "a/2.jsonl"}


def test_a_folder_that_is_gone_or_a_root_that_never_was_is_nothing_new(tmp_path: Path) -> None:
    make(tmp_path, "a/b/1.jsonl")
    settled(tmp_path)
    finder, nowhere = Finder(tmp_path, CLIENT), Finder(tmp_path / "nowhere", CLIENT)
    finder.find()
    nowhere.find()
    (tmp_path / "a" / "b" / "1.jsonl").unlink()
    (tmp_path / "a" / "b").rmdir()
    assert finder.find_new() == []
    assert not nowhere.has_new()


def test_single_paths_that_are_links_pipes_or_not_entered_are_left_alone(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make(root, "a/1.jsonl", "log/rollout-2026-11-20T08-00-00-x.jsonl")
    make(outside, "9.jsonl")
    finder = Finder(root, CLIENT)
    finder.find()
    (root / "a" / "9.jsonl").symlink_to(outside / "9.jsonl")
    (root / "out").symlink_to(outside)
    os.mkfifo(root / "a" / "pipe.jsonl")
    assert finder.find_at(["a/9.jsonl", "out", "out/9.jsonl", "a/pipe.jsonl"]) == []
    codex = Finder(root, CLIENTS["codex"])
    codex.find()
    assert codex.find_at(["log", "log/rollout-2026-11-20T08-00-00-x.jsonl"]) == []
    assert codex.take_entered() == {""}


def test_a_database_found_again_has_changed_with_its_log(tmp_path: Path) -> None:
    make(tmp_path, "opencode.db", "opencode.db-wal")
    finder = Finder(tmp_path, CLIENTS["opencode"])
    before = finder.find()
    assert finder.find_again(before) == before == finder.find_at(["opencode.db"])
    (tmp_path / "opencode.db-wal").write_text("more")
    [after] = finder.find_again(before)
    assert after.signature != before[0].signature
    assert finder.find_at(["opencode.db"]) == [after]
