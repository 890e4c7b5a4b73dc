"""Elsewhere than on Linux: one watch over a whole tree, which costs the system no more there."""

from collections.abc import Collection
from pathlib import Path

from watchdog.events import (
    EVENT_TYPE_DELETED,
    EVENT_TYPE_MOVED,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from ingest.watching.changes import Changes

# That files are opened and read, as we do ourselves, is nothing to be told of.
_EVENTS: list[type[FileSystemEvent]] = [
    *(FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent),
    *(DirCreatedEvent, DirMovedEvent, DirDeletedEvent),
]


class TreeWatcher(FileSystemEventHandler):
    """See `ingest.watching.changes.Watcher`; that a missing root comes to be it does not tell."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._observer = Observer()
        self._observer.start()
        self._watches: dict[str, ObservedWatch] = {}
        self._gone: set[str] = set()

    def watch(self, root: Path, folders: Collection[str]) -> list[str]:
        path = str(root)
        if path in self._gone:
            self._gone.discard(path)
            self._observer.unschedule(self._watches.pop(path))
        if path in self._watches or not root.is_dir():
            return []
        self._watches[path] = self._observer.schedule(
            self, path, recursive=True, event_filter=_EVENTS
        )
        return [path]

    def close(self) -> None:
        self._observer.stop()
        self._observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in (EVENT_TYPE_DELETED, EVENT_TYPE_MOVED):
            self._gone |= {str(event.src_path)} & self._watches.keys()
        for path in filter(None, (str(event.src_path), str(event.dest_path))):
            self._changes.tell(path)
