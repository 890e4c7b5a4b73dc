"""What the system tells of: paths that changed, handed from its thread to the event loop."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Protocol

# More at once say no more than that everything is to be looked at.
MOST_PATHS = 10_000


class Watcher(Protocol):
    """The system's own watch over folders; what it says is a hint, and never the whole truth."""

    def watch(self, root: Path, folders: Collection[str]) -> list[str]:
        """Watches these folders below `root` too, and for `root` itself to come and go.

        The paths that are watched from now on and were not before: what happened in them until now
        nobody told. Raises OSError when the system takes no more.
        """

    def close(self) -> None:
        """Lets go of everything; its thread ends."""


class Changes:
    """Paths that changed, each once until they are taken. Made in the event loop that takes them.

    `told` is set as long as there is something to take.
    """

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._paths: set[str] = set()
        self._lost = False

    def tell(self, path: str) -> None:
        """This path changed; may be called in any thread."""
        with self._lock:
            self._lost |= len(self._paths) >= MOST_PATHS
            if not self._lost:
                self._paths.add(path)
        self._wake()

    def tell_lost(self) -> None:
        """More happened than could be told; may be called in any thread."""
        with self._lock:
            self._lost = True
        self._wake()

    def take(self) -> set[str] | None:
        """What was told since the last time; None: anything may have changed."""
        with self._lock:
            self.told.clear()
            paths, lost = self._paths, self._lost
            self._paths, self._lost = set(), False
        return None if lost else paths

    def _wake(self) -> None:
        if not self.told.is_set():
            # The loop may have ended before the thread does.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._set)

    def _set(self) -> None:
        if self._paths or self._lost:
            self.told.set()
