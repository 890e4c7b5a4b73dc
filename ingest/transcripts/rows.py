"""What the readers of databases have in common."""

import json
import sqlite3
from collections import Counter
from datetime import datetime
from typing import Any

from ingest.records import Dropped, Tally


class RowReader:
    """Remembers which rows are settled; see `ingest.transcripts.protocol.DatabaseReader`."""

    def __init__(self) -> None:
        self.tally: Tally = Counter()
        self.waiting = False
        self._settled: set[str] = set()

    def _value(self, data: object) -> Any:
        """The JSON of a column; None for what is none, which is counted."""
        if isinstance(data, str | bytes):
            try:
                return json.loads(data)
            except (ValueError, RecursionError):
                pass
        self.tally[Dropped.BROKEN] += 1
        return None


def tables(database: sqlite3.Connection) -> set[str]:
    """The names of its tables."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in rows if isinstance(name, str)}


def columns(database: sqlite3.Connection, table: str) -> set[str]:
    """The names of a table's columns; none where it is not there."""
    rows = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return {name for (name,) in rows if isinstance(name, str)}


def milliseconds(moment: datetime | None) -> int:
    """A time as milliseconds since 1970; 0 for none."""
    return 0 if moment is None else int(moment.timestamp() * 1000)
