"""Reading a database that somebody else is writing: no harm done, nothing left behind."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingest import database as module
from ingest.database import opened_database
from tests.fixtures.transcripts.stores import STORES
from tests.fixtures.transcripts.talk import SAID, Turn
from tests.fixtures.transcripts.whole_stores import hermes_row
from tests.unit.ingest.reading import everything, of_session, texts, words

HERMES = STORES["hermes"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    HERMES.write(tmp_path)
    return tmp_path / "state.db"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    """The client itself, in the middle of writing: its log is not yet in the database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as client:
        client.execute("PRAGMA journal_mode = WAL")
        client.execute("PRAGMA wal_autocheckpoint = 0")
        client.execute(*hermes_row("20261120_080000_aa", Turn("user", "In the log.", 80)))
        yield client


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def state(path: Path) -> list[tuple[str, int, bytes]]:
    return [
        (name, (path.parent / name).stat().st_mtime_ns, (path.parent / name).read_bytes())
        for name in names(path)
        if not name.endswith("-shm")
    ]


def said(path: Path) -> list[str]:
    return texts(list(of_session(HERMES, everything(HERMES, path.parent))))


def test_a_live_database_is_read_with_its_log_and_nothing_happens_to_it(
    path: Path, writer: sqlite3.Connection
) -> None:
    """F74: a transaction is open while it is read; afterwards all is as it was."""
    writer.execute("BEGIN IMMEDIATE")
    writer.execute(*hermes_row("20261120_080000_aa", Turn("user", "Not committed.", 81)))
    before = state(path)
    assert said(path) == [*(text for _, text in SAID), "In the log."]
    assert state(path) == before
    writer.execute("COMMIT")
    assert writer.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert path.with_name("state.db-wal").stat().st_size > 0
    assert said(path)[-1] == "Not committed."


def test_beside_a_closed_database_no_log_is_made(path: Path) -> None:
    with closing(sqlite3.connect(path)) as client:
        client.execute("PRAGMA journal_mode = WAL")
    before = state(path)
    assert words(list(of_session(HERMES, everything(HERMES, path.parent)))) == SAID
    assert state(path) == before
    assert names(path) == ["state.db"]


def test_a_log_that_a_crash_left_is_read_in_a_copy(
    path: Path, writer: sqlite3.Connection, tmp_path: Path
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("state.db", "state.db-wal"):
        shutil.copy(path.parent / name, crashed / name)
    before = state(crashed / "state.db")
    assert said(crashed / "state.db")[-1] == "In the log."
    assert state(crashed / "state.db") == before


def test_a_read_only_folder_is_enough(path: Path) -> None:
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert words(list(of_session(HERMES, everything(HERMES, path.parent)))) == SAID
    finally:
        path.parent.chmod(0o700)


def test_a_database_that_changes_while_it_is_read_counts_for_nothing(path: Path) -> None:
    with closing(sqlite3.connect(path)) as client:
        client.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(OSError, match="changed while"), opened_database(path):
        os.utime(path, ns=(1, 1))


def test_a_locked_database_is_a_problem_for_now(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_S", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as client:
        client.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="locked"), opened_database(path) as database:
            database.execute("SELECT * FROM messages").fetchone()
        client.execute("ROLLBACK")
    assert words(list(of_session(HERMES, everything(HERMES, path.parent)))) == SAID


def test_nothing_can_be_written(path: Path) -> None:
    for statement in ("DELETE FROM messages", "PRAGMA user_version = 7", "CREATE TABLE t (x)"):
        with pytest.raises(OSError, match="readonly"), opened_database(path) as database:
            database.execute(statement)


def test_a_table_without_end_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as client:
        client.execute("ALTER TABLE messages RENAME TO old")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        client.execute(f"CREATE VIEW messages AS {endless} SELECT i AS id FROM n")
    monkeypatch.setattr(module, "LIMIT_S", 0.0)
    with pytest.raises(OSError, match="interrupted"), opened_database(path) as database:
        database.execute("SELECT max(id) FROM messages").fetchone()


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "link"])
def test_what_is_no_regular_file_is_not_opened(path: Path, kind: str) -> None:
    real = path.rename(path.with_name("real"))
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(real)
    with pytest.raises(OSError), opened_database(path):  # noqa: PT011 (depends on the system)
        pass


def test_a_name_of_any_bytes_is_opened(path: Path) -> None:
    odd = path.rename(path.with_name("st\udcffate ?#%41.db"))
    with opened_database(odd) as database:
        assert database.execute("SELECT count(*) FROM sessions").fetchone() == (2,)
