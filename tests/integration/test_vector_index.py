"""The vector index: built by the daemon, never trusted blindly, never returning too few."""

from datetime import timedelta

import numpy as np
import pytest

from agents_memory.domain.filters import Filters
from agents_memory.services.status import report
from agents_memory.storage import leadership, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.vectors import ChunkVector, Model, Vector, digest, searching
from cold.passes.vector_index import LOOK_EVERY_S, VectorIndex
from tests.factories import NOON, Services
from tests.fakes import ManualClock

ROWS = 300


async def _fill(use: Services, cold: Database, rows: int = ROWS) -> None:
    """Messages of two platforms with vectors in a few clusters."""
    random = np.random.default_rng(7)
    centres = random.standard_normal((8, use.embedder.profile.dims))
    ids = [
        (await use.say(f"turn {n}", platform="codex" if n % 50 == 0 else "claude-code")).id
        for n in range(rows)
    ]
    async with cold.transaction() as connection:
        model = await vectors.find_active_model(connection)
        assert model is not None
        for n, message_id in enumerate(ids):
            raw = centres[n % 8] + 0.3 * random.standard_normal(use.embedder.profile.dims)
            vector = (raw / np.linalg.norm(raw)).astype(np.float32)
            await vectors.replace_message_vectors(
                connection, model, message_id, [ChunkVector(digest(str(n)), vector)]
            )


async def _model(cold: Database) -> Model:
    model = await cold.run(vectors.find_active_model)
    assert model is not None
    return model


async def _stored(cold: Database, model: Model) -> Vector:
    async def first(connection: Connection) -> Vector:
        vector: Vector = await connection.fetchval(
            f"SELECT embedding FROM {model.message_table} ORDER BY message_id LIMIT 1"
        )
        return vector

    return await cold.run(first)


def _chore(use: Services, cold: Database, clock: ManualClock, rows: int) -> VectorIndex:
    return VectorIndex(cold, clock, from_rows=rows)


async def test_the_daemon_builds_and_measures_the_index(
    use: Services, cold_database: Database
) -> None:
    """F102, F1: the daemon's own role may build it, through the owner's function."""
    await _fill(use, cold_database)
    clock = ManualClock(NOON)
    chore = _chore(use, cold_database, clock, ROWS - 1)
    assert not (await _model(cold_database)).indexed
    await chore.run(await _lead(cold_database))
    model = await _model(cold_database)
    assert model.indexed
    assert model.index_recall is not None
    assert model.index_recall >= 0.95


async def _lead(cold: Database) -> int:
    return await cold.run(lambda connection: leadership.take_lead(connection, "test", 1))


async def test_a_small_pool_is_not_indexed(use: Services, cold_database: Database) -> None:
    await _fill(use, cold_database, 20)
    clock = ManualClock(NOON)
    chore = _chore(use, cold_database, clock, 20)
    epoch = await _lead(cold_database)
    await chore.run(epoch)
    clock.advance(LOOK_EVERY_S + 1)
    await chore.run(epoch)
    assert not (await _model(cold_database)).indexed


async def test_a_filtered_search_finds_as_many_as_the_exact_scan(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: with pgvector's defaults a filter of one in fifty returns next to nothing."""
    await _fill(use, cold_database)
    exact_model = await _model(cold_database)
    query = await _stored(cold_database, exact_model)
    everything = Filters(use.user_id)
    wanted = [
        everything,
        everything._replace(platform="codex"),
        everything._replace(until=NOON - timedelta(days=9)),
        everything._replace(platform="codex", role="user", device="laptop"),
    ]

    async def search(filters: Filters) -> dict[int, float]:
        model = await _model(cold_database)
        return await cold_database.run(
            lambda connection: vectors.search_messages(connection, model, filters, query, 20)
        )

    exact = [await search(filters) for filters in wanted]
    await _chore(use, cold_database, ManualClock(NOON), 0).run(await _lead(cold_database))
    monkeypatch.setattr(searching, "EXACT_ROWS", 0)
    indexed = [await search(filters) for filters in wanted]
    assert [len(found) for found in indexed] == [len(found) for found in exact]
    assert [len(found) for found in exact] == [20, 6, 0, 6]
    for by_index, by_scan in zip(indexed, exact, strict=True):
        assert len(by_index.keys() & by_scan.keys()) >= 0.9 * len(by_scan)
        assert list(by_index.values()) == sorted(by_index.values(), reverse=True)


async def test_private_messages_take_no_place_of_others(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: in the index or out of it, as many are found as without them; and they are, if asked."""
    await _fill(use, cold_database)
    query = await _stored(cold_database, await _model(cold_database))
    everything = Filters(use.user_id)

    async def search(*, private: bool) -> list[int]:
        model = await _model(cold_database)
        filters = everything._replace(include_private=private)
        found = await cold_database.run(
            lambda connection: vectors.search_messages(connection, model, filters, query, 20)
        )
        return list(found)

    nearest = await search(private=False)
    async with cold_database.transaction() as connection:
        await connection.execute(
            "UPDATE message_state SET private = true WHERE message_id = ANY ($1)", nearest[:10]
        )
        for message_id in nearest[:10]:
            model = await _model(cold_database)
            await vectors.sync_message_vectors(connection, model, message_id)
    by_scan = await search(private=False)
    assert len(by_scan) == 20
    assert by_scan[:10] == nearest[10:]
    assert await search(private=True) == nearest
    await _chore(use, cold_database, ManualClock(NOON), 0).run(await _lead(cold_database))
    monkeypatch.setattr(searching, "EXACT_ROWS", 0)
    by_index = await search(private=False)
    assert len(by_index) == 20
    assert not set(by_index) & set(nearest[:10])
    assert set(nearest[:10]) < set(await search(private=True))


async def test_a_message_of_many_chunks_hides_no_other(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D1: all chunks looked at first are of the longest message, by scan and by index."""
    await _fill(use, cold_database, 3)
    query = await _stored(cold_database, await _model(cold_database))
    longest = (await use.say("said at length")).id
    async with cold_database.transaction() as connection:
        model = await _model(cold_database)
        chunks = [ChunkVector(digest(str(n)), query) for n in range(20)]
        await vectors.replace_message_vectors(connection, model, longest, chunks)

    async def nearest() -> list[int]:
        model = await _model(cold_database)
        everything = Filters(use.user_id)
        found = await cold_database.run(
            lambda connection: vectors.search_messages(connection, model, everything, query, 3)
        )
        return list(found)

    by_scan = await nearest()
    await _chore(use, cold_database, ManualClock(NOON), 0).run(await _lead(cold_database))
    monkeypatch.setattr(searching, "EXACT_ROWS", 0)
    assert await nearest() == by_scan
    assert by_scan[0] == longest
    assert len(by_scan) == 3


async def test_an_index_that_finds_too_little_is_reported(
    use: Services, cold_database: Database
) -> None:
    await _fill(use, cold_database, 5)
    model = await _model(cold_database)
    await cold_database.run(lambda connection: vectors.record_index_recall(connection, model, 0.4))
    values = (await report(use.database, use.embedder, described="test")).values
    assert values["embedder"]["index_recall"] == pytest.approx(0.4)
    assert any("REINDEX" in reason for reason in values["degraded"])
