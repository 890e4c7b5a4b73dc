"""Document frequencies for the keyword arm; derived, kept by the cold path."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("lexemes")


@dataclass(frozen=True, slots=True)
class Totals:
    """What the statistics were counted over."""

    documents: int
    words: int
    counted_at: datetime | None


async def find_totals(connection: Connection) -> Totals:
    """The totals at the last count."""
    row = await connection.fetchrow(SQL["find_lexeme_totals"].sql)
    assert row is not None, "the migration inserts the row"
    return Totals(row["documents"], row["words"], row["counted_at"])


async def list_counts(connection: Connection, lexemes: Sequence[str]) -> dict[str, int]:
    """In how many messages each lexeme occurs; those of fewer than two are left out."""
    rows = await connection.fetch(SQL["list_lexeme_counts"].sql, list(lexemes))
    return {row["lexeme"]: row["documents"] for row in rows}


async def count_documents(connection: Connection) -> tuple[int, int]:
    """Messages and words as of now."""
    row = await connection.fetchrow(SQL["count_documents"].sql)
    assert row is not None, "an aggregate always answers"
    return row["documents"], row["words"]


async def refresh(connection: Connection, documents: int, words: int) -> None:
    """Counts all lexemes anew; belongs into a transaction of the cold path."""
    await connection.execute(SQL["merge_lexeme_counts"].sql, timeout=600)
    await connection.execute(SQL["record_lexeme_totals"].sql, documents, words)
