"""Small log files beside the locks: private, and bounded however much is said."""

import contextlib
import os
import shutil
from pathlib import Path

_LIMIT = 1024 * 1024
_TAIL = 1500


def private(path: str, flags: int) -> int:
    """An opener for `open`: files only their owner can read, and no links followed."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def read_tail(path: Path) -> str:
    """The last lines of a file, at most 1,500 bytes; empty when it is missing."""
    try:
        with open(path, "rb", opener=private) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def trim(path: Path, limit: int = _LIMIT) -> None:
    """Start a log over when it has grown past `limit` bytes; the old lines go to `<name>.1`.

    It is emptied in place, because those who write to it (appending) keep it open.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_size > limit:
            shutil.copyfile(path, path.with_name(f"{path.name}.1"))
            os.truncate(path, 0)
