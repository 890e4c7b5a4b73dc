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


# So many that the filters leave are all looked at; of those that hold a word, so many are ranked.
MANY, RANKED = 10_000, 1_000
# Of the ranked, so many times as many as are wanted should match the filters.
MARGIN = 1.5
# In its order the pool is read so many times as fast as texts are found by the index of words and
# ranked (measured).
BACKWARDS_SPEED = 2


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
    holds one of `surrounding`: those with most of `terms`, then the newest; of words that many
    hold, those among the newest."""
    found: set[int] = set()
    async with planned_for_values(connection, SQL["prefer_indexes"]):
        matching = None
        if max(own.expected, surrounding.expected) > RANKED:
            matching = await _estimate(connection, filters)
        for choice, where in ((own, ""), (surrounding, "_around")):
            way, share = _way(choice, matching, limit)
            sql = SQL[way + where].sql
            arguments = [*message_filters(filters), limit, to_tsquery_literal(choice.words)]
            if way != "find_by_common_words":
                arguments.append(to_tsquery_literal(terms))
            if way == "find_by_rare_words":
                newest = None
                if share < 1.0:
                    newest = await connection.fetchval(SQL["find_newest_from"].sql, share)
                arguments.append(newest)
            rows = await connection.fetch(sql, *arguments)
            if share < 1.0 and len(rows) < limit:
                # What matches is not among the newest.
                rows = await connection.fetch(sql, *arguments[:-1], None)
            found |= {row["id"] for row in rows}
    return found


async def _estimate(connection: Connection, filters: Filters) -> int:
    """How many messages the filters leave, as the planner expects; at least 1."""
    sql = SQL["estimate_matching_messages"].sql
    plan = json.loads(await connection.fetchval(sql, *message_filters(filters)))
    return max(int(plan[0]["Plan"]["Plan Rows"]), 1)


def _way(choice: Choice, matching: int | None, limit: int) -> tuple[str, float]:
    """Which statement finds who holds a word of `choice`, and in which newest share of the pool.

    Reading the pool backwards finds enough soonest when very many hold one, but never where the
    filters leave few, which may all be old: there, these few are looked at. `matching` is how many
    they leave, needed where more than RANKED hold one.
    """
    if matching is None or choice.expected <= RANKED:
        return "find_by_rare_words", 1.0
    if matching <= MANY:
        return "find_by_words_in_few", 1.0
    ranked = max(RANKED, MARGIN * limit * choice.documents / matching)
    read = limit * choice.documents**2 / (choice.expected * matching)
    if read < BACKWARDS_SPEED * ranked:
        return "find_by_common_words", 1.0
    return "find_by_rare_words", min(ranked / choice.expected, 1.0)


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


async def find_derived(
    connection: Connection,
    filters: Filters,
    terms: Sequence[str],
    *,
    own: Choice,
    also: Collection[int],
    limit: int,
) -> tuple[Mapping[int, Held], Mapping[int, Held]]:
    """What memories hold of `terms`, and what summaries hold, by id: of each the newest `limit`
    that hold one of the words of `own`, and those of the ids `also`."""
    async with planned_for_values(connection):
        rows = await connection.fetch(
            SQL["find_derived_by_words"].sql,
            *memory_filters(filters),
            limit,
            to_tsquery_literal(own.words),
            list(also),
            *_asked(terms),
        )
    return (
        _held(row for row in rows if not row["summary"]),
        _held(row for row in rows if row["summary"]),
    )


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
