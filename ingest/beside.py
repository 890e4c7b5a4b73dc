"""What lies beside a transcript and says more about it: read with care, and never followed out."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, BinaryIO

MOST_BYTES = 4 * 1024 * 1024
_LONGEST_HEAD = 1024 * 1024
_MOST_NAMES = 100_000


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading; a link is not followed. Raises OSError."""
    # Not blocking: a pipe in the place of a file would hold us up for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("no regular file")
    return open(descriptor, "rb")


class Beside:
    """The neighbourhood of one transcript; all paths are below the root.

    What is missing, unreadable, too large, no UTF-8 or reached by a link is as if it were not
    there.
    """

    def __init__(self, root: Path, path: PurePath) -> None:
        self._root = root
        self.path = path

    def text(self, path: PurePath) -> str | None:
        """A small text file, at most 4 MiB of it."""
        place = self._place(path)
        if place is None:
            return None
        try:
            with opened(place) as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            return None

    def document(self, path: PurePath) -> Any:
        """The JSON value of a small file."""
        text = self.text(path)
        try:
            return None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None

    def names(self, folder: PurePath) -> list[str]:
        """What a folder holds, sorted by name."""
        place = self._place(folder)
        try:
            return [] if place is None else sorted(os.listdir(place))[:_MOST_NAMES]
        except (OSError, ValueError):
            return []

    def head(self) -> bytes:
        """The first line of the transcript itself, if it is whole and at most 1 MiB."""
        place = self._place(self.path)
        if place is None:
            return b""
        try:
            with opened(place) as file:
                line = file.readline(_LONGEST_HEAD)
        except (OSError, ValueError):
            return b""
        return line if line.endswith(b"\n") else b""

    def lines(self, path: PurePath) -> Iterator[bytes]:
        """The lines of a file of any size, each at most 1 MiB; longer ones in pieces."""
        place = self._place(path)
        if place is None:
            return
        try:
            with opened(place) as file:
                while line := file.readline(_LONGEST_HEAD):
                    yield line
        except (OSError, ValueError):
            return

    def ending(self, *ends: str) -> PurePath | None:
        """A file below the root whose name ends so, the first that is found."""
        for folder, _, names in os.walk(self._root):
            for name in names:
                if name.endswith(ends):
                    return PurePath(folder, name).relative_to(self._root)
        return None

    def _place(self, path: PurePath) -> Path | None:
        place = self._root / path
        try:
            inside = os.path.realpath(place) == str(place)
        except (OSError, ValueError):
            return None
        return place if inside and ".." not in path.parts and not path.is_absolute() else None
