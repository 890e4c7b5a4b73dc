"""The system's own watch over the folders of transcripts, where it can be had."""

import sys

from ingest.watching.changes import Changes as Changes
from ingest.watching.changes import Watcher as Watcher

if sys.platform == "linux":
    from ingest.watching.inotify import InotifyWatcher as SystemWatcher
else:
    from ingest.watching.observer import TreeWatcher as SystemWatcher

__all__ = ("Changes", "SystemWatcher", "Watcher")
