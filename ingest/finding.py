"""Finds a client's transcripts below its folder; looks, and never opens."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from ingest.transcripts.protocol import Client, FileFacts, Shape

# Sub-agents of sub-agents lie a few folders deep; a loop of mounts would never end.
_MAX_DEPTH = 12

_Place = os.DirEntry[str] | Path


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript by its path below the root; `signature` changes whenever the file does.

    It holds inode, size in bytes, and the time of the last change in nanoseconds; of a database
    together with its write-ahead log, which is what changes first.
    """

    path: str
    facts: FileFacts
    device: int
    signature: tuple[int, int, int]

    @property
    def changed_at(self) -> float:
        """When the file last changed, in seconds since 1970."""
        return self.signature[2] / 1e9


class Finder:
    """Looks at one folder again and again."""

    def __init__(self, root: Path, client: Client) -> None:
        # The folder itself may be a link; links below it may lead anywhere and are left alone.
        self.root = Path(os.path.realpath(root))
        self.unreadable: set[str] = set()
        self._client = client
        self._facts: dict[str, FileFacts | None] = {}

    def find(self) -> list[Found]:
        """All transcripts there are now, the one that changed longest ago first.

        What is told in full elsewhere too comes behind the others. Folders that
        cannot be read are named in `unreadable`; a root that is missing is empty.
        """
        self.unreadable = set()
        entries = dict(self._walk("", 0))
        self._facts = {path: self._facts_of(path) for path in entries}
        return _in_order(
            one
            for path, facts in self._facts.items()
            if facts is not None
            and (one := _found(path, facts, entries[path], entries.get(f"{path}-wal")))
        )

    def find_again(self, known: Iterable[Found]) -> list[Found]:
        """These transcripts as `find` would show them now; no folder is looked into."""
        return _in_order(
            again
            for one in known
            if (again := _found(one.path, one.facts, self.root / one.path, None))
        )

    def _facts_of(self, path: str) -> FileFacts | None:
        if path in self._facts:
            return self._facts[path]
        return self._client.facts(PurePath(path))

    def _walk(self, folder: str, depth: int) -> Iterator[tuple[str, os.DirEntry[str]]]:
        try:
            with os.scandir(self.root / folder) as entries:
                inside = list(entries)
        except FileNotFoundError:
            return
        except OSError:
            self.unreadable.add(folder)
            return
        for entry in inside:
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < _MAX_DEPTH and self._client.enters(PurePath(path)):
                        yield from self._walk(path, depth + 1)
                elif entry.is_file(follow_symlinks=False):
                    yield path, entry
            except OSError:
                self.unreadable.add(path)


def _in_order(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda one: (one.facts.last, one.signature[2], one.path))


def _found(path: str, facts: FileFacts, place: _Place, log: _Place | None) -> Found | None:
    try:
        stat = place.stat(follow_symlinks=False)
    except OSError:
        # It went away meanwhile.
        return None
    signature = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if facts.shape is Shape.DATABASE:
        signature = _with_log(signature, log)
    return Found(path, facts, stat.st_dev, signature)


def _with_log(signature: tuple[int, int, int], log: _Place | None) -> tuple[int, int, int]:
    inode, size, changed = signature
    try:
        stat = None if log is None else log.stat(follow_symlinks=False)
    except OSError:
        stat = None
    if stat is None:
        return signature
    return inode, size + stat.st_size, max(changed, stat.st_mtime_ns)
