"""A pool's traces as they are evaluated."""

from datetime import timedelta

import numpy as np

from agents_memory.domain.activation import DEFAULT_IMPORTANCE, MESSAGE
from agents_memory.domain.memories import Kind
from agents_memory.evaluation.store import TRACE_KINDS
from agents_memory.services.evaluating import moment, read_store
from agents_memory.storage import traces
from agents_memory.storage.connections import Database
from agents_memory.storage.traces import TraceKind
from tests.factories import Services
from tests.integration.cold_daemons import query
from tests.integration.patches import add


async def test_items_and_traces_are_read_as_they_are(use: Services) -> None:
    """F27: memories with their affect, messages by their traces alone, inferred uses apart."""
    memory = await add(use, kind=Kind.PREFERENCE, importance=9, valence=-0.5, intensity=0.75)
    said = await use.say("alpha")
    await use.say("never shown")
    async with use.database.acquire() as connection:
        await traces.insert_traces(connection, [memory, said.id], TraceKind.SURFACED, None)
        await traces.insert_traces(connection, [memory], TraceKind.USED, None)
        await connection.execute(
            "INSERT INTO traces (item_id, kind, weight, inferred, hour) "
            "VALUES ($1, 'used', 0.5, true, 0)",
            said.id,
        )
    store = await read_store(use.database)
    names = dict(enumerate(store.kinds))
    assert sorted(names.values()) == [MESSAGE, Kind.PREFERENCE]
    seen = sorted(
        (names[int(item)], TRACE_KINDS[int(kind)])
        for item, kind in zip(store.trace_item, store.trace_kind, strict=True)
    )
    assert seen == [
        (MESSAGE, "inferred"),
        (MESSAGE, "surfaced"),
        (Kind.PREFERENCE, "created"),
        (Kind.PREFERENCE, "surfaced"),
        (Kind.PREFERENCE, "used"),
    ]
    place = store.kinds.index(Kind.PREFERENCE)
    assert (store.importance[place], store.valence[place]) == (9.0, -0.5)
    assert store.intensity[place] == 0.75
    assert store.importance[store.kinds.index(MESSAGE)] == DEFAULT_IMPORTANCE
    [row] = await query(use.database, "SELECT now() AS now")
    assert abs(moment(float(store.trace_at.max())) - row["now"]) < timedelta(minutes=5)
    assert np.isnan(store.resolved_at).all()


async def test_what_was_taken_back_is_not_judged(use: Services) -> None:
    """A removed memory has traces still, and nobody could use it."""
    kept, gone = await add(use, content="kept"), await add(use, content="gone")
    await use.knowledge.remove_memory(use.user_id, gone, None)
    store = await read_store(use.database)
    assert len(store.kinds) == 1
    assert store.trace_item.tolist() == [0]
    assert kept != gone


async def test_how_messages_felt_is_read(use: Services, cold_database: Database) -> None:
    said = await use.say("alpha")
    await use.say("nobody knows how")
    felt = "UPDATE message_state SET valence = 0.5, intensity = 0.25 WHERE message_id = $1"
    await query(cold_database, felt, said.id)
    store = await read_store(use.database)
    assert (store.mood_valence.tolist(), store.mood_intensity.tolist()) == ([0.5], [0.25])


async def test_a_trace_from_the_future_does_not_move_the_window(use: Services) -> None:
    memory = await add(use)
    ahead = "INSERT INTO traces (item_id, kind, weight, hour, at) VALUES ($1, 'used', 1, 0, $2)"
    [row] = await query(use.database, "SELECT now() + interval '3 years' AS then")
    await query(use.database, ahead, memory, row["then"])
    assert len((await read_store(use.database)).trace_at) == 1


async def test_what_happened_at_no_time_is_left_out(
    use: Services, owner_database: Database
) -> None:
    """A restored or imported row may hold the infinity of PostgreSQL."""
    memory, said = await add(use), await use.say("alpha")
    for endless in ("infinity", "-infinity"):
        for statement in (
            f"UPDATE memories SET resolved_at = '{endless}' WHERE id = {memory}",
            f"UPDATE messages SET occurred_at = '{endless}' WHERE id = {said.id}",
            "UPDATE message_state SET valence = 0.5, intensity = 0.5",
            "INSERT INTO traces (item_id, kind, weight, hour, at) "
            f"VALUES ({memory}, 'used', 1, 0, '{endless}')",
        ):
            await query(owner_database, statement)
        store = await read_store(use.database)
        assert (len(store.trace_at), len(store.mood_at)) == (1, 0)
        assert np.isnan(store.resolved_at).all()


async def test_an_empty_pool_is_an_empty_store(use: Services) -> None:
    store = await read_store(use.database)
    assert (store.kinds, len(store.trace_at), len(store.mood_at)) == ((), 0, 0)
