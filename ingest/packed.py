"""One file of lines that was compressed once and does not change again."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePath
from typing import IO, cast

from ingest.batch import Batch
from ingest.beside import Beside, opened
from ingest.cursor import Cursor
from ingest.document import wanted
from ingest.finding import Found
from ingest.records import Dropped, Record, Tally
from ingest.tail import MAX_LINE_BYTES
from ingest.transcripts.protocol import Client, Reader

PROGRAM = "zstd"


class Packed:
    """Unpacks it with the `zstd` program, line by line; see `ingest.batch.Transcript`."""

    waiting = False

    def __init__(
        self, root: Path, found: Found, client: Client, *, since: datetime | None, tally: Tally
    ) -> None:
        self._path = root / found.path
        self._since = since
        self._tally = tally
        self._reader = cast(Reader, client.reader(found.facts, Beside(root, PurePath(found.path))))
        self._reader.tally = tally

    @property
    def withdrawn(self) -> set[str]:
        return self._reader.withdrawn

    def read(self, *, quiet: bool = False) -> Batch:
        records: list[Record] = []
        with opened(self._path) as file:
            stat = os.fstat(file.fileno())
            start = 0
            with _unpacked(file) as lines:
                while line := lines.readline(MAX_LINE_BYTES + 1):
                    if line.endswith(b"\n"):
                        records += self._reader.feed(line, start)
                    elif len(line) > MAX_LINE_BYTES:
                        self._tally[Dropped.TOO_LONG] += 1
                    start += len(line)
        records += self._reader.settle(quiet=True)
        kept = wanted(
            [r for r in records if r.native_id not in self.withdrawn], self._since, self._tally
        )
        cursor = Cursor(stat.st_ino, stat.st_dev, stat.st_size, stat.st_mtime_ns)
        return Batch(kept, cursor, bool(kept), more=False)


@contextmanager
def _unpacked(packed: IO[bytes]) -> Iterator[IO[bytes]]:
    program = shutil.which(PROGRAM)
    if program is None:
        raise OSError(f"it is compressed; install the program {PROGRAM} to have it read")
    process = subprocess.Popen(
        [program, "-dcq"],
        stdin=packed,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
    )
    assert process.stdout is not None
    try:
        yield process.stdout
        if process.wait() not in (0, -signal.SIGPIPE):
            raise OSError("it is damaged: it cannot be unpacked")
    finally:
        process.stdout.close()
        process.kill()
        process.wait()
