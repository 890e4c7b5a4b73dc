"""One file that grows: its whole lines, read once each, as records."""

import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from ingest.batch import Batch
from ingest.beside import Beside, opened
from ingest.cursor import Cursor
from ingest.records import Dropped, Record, Tally
from ingest.transcripts.protocol import Client, FileFacts, Reader

MAX_LINE_BYTES = 32 * 1024 * 1024
# Read at a time, so that one file holds up neither the others nor the stop.
BATCH_BYTES = 4 * 1024 * 1024
_SKIPPED_AT_A_TIME = 1024 * 1024
_NOTHING = b" \t\r\n\0"
# A new file may begin with copies of old lines; about a minute the clocks need not agree.
_SLACK = timedelta(minutes=1)


class Tail:
    """Follows one file from `cursor`, or from its beginning.

    `since` leaves out turns said before it where a file is read from its beginning: a resumed
    session may begin with a copy of an old one. What is left out is counted in `tally`. After an
    exception the tail must be made anew.
    """

    def __init__(
        self,
        root: Path,
        path: str,
        client: Client,
        facts: FileFacts,
        *,
        cursor: Cursor | None = None,
        since: datetime | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._beside = Beside(root, PurePath(path))
        self._path = root / path
        self._client = client
        self._facts = facts
        self._since = since
        self.tally = Tally() if tally is None else tally
        self._reader: Reader
        # Where what is read ends: a line begins there, and nothing up to `_scanned` ends it.
        self._at: Cursor | None
        self._line: int
        self._scanned: int
        self._long: bool
        self._unfinished: bool
        self._copied: int
        self._begun: int
        self._past: bool
        self._begin(cursor)

    @property
    def waiting(self) -> bool:
        """Whether something is held back until more is known, or until it is quiet for long."""
        return self._reader.waiting or self._unfinished

    @property
    def withdrawn(self) -> set[str]:
        """The ids of records that the client took back after they were given out."""
        return self._reader.withdrawn

    def read(self, *, quiet: bool = False, limit: int = BATCH_BYTES) -> Batch:
        """What is new, about `limit` bytes of it; `quiet`: nothing was written for long.

        Raises OSError when the file is gone, unreadable, or no regular file.
        """
        with opened(self._path) as file:
            if self._at is not None and not self._at.fits(file):
                self._begin(None)
            size = os.fstat(file.fileno()).st_size
            if self._at is None:
                self._copied = size
            until, grew = self._scanned + limit, False
            records: list[Record] = []
            for start, line in self._lines(file, until):
                grew = True
                records += self._feed(start, line)
            more = self._scanned >= until
            if not more:
                self._forget_what_was_before(self._line)
                if quiet and not self._long:
                    records += self._last(file)
                if not grew:
                    records += self._new(self._reader.settle(quiet=quiet), self._line)
            self._unfinished = size > self._line and not quiet
            self._at = Cursor.take(file, self._line, self._copied, self._begun)
            held = self._reader.held
            offset = self._line if held is None else min(held, self._line)
            kept = tuple(r for r in records if r.native_id not in self._reader.withdrawn)
            cursor = Cursor.take(file, offset, self._copied, self._begun)
            return Batch(kept, cursor, grew, more)

    def _begin(self, cursor: Cursor | None) -> None:
        self._reader = cast(Reader, self._client.reader(self._facts, self._beside))
        # The reader's own count goes on over all files.
        self._reader.tally = self.tally
        self._at = cursor
        self._line = self._scanned = 0 if cursor is None else cursor.offset
        self._copied = 0 if cursor is None else cursor.copied
        self._begun = 0 if cursor is None else cursor.begun
        self._past = self._begun == 0
        self._long = False
        self._unfinished = False

    def _lines(self, file: BinaryIO, until: int) -> Iterator[tuple[int, bytes | None]]:
        """Whole lines with the byte they begin at; None for one that is too long to be read."""
        file.seek(self._scanned)
        while self._scanned < until:
            # Only a line feed ends a line: other separators stand inside of strings.
            limit = _SKIPPED_AT_A_TIME if self._long else MAX_LINE_BYTES + 1
            data = file.readline(limit)
            if data.endswith(b"\n"):
                start, long = self._line, self._long
                self._line = self._scanned = self._scanned + len(data)
                self._long = False
                yield start, None if long else data
            elif self._long or len(data) == limit:
                self._long = True
                self._scanned += len(data)
                if not data:
                    return
            else:
                return

    def _forget_what_was_before(self, start: int) -> None:
        """Closes what was said before capture began, so that nothing later gives it out."""
        if start >= self._begun and not self._past:
            self._past = True
            self.tally[Dropped.BEFORE_CAPTURE] += len(self._reader.settle(quiet=True))

    def _feed(self, start: int, line: bytes | None) -> list[Record]:
        self._forget_what_was_before(start)
        if line is None:
            self.tally[Dropped.TOO_LONG] += 1
            return []
        return self._new(self._reader.feed(line, start), start)

    def _last(self, file: BinaryIO) -> list[Record]:
        """A last line whose end never came, if it is whole all the same."""
        file.seek(self._line)
        line = file.read(MAX_LINE_BYTES)
        if not _is_whole(line):
            self.tally[Dropped.UNFINISHED] += bool(line.strip(_NOTHING))
            return []
        start = self._line
        self._line = self._scanned = start + len(line)
        return self._feed(start, line)

    def _new(self, records: list[Record], start: int) -> list[Record]:
        """Without what was said before capture began, and copies of it."""
        if start < self._begun:
            self.tally[Dropped.BEFORE_CAPTURE] += len(records)
            return []
        if self._since is None or start >= self._copied:
            return records
        begun = self._since - _SLACK
        kept = [r for r in records if r.occurred_at is None or r.occurred_at >= begun]
        self.tally[Dropped.BEFORE_CAPTURE] += len(records) - len(kept)
        return kept


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.strip(_NOTHING)), dict)
    except (ValueError, RecursionError):
        return False
