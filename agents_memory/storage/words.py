"""The keyword arm: what holds the words of a query, and how often."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import pi
from typing import TYPE_CHECKING

from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import MAX_TERM_FREQUENCY, to_tsquery_literal
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.memories import filter_arguments as memory_filters
from agents_memory.storage.messages import filter_arguments as message_filters
from agents_memory.storage.plans import planned_for_values

if TYPE_CHECKING:
    import asyncpg

SQL = queries.load("words")
# PostgreSQL ranks a single lexeme of weight 1 at n positions by the sum of 1 / j² for j up to n, in
# units of π² / 6 (calc_rank_or in tsrank.c). Half way between two ranks the count rises by one.
_RANKS = [
    6 / pi**2 * total
    for total in accumulate((1 / j**2 for j in range(1, MAX_TERM_FREQUENCY + 1)), initial=0.0)
]
_STEPS = [(lower + higher) / 2 for lower, higher in pairwise(_RANKS)]


# So many that hold a word are all ranked; and so many that the filters leave are all looked at.
FEW, MANY = 1_000, 10_000
# In its order the pool is read so many times as fast as by the index of words (measured).
BACKWARDS_SPEED = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """The words that choose candidates, and how many of all texts are expected to hold one."""

    words: Sequence[str]
    expected: int
    documents: int


@dataclass(slots=True)
class Held:
    """What one text holds: `length` in words, and of each term it has (by its place in the query)
    how often."""

    length: int
    counts: dict[int, int] = field(default_factory=dict)


async def find_messages(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    *,
    own: Choice,
    surrounding: Choice,
    limit: int,
) -> set[int]:
    """Ids of `limit` messages that hold one of the words of `own`, and of `limit` whose context
    holds one of `surrounding`: those with most of `terms`, then the newest; of words that very many
    hold, the newest."""
    arguments = (*message_filters(filters), limit)
    asked = to_tsquery_literal(terms)
    found: set[int] = set()
    async with planned_for_values(connection):
        await connection.execute(SQL["prefer_indexes"].sql)
        for choice, where in ((own, ""), (surrounding, "_around")):
            statement = await _statement(connection, filters, choice, limit)
            chosen = to_tsquery_literal(choice.words)
            words = (chosen,) if statement == "find_by_common_words" else (chosen, asked)
            rows = await connection.fetch(SQL[statement + where].sql, *arguments, *words)
            found |= {row["id"] for row in rows}
    return found


async def _statement(connection: Connection, filters: Filters, choice: Choice, limit: int) -> str:
    """Which statement finds the messages that hold a word of `choice`.

    Reading the pool backwards finds enough soonest when very many hold one, but never where the
    filters leave few, which may all be old: there, these few are looked at.
    """
    if choice.expected <= FEW:
        return "find_by_rare_words"
    sql = SQL["estimate_matching_messages"].sql
    plan = json.loads(await connection.fetchval(sql, *message_filters(filters)))
    matching = max(plan[0]["Plan"]["Plan Rows"], 1)
    if matching <= MANY:
        return "find_by_words_in_few"
    read = limit * choice.documents**2 / (choice.expected * matching)
    backwards = read < BACKWARDS_SPEED * choice.expected
    return "find_by_common_words" if backwards else "find_by_rare_words"


async def count_in_messages(
    connection: Connection, ids: Collection[int], terms: Sequence[str]
) -> tuple[Mapping[int, Held], Mapping[int, Held]]:
    """What messages hold of `terms`, in their own words and in their context, by message id.

    Who holds nothing is left out.
    """
    rows = await connection.fetch(SQL["count_words"].sql, list(ids), *_asked(terms))
    return (
        _held(row for row in rows if not row["context"]),
        _held(row for row in rows if row["context"]),
    )


async def find_memories(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    *,
    own: Choice,
    also: Collection[int],
    limit: int,
) -> Mapping[int, Held]:
    """What memories hold of `terms`, by memory id: the newest `limit` that hold one of the words of
    `own`, and those of the ids `also`."""
    statement = "find_memories_by_words"
    return await _find_held(connection, statement, filters, terms, own, also, limit)


async def find_summaries(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    *,
    own: Choice,
    also: Collection[int],
    limit: int,
) -> Mapping[int, Held]:
    """The same of summaries."""
    statement = "find_summaries_by_words"
    return await _find_held(connection, statement, filters, terms, own, also, limit)


async def _find_held(
    connection: Connection,
    statement: str,
    filters: Filters,
    terms: Sequence[str],
    own: Choice,
    also: Collection[int],
    limit: int,
) -> Mapping[int, Held]:
    async with planned_for_values(connection):
        rows = await connection.fetch(
            SQL[statement].sql,
            *memory_filters(filters),
            limit,
            to_tsquery_literal(own.words),
            list(also),
            *_asked(terms),
        )
    return _held(rows)


def _asked(terms: Sequence[str]) -> tuple[list[str], list[float]]:
    return [to_tsquery_literal([term]) for term in terms], _STEPS


def _held(rows: "Iterable[asyncpg.Record]") -> dict[int, Held]:
    found: dict[int, Held] = {}
    for row in rows:
        held = found.get(row["id"])
        if held is None:
            held = found[row["id"]] = Held(row["length"])
        held.counts[row["position"] - 1] = row["count"]
    return found
