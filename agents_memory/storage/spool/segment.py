"""One file of the spool, held alone by its lock: by the writer, or by who drains it later."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.spool.frames import Piece, scan

ASIDE = ".aside"
_PART = ".part"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Segment:
    """A file in our hands; `done` is the offset up to which everything is settled."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self.done = 0
        # Up to where the file beside this one holds what was set aside by us.
        self._aside = 0
        self._lock = lock
        self._size = os.fstat(lock.descriptor).st_size

    @classmethod
    def create(cls, path: Path) -> "Segment | None":
        """A new file, durably in its folder; None when somebody took it for a dead one's.

        Raises OSError, and ConfigurationError where files cannot be locked.
        """
        lock = FileLock(path, os.open(path, _NEW, 0o600))
        try:
            if lock.own() and lock.in_place():
                sync_folder(path.parent)
                return cls(path, lock)
        except BaseException:
            lock.close()
            with suppress(OSError):
                path.unlink()
            raise
        lock.close()
        return None

    @classmethod
    def claim(cls, path: Path) -> "Segment | None":
        """The file of a writer that is gone; None while somebody holds it, or it is gone itself."""
        lock = FileLock(path)
        if lock.own() and lock.in_place():
            return cls(path, lock)
        lock.close()
        return None

    @property
    def writer(self) -> str:
        """Whose file it is."""
        return self.path.stem.rpartition("-")[0]

    @property
    def size(self) -> int:
        return self._size

    @property
    def settled(self) -> bool:
        return self.done >= self._size

    def append(self, data: bytes) -> None:
        """Returns when `data` is on disk; raises OSError with the file as it was before."""
        descriptor, at, rest = self._lock.descriptor, self._size, memoryview(data)
        try:
            while rest:
                written = os.pwrite(descriptor, rest, at)
                at, rest = at + written, rest[written:]
            os.fsync(descriptor)
        except BaseException:
            # Where even this fails, the next turn is written over what is left of this one.
            with suppress(OSError):
                os.ftruncate(descriptor, self._size)
            raise
        self._size = at

    def pieces(self) -> Iterator[Piece]:
        """What is not settled yet."""
        data = os.pread(self._lock.descriptor, self._size - self.done, self.done)
        base = self.done
        for piece in scan(data):
            yield Piece(base + piece.start, base + piece.end, piece.payload)

    def set_aside(self, piece: Piece) -> None:
        """Keeps a piece for the owner to look at, durably, in a file beside this one.

        Once and whole, wherever a drain is killed: the next one finds the piece here again.
        Raises OSError; the file is as it was then.
        """
        data = os.pread(self._lock.descriptor, piece.end - piece.start, piece.start)
        path, part = self.path.with_suffix(ASIDE), self.path.with_suffix(_PART)
        kept = b""
        with suppress(FileNotFoundError):
            kept = path.read_bytes()
        # Pieces come in the same order each time, so that what is found is never taken for another.
        at = kept.find(data, self._aside)
        if at < 0:
            at = len(kept)
            with open(os.open(part, _ANEW, 0o600), "wb") as file:
                file.write(kept + data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        sync_folder(path.parent)
        self._aside = at + len(data)

    def remove(self) -> None:
        """All of it is committed elsewhere."""
        with suppress(OSError):
            self.path.unlink()
        self._lock.close()

    def close(self) -> None:
        """Leaves the file to whoever drains next."""
        self._lock.close()


def sync_folder(folder: Path) -> None:
    """Returns when the names in a folder are on disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
