"""What one reading of a transcript yields, whatever its shape."""

from dataclasses import dataclass
from typing import Protocol

from ingest.cursor import Cursor
from ingest.records import Record


@dataclass(frozen=True, slots=True)
class Batch:
    """What was read; once `records` are committed, `cursor` is the place to go on at.

    `grew` says that there was something new, `more` that there is more at once.
    """

    records: tuple[Record, ...]
    cursor: Cursor
    grew: bool
    more: bool


class Transcript(Protocol):
    """One transcript that is followed; after an exception it must be opened anew."""

    @property
    def waiting(self) -> bool:
        """Whether something is held back until more is known, or until it is quiet for long."""

    @property
    def withdrawn(self) -> set[str]:
        """The ids of records that the client took back after they were given out."""

    def read(self, *, quiet: bool = False) -> Batch:
        """What is new; `quiet`: nothing was written for long.

        Raises OSError when the file is gone, unreadable, busy, or no regular file.
        """
