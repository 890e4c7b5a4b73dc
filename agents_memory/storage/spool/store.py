"""The spool of one pool on one machine: appended to by many processes, drained by one at a time."""

import heapq
import json
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from uuid import uuid4

from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.settings import Settings
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import find_place, make_base
from agents_memory.storage.spool.folder import SUFFIX, folder_of, mark_of, pool_of
from agents_memory.storage.spool.frames import Piece, frame, scan
from agents_memory.storage.spool.record import Waiting, from_bytes, to_bytes
from agents_memory.storage.spool.segment import ASIDE, Segment, sync_folder

ABOUT = "about.json"
# A file is read as a whole, and begun anew when it has grown to this.
SEGMENT_BYTES = 4 * 2**20


class SpoolFull(MemoryFault):
    """The spool holds as much as it may; nothing was added."""


class SpoolUnusable(MemoryFault):
    """The turn cannot be kept on this machine; nothing was added."""


@dataclass(slots=True)
class Entry:
    """A piece of a segment: a turn that waits, or (None) what is none."""

    segment: Segment
    piece: Piece
    waiting: Waiting | None
    order: int

    def settle(self) -> None:
        """It is committed elsewhere, or of no use."""
        self.segment.done = self.piece.end

    def set_aside(self) -> None:
        """It can never be stored; kept for the owner. Raises OSError."""
        self.segment.set_aside(self.piece)
        self.settle()


@dataclass(frozen=True, slots=True)
class Census:
    """What waits in a spool: turns, since when, bytes in all; and what was set aside."""

    queued: int = 0
    oldest: datetime | None = None
    size: int = 0
    aside: tuple[Path, ...] = ()


