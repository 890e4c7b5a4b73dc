"""What a client whose transcripts are files of lines has to offer."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol

from ingest.records import Record, Tally


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the place of a transcript says: its session, and whether a sub-agent wrote it.

    `companion` is a small JSON file beside it that says more, by its path below the root.
    """

    session: str
    subagent: bool = False
    companion: PurePath | None = None


class Reader(Protocol):
    """Turns the lines of one file into records, without any I/O.

    `held` is the byte at which a new reader must begin to come to the same state: never behind a
    turn that is not finished, and never before what was given out last. None: at the end of what
    was fed. `waiting` says that something is held back until more is known.
    """

    tally: Tally

    @property
    def held(self) -> int | None: ...

    @property
    def waiting(self) -> bool: ...

    def feed(self, line: bytes, start: int) -> list[Record]:
        """What a whole line completes; `start` is the byte it begins at. Any bytes are legal."""

    def settle(self, *, quiet: bool) -> list[Record]:
        """What is complete now that nothing follows yet; everything if it has long been `quiet`."""


class Client(Protocol):
    """One client; `name` is also the platform and the source of its messages."""

    name: str

    def facts(self, path: PurePath) -> FileFacts | None:
        """What a file below the root is; None when it is no transcript."""

    def reader(self, facts: FileFacts, companion: Mapping[str, Any]) -> Reader:
        """A reader for the beginning of a file, or for any byte that another one `held`."""
