"""Linux: a watch on each folder that may hold transcripts, and on no other.

watchdog's observers watch whole trees, and below the folder of a client may lie checkouts and
caches with more folders than the system lets a user watch. So its reader of inotify(7) is used
without them: one thread for all folders, which waits in the kernel.
"""

import errno
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from ingest.watching.changes import Changes

_MASK = Mask(
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
)
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)
# What watchdog returns where the folder may not be read.
_NO_WATCH = WatchDescriptor(-1)


class InotifyWatcher:
    """See `ingest.watching.changes.Watcher`. Raises OSError when the user has too many already."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._lock = Lock()
        # One folder may be met by two names, and so needs more than its descriptor.
        self._watched: dict[str, tuple[WatchDescriptor, CallbackId]] = {}
        self._numbers = count()
        self._inotify = InotifyFD()
        self._inotify.start()

    def watch(self, root: Path, folders: Collection[str]) -> list[str]:
        above = next((str(one) for one in root.parents if one.is_dir()), None)
        wanted = [str(root / folder) for folder in folders]
        wanted += [] if above is None else [above]
        with self._lock:
            return [path for path in wanted if path not in self._watched and self._add(path)]

    def close(self) -> None:
        self._inotify.stop()
        self._inotify.join()

    def heard(self, folder: str, event: InotifyEvent) -> None:
        """Something happened in a folder, or to it."""
        path = os.path.join(folder, os.fsdecode(event.name)) if event.name else folder
        if event.is_move_self or (event.is_moved_from and event.is_directory):
            # The watch would follow it to where it is now.
            self._drop(path)
        self._changes.tell(path)

    def ended(self, folder: str, descriptor: WatchDescriptor) -> None:
        """The folder is gone, and the watch with it."""
        with self._lock:
            if folder in self._watched and self._watched[folder][0] == descriptor:
                del self._watched[folder]

    def lost(self) -> None:
        """More happened than the kernel keeps for us."""
        self._changes.tell_lost()

    def _add(self, path: str) -> bool:
        number = CallbackId(next(self._numbers))
        try:
            watch = self._inotify.add_callback(
                os.fsencode(path), _MASK, _Folder(path, self), number
            )
        except OSError as error:
            if error.errno in _GONE:
                return False
            raise
        if watch != _NO_WATCH:
            self._watched[path] = watch, number
        return watch != _NO_WATCH

    def _drop(self, path: str) -> None:
        with self._lock, suppress(OSError):
            gone = [one for one in self._watched if one == path or one.startswith(f"{path}/")]
            self._inotify.remove_callbacks([self._watched.pop(one) for one in gone])


@dataclass(frozen=True, slots=True)
class _Folder:
    """What watchdog calls for one folder, in its own thread."""

    path: str
    watcher: InotifyWatcher

    def on_event(self, event: InotifyEvent) -> None:
        self.watcher.heard(self.path, event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        self.watcher.ended(self.path, wd)

    def on_queue_overflow(self) -> None:
        self.watcher.lost()
