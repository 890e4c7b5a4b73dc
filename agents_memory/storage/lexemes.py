"""Document frequencies for the keyword arm; derived, kept by the cold path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.sessions import allow_long

SQL = queries.load("lexemes")
# As long as the statement of that name allows.
COUNT_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Totals:
    """What the statistics were counted over."""

    documents: int
    words: int
    counted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Frequency:
    """In how many messages a lexeme occurs, and around how many."""

    documents: int
    contexts: int


async def find_totals(connection: Connection) -> Totals:
    """The totals at the last count."""
    row = await connection.fetchrow(SQL["find_lexeme_totals"].sql)
    assert row is not None, "the migration inserts the row"
    return Totals(row["documents"], row["words"], row["counted_at"])


async def list_counts(connection: Connection, lexemes: Sequence[str]) -> dict[str, Frequency]:
    """In how many messages each lexeme occurs; those of fewer than two are left out."""
    rows = await connection.fetch(SQL["list_lexeme_counts"].sql, list(lexemes))
    return {row["lexeme"]: Frequency(row["documents"], row["contexts"]) for row in rows}


async def count_documents(connection: Connection) -> tuple[int, int]:
    """Messages and words as of now."""
    row = await connection.fetchrow(SQL["count_documents"].sql)
    assert row is not None, "an aggregate always answers"
    return row["documents"], row["words"]


async def count_all(connection: Connection) -> dict[str, Frequency]:
    """In how many messages each lexeme occurs; those of one alone are left out.

    Reads every message, so it belongs into a transaction of its own that locks nothing.
    """
    await allow_long(connection, f"{COUNT_LIMIT_S}s")
    rows = await connection.fetch(SQL["count_all_lexemes"].sql, timeout=COUNT_LIMIT_S)
    return {row["word"]: Frequency(row["documents"], row["contexts"]) for row in rows}


async def replace_counts(
    connection: Connection, counts: Mapping[str, Frequency], documents: int, words: int
) -> None:
    """Puts a count in the place of the last one; belongs into a transaction of the cold path."""
    await connection.execute(SQL["drop_uncounted_lexemes"].sql, list(counts))
    await connection.execute(
        SQL["merge_lexeme_counts"].sql,
        list(counts),
        [count.documents for count in counts.values()],
        [count.contexts for count in counts.values()],
    )
    await connection.execute(SQL["record_lexeme_totals"].sql, documents, words)
