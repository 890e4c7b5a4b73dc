"""Finds a client's transcripts below its folder; looks, and never opens."""

import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path, PurePath

from ingest.transcripts.protocol import Client, FileFacts, Shape

# Sub-agents of sub-agents lie a few folders deep; a loop of mounts would never end.
_MAX_DEPTH = 12
# Of a folder that changed not longer ago a second change may bear the same time.
_UNSURE_NS = 2 * 10**9

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
        # When each folder had last changed before it was looked into; 0: that cannot be told.
        self._folders: dict[str, int] = {}
        self._entered: set[str] = set()

    def find(self) -> list[Found]:
        """All transcripts there are now, the one that changed longest ago first.

        What is told in full elsewhere too comes behind the others. Folders that
        cannot be read are named in `unreadable`; a root that is missing is empty.
        """
        self.unreadable, self._folders = set(), {}
        entries = dict(self._walk("", 0))
        self._facts = {path: self._facts_of(path) for path in entries}
        return _in_order(self._among(entries))

    def find_again(self, known: Iterable[Found]) -> list[Found]:
        """These transcripts as `find` would show them now; no folder is looked into."""
        return _in_order(
            again for one in known if (again := self._found_at(one.path, one.facts)) is not None
        )

    def find_at(self, paths: Collection[str]) -> list[Found]:
        """The transcripts that `find` would show at or below these paths, which are below the root.

        Anything may lie there now, or nothing. Folders that are known to be there are taken to be
        where they were.
        """
        found: dict[str, Found] = {}
        for path in _topmost({self._first_unknown(path) for path in paths}):
            facts = self._facts_of(path) if path else None
            if facts is None:
                found |= {one.path: one for one in self._below(path)}
            elif one := self._found_at(path, facts):
                found[one.path] = one
        return _in_order(found.values())

    def find_new(self) -> list[Found]:
        """What `find` would show in folders where something came or went since they were looked
        into, and in new ones; no other folder is looked into.
        """
        found: dict[str, Found] = {}
        for folder in list(self._changed()):
            depth = len(PurePath(folder).parts)
            found |= {one.path: one for one in self._inside(folder, depth, deep=False)}
        return _in_order(found.values())

    def has_new(self) -> bool:
        """Whether `find_new` would look into any folder; a tenth of the time that `find` takes, and
        less the more files lie in a folder.
        """
        return next(self._changed(), None) is not None

    def _changed(self) -> Iterator[str]:
        for folder, changed_at in self._folders.items():
            if _changed_at(f"{self.root}/{folder}") not in (changed_at, None):
                yield folder

    def take_entered(self) -> set[str]:
        """The folders that were looked into since the last time, by their paths below the root."""
        entered, self._entered = self._entered, set()
        return entered

    def _first_unknown(self, path: str) -> str:
        """The path, or the first folder on the way to it that was never looked into."""
        parts = PurePath(path).parts
        above = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return next((folder for folder in above if folder not in self._folders), path)

    def _below(self, folder: str) -> Iterator[Found]:
        depth = len(PurePath(folder).parts)
        if depth > _MAX_DEPTH or (folder and not self._client.enters(PurePath(folder))):
            return
        if folder and not stat.S_ISDIR(_mode(self.root / folder)):
            return
        yield from self._inside(folder, depth, deep=True)

    def _inside(self, folder: str, depth: int, *, deep: bool) -> Iterator[Found]:
        entries = dict(self._walk(folder, depth, deep=deep))
        self._facts |= {path: self._facts_of(path) for path in entries}
        yield from self._among(entries)

    def _among(self, entries: Mapping[str, os.DirEntry[str]]) -> Iterator[Found]:
        for path, entry in entries.items():
            facts = self._facts[path]
            if facts is not None and (
                one := _found(path, facts, entry, entries.get(f"{path}-wal"))
            ):
                yield one

    def _found_at(self, path: str, facts: FileFacts) -> Found | None:
        place = self.root / path
        if not stat.S_ISREG(_mode(place)):
            return None
        return _found(path, facts, place, place.with_name(f"{place.name}-wal"))

    def _facts_of(self, path: str) -> FileFacts | None:
        if path in self._facts:
            return self._facts[path]
        return self._client.facts(PurePath(path))

    def _walk(
        self, folder: str, depth: int, *, deep: bool = True
    ) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """The files in a folder and below it; not `deep`: below new folders only."""
        place = f"{self.root}/{folder}"
        changed_at = _changed_at(place) or 0
        try:
            with os.scandir(place) as entries:
                inside = list(entries)
        except FileNotFoundError:
            return
        except OSError:
            self.unreadable.add(folder)
            return
        sure = changed_at < time.time_ns() - _UNSURE_NS
        self._folders[folder] = changed_at if sure else 0
        self._entered.add(folder)
        for entry in inside:
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    wanted = deep or path not in self._folders
                    if wanted and depth < _MAX_DEPTH and self._client.enters(PurePath(path)):
                        yield from self._walk(path, depth + 1)
                elif entry.is_file(follow_symlinks=False):
                    yield path, entry
            except OSError:
                self.unreadable.add(path)


def _topmost(paths: Set[str]) -> Iterator[str]:
    """These paths without those that lie below others of them."""
    for path in paths:
        above = ("" if str(one) == "." else str(one) for one in PurePath(path).parents)
        if not any(one in paths for one in above):
            yield path


def _mode(place: Path) -> int:
    """What a path is, not followed; 0 for nothing."""
    try:
        return place.lstat().st_mode
    except (OSError, ValueError):
        return 0


def _changed_at(folder: str) -> int | None:
    """When something last came into a folder or left it, in nanoseconds; None when it is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except (OSError, ValueError):
        return None


def _in_order(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda one: (one.facts.last, one.signature[2], one.path))


def _found(path: str, facts: FileFacts, place: _Place, log: _Place | None) -> Found | None:
    try:
        state = place.stat(follow_symlinks=False)
    except OSError:
        # It went away meanwhile.
        return None
    signature = (state.st_ino, state.st_size, state.st_mtime_ns)
    if facts.shape is Shape.DATABASE:
        signature = _with_log(signature, log)
    return Found(path, facts, state.st_dev, signature)


def _with_log(signature: tuple[int, int, int], log: _Place | None) -> tuple[int, int, int]:
    inode, size, changed = signature
    try:
        state = None if log is None else log.stat(follow_symlinks=False)
    except OSError:
        state = None
    if state is None:
        return signature
    return inode, size + state.st_size, max(changed, state.st_mtime_ns)
