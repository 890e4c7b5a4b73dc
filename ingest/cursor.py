"""How far each file has been read: positions that outlive the process, in one private local file.

They are kept on this machine, where the files are, and not in the database: so capture can begin,
and hold its place, while the database is away. A position moves only after what was read up to it
is committed. One that is too old costs reading, never a turn and never a second copy of one, since
turns have ids of their own.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

_VERSION = 1
_HEAD_BYTES = 1024
_TAIL_BYTES = 256
# Where the last whole line ends is looked for in steps of this size.
_STEP_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of bytes, known again by its digest."""

    length: int = 0
    digest: str = ""

    @classmethod
    def of(cls, data: bytes) -> "Mark":
        return cls(len(data), blake2b(data, digest_size=8).hexdigest()) if data else cls()

    def matches(self, data: bytes) -> bool:
        return self == Mark.of(data)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a file, and what makes sure that it is still the same file.

    `offset` is the byte to go on at; `head` marks the first bytes of what was read, `tail` the
    last. Up to the byte `copied` the file may repeat what was said before capture began, and what
    begins before `begun` certainly was. Of a document or a database, which is read as a whole,
    `offset` is the size it had, and `copied` the time of its last change in nanoseconds.
    """

    inode: int
    device: int
    offset: int
    copied: int = 0
    head: Mark = Mark()
    tail: Mark = Mark()
    begun: int = 0

    @classmethod
    def take(cls, file: BinaryIO, offset: int, copied: int = 0, begun: int = 0) -> "Cursor":
        """The cursor for an offset up to which the open file was read."""
        stat = os.fstat(file.fileno())
        head = Mark.of(_bytes(file, 0, min(offset, _HEAD_BYTES)))
        tail = Mark.of(_bytes(file, max(0, offset - _TAIL_BYTES), min(offset, _TAIL_BYTES)))
        return cls(stat.st_ino, stat.st_dev, offset, copied, head, tail, begun)

    def fits(self, file: BinaryIO) -> bool:
        """Whether the open file still holds what was read; not after rotation or truncation."""
        stat = os.fstat(file.fileno())
        return (
            (stat.st_ino, stat.st_dev) == (self.inode, self.device)
            and stat.st_size >= self.offset
            and self.head.matches(_bytes(file, 0, self.head.length))
            and self.tail.matches(_bytes(file, self.offset - self.tail.length, self.tail.length))
        )


def end_of_lines(file: BinaryIO) -> int:
    """The byte behind the last line end of an open file; what follows is still being written."""
    end = os.fstat(file.fileno()).st_size
    while end > 0:
        begin = max(0, end - _STEP_BYTES)
        found = _bytes(file, begin, end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _bytes(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


@dataclass(slots=True)
class Watch:
    """One client: where its files lie, since when they are captured, and how far, by path."""

    root: str
    since: datetime
    cursors: dict[str, Cursor] = field(default_factory=dict)


class Positions:
    """The file of all positions of this machine for one pool."""

    def __init__(self, path: Path, watches: dict[str, Watch]) -> None:
        self._path = path
        self._watches = watches
        self._changed = False

    @classmethod
    def load(cls, path: Path) -> "Positions":
        """What was saved; nothing when there is no file.

        Raises ValueError for a file that is not what was saved, OSError for an unreadable one.
        """
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                saved = json.load(file)
        except FileNotFoundError:
            return cls(path, {})
        try:
            if saved["version"] != _VERSION:
                raise ValueError("another version")
            return cls(path, {name: _watch(entry) for name, entry in saved["clients"].items()})
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError("not a file of positions") from wrong

    def watch(self, client: str) -> Watch | None:
        """The client's positions, if it was captured before."""
        return self._watches.get(client)

    def begin(self, client: str, watch: Watch) -> None:
        """A client is captured from now on."""
        self._watches[client] = watch
        self._changed = True

    def forget_all_but(self, clients: Iterable[str]) -> None:
        """Who is switched off and on again begins anew: what was said in between stays unread."""
        kept = set(clients)
        for client in [name for name in self._watches if name not in kept]:
            del self._watches[client]
            self._changed = True

    def move(self, client: str, path: str, cursor: Cursor) -> None:
        """What was read up to `cursor` is committed."""
        cursors = self._watches[client].cursors
        if cursors.get(path) != cursor:
            cursors[path] = cursor
            self._changed = True

    def drop(self, client: str, paths: Iterable[str]) -> None:
        """These files are gone."""
        for path in paths:
            self._changed |= self._watches[client].cursors.pop(path, None) is not None

    def save(self) -> None:
        """Replaces the file at once and durably, if anything changed. Raises OSError."""
        if not self._changed:
            return
        clients = {
            name: {
                "root": watch.root,
                "since": watch.since.isoformat(),
                "files": {path: _entry(cursor) for path, cursor in watch.cursors.items()},
            }
            for name, watch in self._watches.items()
        }
        new = self._path.with_name(f"{self._path.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(new, flags, 0o600), "w", encoding="ascii") as file:
            json.dump({"version": _VERSION, "clients": clients}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)
        self._changed = False


def _entry(cursor: Cursor) -> list[Any]:
    head, tail = cursor.head, cursor.tail
    return [
        *(cursor.inode, cursor.device, cursor.offset, cursor.copied),
        *(head.length, head.digest, tail.length, tail.digest, cursor.begun),
    ]


def _watch(entry: dict[str, Any]) -> Watch:
    since = datetime.fromisoformat(entry["since"])
    if since.tzinfo is None or not isinstance(entry["root"], str):
        raise ValueError("not a file of positions")
    return Watch(
        entry["root"], since, {path: _cursor(*place) for path, place in entry["files"].items()}
    )


def _cursor(
    inode: int,
    device: int,
    offset: int,
    copied: int,
    head: int,
    head_digest: str,
    tail: int,
    tail_digest: str,
    begun: int = 0,
) -> Cursor:
    numbers = (inode, device, offset, copied, head, tail, begun)
    if not all(isinstance(n, int) and n >= 0 for n in numbers) or max(head, tail) > offset:
        raise ValueError("not a file of positions")
    marks = Mark(head, head_digest), Mark(tail, tail_digest)
    return Cursor(inode, device, offset, copied, *marks, begun)
