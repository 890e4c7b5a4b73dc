"""Recall without a query: what is newest, what is pinned or promised, and what felt like a mood."""

from collections.abc import Set

from agents_memory.domain.filters import Filters
from agents_memory.domain.prior import MOOD_NEAR, mood_fit
from agents_memory.services.candidates import ARM_LIMIT_WIDE
from agents_memory.services.narrowing import EVERYTHING, Narrow
from agents_memory.services.prior import Leaning
from agents_memory.services.recalled import (
    Ranked,
    RecalledItem,
    Wanted,
    load_distinct,
    load_items,
    with_told_memories,
    without_repeats,
)
from agents_memory.storage import activations, memories, messages
from agents_memory.storage.connections import Connection


async def load_newest(
    connection: Connection, filters: Filters, narrow: Narrow, limit: int
) -> list[RecalledItem]:
    """The newest messages and memories, the newest first."""
    # What a memory says again takes no place, so more is looked at than is asked for.
    looked_at = 2 * limit
    message_ids, memory_ids = await _newest(connection, filters, narrow, looked_at)
    # Both lists are newest first, so no more of each can be among the newest of all.
    message_ids, memory_ids = message_ids[:looked_at], memory_ids[:looked_at]
    ranked = Ranked("recency", {}, frozenset(memory_ids), {}, private=filters.include_private)
    user_id = filters.user_id
    found = await load_items(connection, [*message_ids, *memory_ids], ranked, user_id, ())
    wanted = _wanted(filters, narrow)
    found = await with_told_memories(connection, found, ranked, user_id, (), wanted)
    found.sort(key=lambda item: (item.said_at, item.id), reverse=True)
    return without_repeats(found)[:limit]


async def load_opening(
    connection: Connection, filters: Filters, limit: int, leaning: Leaning | None
) -> list[RecalledItem]:
    """What is pinned or promised, then what felt like the mood that was told."""
    user_id = filters.user_id
    pinned = await memories.list_pinned(connection, user_id, limit)
    promised = await memories.list_open_promises(connection, user_id, limit)
    said = await messages.list_pinned(connection, user_id, limit)
    ids = list(dict.fromkeys([*pinned, *promised, *said]))
    ranked = Ranked("recency", {}, frozenset([*pinned, *promised]), {})
    found = await load_items(connection, ids, ranked, user_id, ())
    if leaning is not None and len(found) < limit:
        found += await load_alike(
            connection, filters, EVERYTHING, limit, leaning, near=MOOD_NEAR, without=set(ids)
        )
    return found[:limit]


async def load_alike(
    connection: Connection,
    filters: Filters,
    narrow: Narrow,
    limit: int,
    leaning: Leaning,
    *,
    near: float = 0.0,
    without: Set[int] = frozenset(),
) -> list[RecalledItem]:
    """Of the newest thousand of each sort what felt most like the mood, the newest of equals first.

    Only what is at least `near` (0..1) to it; what nobody knows the feeling of is not.
    """
    message_ids, memory_ids = await _newest(connection, filters, narrow, ARM_LIMIT_WIDE)
    valences = await activations.list_valences(connection, [*message_ids, *memory_ids])
    fits = {item: mood_fit(leaning.valence, valence) for item, valence in valences.items()}
    scores = {item: fit for item, fit in fits.items() if fit >= near and item not in without}
    ranked = Ranked("recency", scores, frozenset(memory_ids), {}, private=filters.include_private)
    return await load_distinct(
        connection,
        ranked,
        user_id=filters.user_id,
        limit=limit,
        terms=(),
        wanted=_wanted(filters, narrow),
    )


def _wanted(filters: Filters, narrow: Narrow) -> Wanted | None:
    return None if filters.only_messages else narrow.keep


async def _newest(
    connection: Connection, filters: Filters, narrow: Narrow, limit: int
) -> tuple[list[int], list[int]]:
    """Ids of messages and of memories that are asked for, the newest first."""
    looked_at = max(limit, ARM_LIMIT_WIDE) if narrow else limit
    message_ids: list[int] = []
    memory_ids: list[int] = []
    if narrow.takes_messages:
        message_ids = await messages.list_recent(connection, filters, looked_at)
    if narrow.takes_memories and not filters.only_messages:
        memory_ids = await memories.list_recent(connection, filters, looked_at)
    kept = await narrow.keep(connection, [*message_ids, *memory_ids])
    return (
        [item for item in message_ids if item in kept],
        [item for item in memory_ids if item in kept],
    )
