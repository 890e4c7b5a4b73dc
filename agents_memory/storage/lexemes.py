"""Document frequencies for the keyword arm; derived, kept by the cold path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from math import pi

from agents_memory.domain.lexical import MAX_TERM_FREQUENCY, to_tsquery_literal
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("lexemes")
# As long as the statement of that name allows.
COUNT_LIMIT_S = 600.0
# PostgreSQL ranks a single lexeme of weight 1 at n positions by the sum of 1 / j² for j up to n, in
# units of π² / 6 (calc_rank_or in tsrank.c). Half way between two ranks the count rises by one.
_RANKS = [
    6 / pi**2 * total
    for total in accumulate((1 / j**2 for j in range(1, MAX_TERM_FREQUENCY + 1)), initial=0.0)
]
_STEPS = [(lower + higher) / 2 for lower, higher in pairwise(_RANKS)]


@dataclass(frozen=True, slots=True)
class Totals:
    """What the statistics were counted over."""

    documents: int
    words: int
    counted_at: datetime | None


def occurrences(lexemes: Sequence[str]) -> tuple[list[str], list[float]]:
    """The last two arguments of every statement that counts how often lexemes occur."""
    return [to_tsquery_literal([lexeme]) for lexeme in lexemes], _STEPS


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


async def count_all(connection: Connection) -> dict[str, int]:
    """In how many messages each lexeme occurs; those of one message alone are left out.

    Reads every message, so it belongs into a transaction of its own that locks nothing.
    """
    await connection.execute(SQL["allow_long_count"].sql)
    rows = await connection.fetch(SQL["count_all_lexemes"].sql, timeout=COUNT_LIMIT_S)
    return {row["word"]: row["ndoc"] for row in rows}


async def replace_counts(
    connection: Connection, counts: Mapping[str, int], documents: int, words: int
) -> None:
    """Puts a count in the place of the last one; belongs into a transaction of the cold path."""
    found, numbers = list(counts), list(counts.values())
    await connection.execute(SQL["drop_uncounted_lexemes"].sql, found)
    await connection.execute(SQL["merge_lexeme_counts"].sql, found, numbers)
    await connection.execute(SQL["record_lexeme_totals"].sql, documents, words)
