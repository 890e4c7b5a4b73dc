"""Whole-file locks; the kernel drops them when their last holder dies, however it dies."""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from agents_memory.domain.errors import ConfigurationError

if sys.platform != "win32":
    import fcntl


class FileLock:
    """An open lock file. Locks are tried once, without waiting, unless said.

    The lock belongs to the open file, not to the process: a child that inherits the descriptor
    holds it too, and it is free when the last of them is gone. Lock files are never deleted.
    """

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        """Open `path`, or take over an inherited `descriptor` of it.

        Raises ConfigurationError when the file cannot be opened.
        """
        self.path = path
        if descriptor is None:
            try:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                descriptor = os.open(path, flags, 0o600)
            except OSError as error:
                raise ConfigurationError(
                    f"Cannot open the lock file {path} ({error.strerror}). Give its directory back "
                    "to the user who runs this program, or choose another data directory."
                ) from error
        else:
            os.set_inheritable(descriptor, False)
        self._descriptor = descriptor

    @property
    def descriptor(self) -> int:
        return self._descriptor

    def share(self) -> bool:
        """Hold the lock together with other sharers; False while somebody owns it."""
        return self._try(fcntl.LOCK_SH)

    def own(self) -> bool:
        """Hold the lock alone; False while anybody else holds it."""
        return self._try(fcntl.LOCK_EX)

    def wait_to_own(self) -> None:
        """Hold the lock alone, however long that takes; for work that never takes long."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def release(self) -> None:
        """Let go, but keep the file open."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go for good; harmless when repeated."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def in_place(self) -> bool:
        """Whether the path still names this very file, so that others meet us on it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except OSError:
            return False

    def _try(self, operation: int) -> bool:
        try:
            fcntl.flock(self._descriptor, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ConfigurationError(
                f"The file system of {self.path} cannot lock files ({error.strerror}). Choose a "
                "data directory on a local disk, or set DATABASE_URL."
            ) from error
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def owned(path: Path) -> bool:
    """Whether somebody holds the lock at `path` alone; nobody holds a missing file."""
    if not path.exists():
        return False
    with FileLock(path) as lock:
        return not lock.share()
