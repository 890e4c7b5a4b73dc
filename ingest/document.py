"""One file that is a JSON value and is written anew each time: its turns, once each."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import cast

from ingest.batch import Batch
from ingest.beside import Beside, opened
from ingest.cursor import Cursor
from ingest.finding import Found
from ingest.records import Dropped, Record, Tally
from ingest.transcripts.protocol import Client, DocumentReader, Window

# Without a change for so long an entry counts as finished, whatever it says.
RESTED = timedelta(seconds=30)
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024


class Document:
    """Reads the file anew whenever it is asked; see `ingest.batch.Transcript`.

    A file that is half written is as if it were not there, until it has long been quiet.
    """

    def __init__(
        self,
        root: Path,
        found: Found,
        client: Client,
        *,
        now: Callable[[], datetime],
        since: datetime | None,
        tally: Tally,
    ) -> None:
        self._path = root / found.path
        self._now = now
        self._since = since
        self._tally = tally
        beside = Beside(root, PurePath(found.path))
        self._reader = cast(DocumentReader, client.reader(found.facts, beside))
        self._reader.tally = tally
        self._half = False
        self.withdrawn: set[str] = set()

    @property
    def waiting(self) -> bool:
        return self._half or self._reader.waiting

    def read(self, *, quiet: bool = False) -> Batch:
        with opened(self._path) as file:
            stat = os.fstat(file.fileno())
            data = file.read(MAX_DOCUMENT_BYTES + 1)
        cursor = Cursor(stat.st_ino, stat.st_dev, stat.st_size, stat.st_mtime_ns)
        records: list[Record] = []
        self._half = False
        if len(data) > MAX_DOCUMENT_BYTES:
            self._tally[Dropped.TOO_LONG] += 1
        else:
            try:
                document = json.loads(data.decode("utf-8-sig", "replace"))
            except (ValueError, RecursionError):
                self._half = not quiet
                self._tally[Dropped.BROKEN] += quiet
            else:
                rested = datetime.max.replace(tzinfo=UTC) if quiet else self._now() - RESTED
                records += self._reader.turns(document, Window(rested, self._since))
        kept = wanted(records, self._since, self._tally)
        return Batch(kept, cursor, bool(kept), more=False)


def wanted(records: list[Record], since: datetime | None, tally: Tally) -> tuple[Record, ...]:
    """Without what was said before `since`, or who knows when."""
    if since is None:
        return tuple(records)
    kept = tuple(r for r in records if r.occurred_at is not None and r.occurred_at >= since)
    tally[Dropped.BEFORE_CAPTURE] += len(records) - len(kept)
    return kept
