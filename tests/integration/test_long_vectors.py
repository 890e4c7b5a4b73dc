"""Vectors as long as a page, and the index over a model that is still to come."""

import numpy as np
import pytest

from agents_memory.domain.filters import Filters
from agents_memory.embedding.naming import MAX_DIMS
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.opening import prepare
from agents_memory.storage import leadership, vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import ChunkVector, Model, digest
from cold.passes.vector_index import LOOK_EVERY_S, VectorIndex
from tests.factories import NOON, Services
from tests.fakes import ManualClock
from tests.fixtures.meanings import PROFILE_ID
from tests.integration.cold_daemons import (
    FakeEmbedder,
    drain,
    query,
)
from tests.integration.coming_model import (
    TURNS,
    add_model,
    model_of,
)


async def _fill(
    use: Services, cold: Database, model: Model, rows: int, **labels: str
) -> list[np.ndarray[tuple[int], np.dtype[np.float32]]]:
    random = np.random.default_rng(3)
    made = []
    for number in range(rows):
        said = await use.say(f"turn {number}", **labels)
        raw = random.standard_normal(model.dims)
        vector = (raw / np.linalg.norm(raw)).astype(np.float32)
        async with cold.transaction() as connection:
            await vectors.replace_message_vectors(
                connection, model, said.id, [ChunkVector(digest(str(number)), vector)]
            )
        made.append(vector)
    return made


@pytest.mark.parametrize("dims", [3072, MAX_DIMS])
async def test_long_vectors_are_stored_searched_and_indexed(
    use: Services,
    cold_database: Database,
    owner_database: Database,
    dims: int,
) -> None:
    """F102: text-embedding-3-large has 3,072 numbers, more than pgvector's `vector` can index."""
    large = open_embedder(f"http:large@{dims}")
    await prepare(owner_database, large.profile, hot="memory_hot", cold="memory_cold")
    model = await model_of(owner_database, large.profile.id)
    async with owner_database.transaction() as connection:
        await vectors.activate_model(connection, model)
    model = await model_of(owner_database, large.profile.id)
    # Longer ones are kept elsewhere where they don't fit; these never are.
    labels = {"device": "d" * 23, "venue": "v" * 23, "platform": "p" * 23}
    made = await _fill(use, cold_database, model, 40, **labels)

    def near(limit: int) -> list[int]:
        cosines = np.stack(made) @ made[7]
        return [int(place) for place in np.argsort(-cosines)[:limit]]

    ids = sorted(
        row["message_id"]
        for row in await query(cold_database, f"SELECT message_id FROM {model.message_table}")
    )
    everything = Filters(use.user_id)
    for _ in range(2):
        async with cold_database.acquire() as connection:
            found = await vectors.search_messages(connection, model, everything, made[7], 10)
        assert [ids.index(one) for one in found][:3] == near(3)
        clock = ManualClock(NOON)
        epoch = await cold_database.run(lambda c: leadership.take_lead(c, "test", 1))
        await VectorIndex(cold_database, clock, from_rows=1).run(epoch)
        model = await model_of(cold_database, large.profile.id)
        assert model.indexed
        assert model.index_recall is not None
        assert model.index_recall >= 0.9
    storage = await query(
        cold_database,
        "SELECT a.attstorage, pg_relation_size(c.reltoastrelid) AS elsewhere FROM pg_class c "
        "JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid = $1::regclass "
        "AND a.attname = 'embedding'",
        model.message_table,
    )
    assert storage == [{"attstorage": b"p", "elsewhere": 0}]


async def test_a_coming_model_is_indexed_once_it_is_complete(
    use: Services, cold_database: Database, owner_database: Database, coming: Embedder
) -> None:
    """Neither each new row nor the day of the change pays for the index."""
    for text in TURNS[:4]:
        await use.say(text)
    await drain(cold_database, FakeEmbedder())
    model = await add_model(owner_database, coming)
    clock = ManualClock(NOON)
    index = VectorIndex(cold_database, clock, from_rows=1)
    epoch = await cold_database.run(lambda c: leadership.take_lead(c, "test", 1))
    await use.say(TURNS[5])
    await index.run(epoch)
    assert (await model_of(cold_database, HASHING.id)).indexed
    assert not (await model_of(cold_database, PROFILE_ID)).indexed
    await drain(cold_database, FakeEmbedder(), coming)
    clock.advance(LOOK_EVERY_S)
    await index.run(await cold_database.run(lambda c: leadership.take_lead(c, "test", 1)))
    filled = await model_of(cold_database, PROFILE_ID)
    assert filled.id == model.id
    assert filled.indexed
    assert filled.index_recall == 1.0