@dataclass(slots=True)
class Spool:
    """The files below `data_dir` for the pool `pool` (its address and schema, without secrets).

    Safe to use from several threads. `limit_bytes` bounds all files of the pool together; two
    processes that append at the same moment may pass it by one turn each.
    """

    data_dir: Path
    pool: str
    limit_bytes: int
    folder: Path = field(init=False)
    _mark: str = field(init=False)
    _writer: str = field(init=False)
    _number: int = 0
    _current: Segment | None = None
    _sealed: list[Segment] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._mark = mark_of(self.pool)
        self.folder = folder_of(self.data_dir, self.pool)
        self._writer = f"{os.getpid()}-{uuid4().hex[:12]}"

    @property
    def pending(self) -> bool:
        """Whether turns of this process wait."""
        return self._current is not None or bool(self._sealed)

    def append(self, waiting: Waiting) -> None:
        """Returns when the turn is on disk.

        Raises SpoolFull and SpoolUnusable; the turn is not kept then.
        """
        data = frame(to_bytes(waiting, self._mark))
        try:
            with self._guard:
                self._make_folder()
                if self._size() + len(data) > self.limit_bytes:
                    raise SpoolFull(
                        f"{self.limit_bytes // 2**20} MiB of turns wait in {self.folder} already "
                        "(SPOOL_MAX_MB)"
                    )
                self._write(data)
        except (OSError, ConfigurationError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SpoolUnusable(f"{self.folder} cannot be written to ({reason})") from error

    def has_any(self) -> bool:
        """Whether anything may wait here, of whatever process."""
        return self.pending or bool(self._paths(SUFFIX))

    @contextmanager
    def drain(self) -> Iterator[Iterator[Entry] | None]:
        """For the length of the block all that waits, but what living processes hold.

        Each writer's turns come in their order, those of several by time. None while another
        process drains. Files whose last entry was settled are removed at the end, the others stay.
        Raises OSError and ConfigurationError for a folder that cannot be used.
        """
        if not self.has_any():
            yield iter(())
            return
        with FileLock(self.folder / "drain.lock") as lock:
            if not lock.own():
                yield None
                return
            with self._guard:
                if self._current is not None:
                    self._sealed.append(self._current)
                    self._current = None
                mine = list(self._sealed)
            others = self._orphans({segment.path for segment in mine})
            try:
                yield self._merged([*mine, *others])
            finally:
                for segment in mine:
                    if segment.settled:
                        segment.remove()
                        with self._guard:
                            self._sealed.remove(segment)
                for segment in others:
                    segment.remove() if segment.settled else segment.close()

    def census(self) -> Census:
        """Counts what lies here, held or not; touches nothing."""
        queued, size, oldest = 0, 0, None
        for path in self._paths(SUFFIX):
            try:
                data = path.read_bytes()
            except OSError:
                # Drained in between.
                continue
            size += len(data)
            for piece in scan(data):
                if piece.payload is None:
                    continue
                queued += 1
                with suppress(ValueError):
                    at = from_bytes(piece.payload, self._mark).turn.at
                    oldest = at if oldest is None else min(at, oldest)
        return Census(queued, oldest, size, tuple(self._paths(ASIDE)))

    def strangers(self) -> list[str]:
        """The pools whose turns wait on this machine beside this one, as they were named."""
        found = []
        for folder in sorted(self.folder.parent.glob("*")):
            if folder != self.folder and any(folder.glob(f"*{SUFFIX}")):
                found.append(_about(folder))
        return found

    def close(self) -> None:
        """Leaves what waits to others; a later append begins anew."""
        with self._guard:
            held = [*self._sealed, *([self._current] if self._current else [])]
            self._sealed, self._current = [], None
            for segment in held:
                segment.close()

    def _write(self, data: bytes) -> None:
        segment = self._open()
        try:
            segment.append(data)
        except OSError:
            if not segment.size:
                # A full disk took the name of the file and none of the turn: nothing waits.
                self._current = None
                segment.remove()
            raise

    def _open(self) -> Segment:
        if self._current is not None and self._current.size >= SEGMENT_BYTES:
            self._sealed.append(self._current)
            self._current = None
        while self._current is None:
            self._number += 1
            path = self.folder / f"{self._writer}-{self._number:06d}{SUFFIX}"
            self._current = Segment.create(path)
        return self._current

    def _make_folder(self) -> None:
        if self._current is not None:
            return
        make_base(find_place(self.data_dir))
        for folder in (self.folder.parent, self.folder):
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                sync_folder(folder.parent)
            found = folder.lstat()
            if (
                not stat.S_ISDIR(found.st_mode)
                or found.st_uid != os.geteuid()
                or found.st_mode & 0o077
            ):
                raise ConfigurationError(
                    f"{folder} is not a private folder of this account; find out who made it, and "
                    "remove it"
                )
        about = self.folder / ABOUT
        if not about.exists():
            with open(os.open(about, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump({"pool": self.pool}, file)

    def _size(self) -> int:
        total = 0
        for path in (*self._paths(SUFFIX), *self._paths(ASIDE)):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
        return total

    def _paths(self, suffix: str) -> list[Path]:
        return sorted(self.folder.glob(f"*{suffix}"))

    def _orphans(self, held: set[Path]) -> list[Segment]:
        claimed = []
        for path in self._paths(SUFFIX):
            if path not in held and (segment := Segment.claim(path)) is not None:
                claimed.append(segment)
        return claimed

    def _merged(self, segments: Iterable[Segment]) -> Iterator[Entry]:
        by_writer = sorted(segments, key=lambda segment: segment.path.name)
        streams = [
            # One file of a writer at a time is in memory.
            self._entries(list(files))
            for _, files in groupby(by_writer, key=lambda segment: segment.writer)
        ]
        return heapq.merge(*streams, key=lambda entry: entry.order)

    def _entries(self, segments: Iterable[Segment]) -> Iterator[Entry]:
        order = 0
        for segment in segments:
            for piece in segment.pieces():
                waiting = None
                with suppress(ValueError):
                    if piece.payload is not None:
                        waiting = from_bytes(piece.payload, self._mark)
                        order = waiting.turn.intake_id.int
                yield Entry(segment, piece, waiting, order)


def spool_of(settings: Settings) -> Spool:
    """The spool of the pool that the settings name; touches nothing."""
    return Spool(settings.data_dir, pool_of(settings), settings.spool_max_mb * 2**20)


def _about(folder: Path) -> str:
    try:
        return str(json.loads((folder / ABOUT).read_bytes())["pool"])
    except (OSError, ValueError, KeyError, TypeError):
        return folder.name
