"""One SQLite file that its client may be writing: its turns, once each, and no harm done to it."""

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import cast
from urllib.parse import quote

from ingest.batch import Batch
from ingest.beside import Beside, opened
from ingest.cursor import Cursor
from ingest.document import RESTED, wanted
from ingest.finding import Found
from ingest.records import Record, Tally
from ingest.transcripts.protocol import Client, DatabaseReader, Window

# A client writes a long turn down at its end, with the times at which its parts were said.
LATE = timedelta(hours=24)
BUSY_S = 1.0
LIMIT_S = 60.0
MAX_VALUE_BYTES = 32 * 1024 * 1024
_STEPS = 100_000
_HEADER_BYTES = 20
_WAL = 2


class Rows:
    """Reads one conversation at a time; see `ingest.batch.Transcript`.

    A table or column that a release lacks or renamed is an OSError that names it.
    """

    def __init__(
        self,
        root: Path,
        found: Found,
        client: Client,
        *,
        now: Callable[[], datetime],
        cursor: Cursor | None,
        since: datetime | None,
        tally: Tally,
    ) -> None:
        self._path = root / found.path
        self._now = now
        self._since = since
        self._tally = tally
        beside = Beside(root, PurePath(found.path))
        self._reader = cast(DatabaseReader, client.reader(found.facts, beside))
        self._reader.tally = tally
        self._changed = since
        if cursor is not None and cursor.inode == found.signature[0]:
            read_until = datetime.fromtimestamp(cursor.copied / 1e9, UTC) - LATE
            self._changed = read_until if since is None else max(since - LATE, read_until)
        self._before: Cursor | None = None
        self._left: list[str] = []
        self.withdrawn: set[str] = set()
        self._waiting = False

    @property
    def waiting(self) -> bool:
        return self._waiting

    def read(self, *, quiet: bool = False) -> Batch:
        window = Window(
            datetime.max.replace(tzinfo=UTC) if quiet else self._now() - RESTED,
            self._since,
            self._changed,
        )
        records: list[Record] = []
        with opened_database(self._path) as database:
            if self._before is None:
                # What changes after this is found the next time.
                self._before = _state(self._path)
                self._waiting = False
                self._left = self._reader.sessions(database, window)[::-1]
            if self._left:
                session = self._left[-1]
                self._reader.waiting = False
                records += self._reader.turns(database, session, window)
                self._waiting |= self._reader.waiting
        if self._left:
            self._left.pop()
        cursor, more = self._before, bool(self._left)
        if not more:
            self._before = None
            read_until = datetime.fromtimestamp(cursor.copied / 1e9, UTC) - LATE
            if self._changed is not None and not self._waiting:
                self._changed = max(self._changed, read_until)
        kept = wanted(records, self._since, self._tally)
        return Batch(kept, cursor, bool(kept), more)


@contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads and leaves the folder as it is.

    SQLite itself would create a log and its index beside a database that is in WAL mode but not
    open. Where nobody has it open it is read as it lies, and what was read counts only if nothing
    changed meanwhile; a log that a crash left behind is read in a private copy. Raises OSError:
    the database is busy, damaged, changed meanwhile, or no database.
    """
    with ExitStack() as stack:
        stack.enter_context(_no_errors_of_sqlite())
        how = "mode=ro"
        if _has_log(path):
            if not _exists(path, "-wal"):
                how = "immutable=1"
                stack.callback(_must_be, path, _state(path))
            elif not _exists(path, "-shm"):
                how = "mode=rw"
                path = _copied(path, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        yield stack.enter_context(_connected(path, how))


@contextmanager
def _no_errors_of_sqlite() -> Iterator[None]:
    try:
        yield
    # A damaged schema makes SQLite say what Python cannot decode.
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise OSError(str(error)) from error


@contextmanager
def _connected(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(os.fsencode(path))}?{how}"
    deadline = time.monotonic() + LIMIT_S
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        # A view or a loop in a foreign file must not hold us up for ever.
        database.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        yield database


def _has_log(path: Path) -> bool:
    """Whether it is in WAL mode, as its header says. https://www.sqlite.org/fileformat.html"""
    with opened(path) as file:
        header = file.read(_HEADER_BYTES)
    return len(header) == _HEADER_BYTES and _WAL in header[18:20]


def _exists(path: Path, end: str) -> bool:
    return path.with_name(path.name + end).exists()


def _copied(path: Path, folder: Path) -> Path:
    copy = folder / "copy.db"
    for end in ("", "-wal"):
        with (
            opened(path.with_name(path.name + end)) as whole,
            open(copy.with_name(copy.name + end), "wb") as private,
        ):
            shutil.copyfileobj(whole, private)
    return copy


def _state(path: Path) -> Cursor:
    """Inode, size and last change, as the finder sees them: of the database and its log."""
    main = path.lstat()
    if not stat.S_ISREG(main.st_mode):
        raise OSError("no regular file")
    size, changed = main.st_size, main.st_mtime_ns
    with suppress(FileNotFoundError):
        log = path.with_name(f"{path.name}-wal").lstat()
        size, changed = size + log.st_size, max(changed, log.st_mtime_ns)
    return Cursor(main.st_ino, main.st_dev, size, changed)


def _must_be(path: Path, before: Cursor) -> None:
    if _state(path) != before:
        raise OSError("it changed while it was read")
