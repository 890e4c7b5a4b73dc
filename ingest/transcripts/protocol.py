"""What a client offers: which files are its transcripts, and a reader for each shape of file."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from pathlib import PurePath
from typing import Any, Protocol

from ingest.beside import Beside
from ingest.records import Record, Tally


class Shape(Enum):
    """How a transcript is written, and so how it is read.

    `LINES` grow at their end; `PACKED` are lines that were compressed once; a `DOCUMENT` is one
    JSON value, written anew each time; a `DATABASE` is an SQLite file with rows that change.
    """

    LINES = auto()
    PACKED = auto()
    DOCUMENT = auto()
    DATABASE = auto()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the place of a transcript says: its session, and whether a sub-agent wrote it.

    `companion` is a small JSON file beside it that says more, by its path below the root. The
    lines of one with `context` lean on earlier ones. `last` marks what is told in full elsewhere
    too, and is read after the others. `session` is empty for a file of many.
    """

    session: str
    subagent: bool = False
    companion: PurePath | None = None
    shape: Shape = Shape.LINES
    context: bool = False
    last: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """What is wanted of a document or a database; None: everything.

    What was said before `since` is not. What changed before `changed` was read already. What last
    changed before `rested` is finished, as far as anybody can tell.
    """

    rested: datetime
    since: datetime | None = None
    changed: datetime | None = None


class Reader(Protocol):
    """Turns the lines of one file into records, without any I/O.

    `held` is the byte at which a new reader must begin to come to the same state: never behind a
    turn that is not finished, and never before what was given out last, unless that cannot be told
    otherwise. None: at the end of what was fed. `waiting` says that something is held back until
    more is known. `withdrawn` names records that were given out and then taken back by the client.
    """

    tally: Tally
    withdrawn: set[str]

    @property
    def held(self) -> int | None: ...

    @property
    def waiting(self) -> bool: ...

    def feed(self, line: bytes, start: int) -> list[Record]:
        """What a whole line completes; `start` is the byte it begins at. Any bytes are legal."""

    def settle(self, *, quiet: bool) -> list[Record]:
        """What is complete now that nothing follows yet; everything if it has long been `quiet`."""


class DocumentReader(Protocol):
    """Turns one JSON value into records, each once however often it is read."""

    tally: Tally
    waiting: bool

    def turns(self, document: Any, window: Window) -> Iterator[Record]:
        """What is finished and new, in its order; sets `waiting` if more is to come."""


class DatabaseReader(Protocol):
    """Turns rows into records, each once however often they are read.

    Statements only read and end at once: an open one would hold up the client.
    """

    tally: Tally
    waiting: bool

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        """The conversations that may hold something new, the oldest first."""

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        """What is finished and new in one of them; sets `waiting` if more is to come."""


AnyReader = Reader | DocumentReader | DatabaseReader


class Client(Protocol):
    """One client; `name` is also the platform and the source of its messages."""

    name: str

    def enters(self, folder: PurePath) -> bool:
        """Whether a folder below the root may hold transcripts."""

    def facts(self, path: PurePath) -> FileFacts | None:
        """What a file below the root is; None when it is no transcript."""

    def reader(self, facts: FileFacts, beside: Beside) -> AnyReader:
        """A reader for the beginning of a file, or for any byte that another one `held`."""
