"""A readable copy of a pool as JSON Lines: for people and other programs, not for restoring."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from agents_memory import __version__
from agents_memory.storage import exporting
from agents_memory.storage.connections import Database
from agents_memory.storage.exporting import SECTIONS

FORMAT = 1
NOTE = (
    "Readable, not restorable: vectors, queues and the pool's secret are left out; pg_dump makes a "
    "backup. The patches (actor, tool, reason, created_at) and their operations are the audit of "
    "every change."
)

# Legal in JSON, and read as an end of line or as a command by some who show it.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Exported:
    """How many rows of each type were written, and the moment that all of them show."""

    snapshot_at: datetime
    rows: Mapping[str, int]


async def export(
    database: Database,
    write: Callable[[str], object],
    sections: Sequence[str] = tuple(SECTIONS),
    since: datetime | None = None,
) -> Exported:
    """Hands the pool to `write`, a batch of whole lines at a time, as it was at one moment.

    The first line (`type` "export") says what follows, the last ("end") how many rows of each type
    there were; without it the export was cut off. `since` keeps what was made or changed then or
    later. Raises DatabaseUnavailable, and what `write` raises.
    """
    rows: dict[str, int] = {}
    async with database.snapshot() as connection:
        moment = await exporting.begin_long_read(connection)
        head = {
            "format": FORMAT,
            "restorable": False,
            "note": NOTE,
            "program": __version__,
            "schema": database.schema,
            "snapshot_at": moment,
            "sections": list(sections),
            "since": since,
        }
        write(_line("export", head))
        for section in sections:
            for row_type in SECTIONS[section]:
                rows[row_type] = 0
                async for batch in exporting.read_batches(connection, row_type, since):
                    write("".join(_line(row_type, row) for row in batch))
                    rows[row_type] += len(batch)
    write(_line("end", {"rows": rows}))
    return Exported(moment, rows)


def _line(row_type: str, values: Mapping[str, object]) -> str:
    text = json.dumps({"type": row_type, **values}, ensure_ascii=False, default=_plain)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"no column of an export is a {type(value).__name__}")
