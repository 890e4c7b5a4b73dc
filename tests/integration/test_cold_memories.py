"""The vectors of memories follow what is believed."""

from agents_memory.domain.patches import Add, Applied, Operation, PatchRequest, Pin, Remove, Update
from agents_memory.embedding.profiles import HASHING
from agents_memory.services import consistency
from agents_memory.storage import vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import ChunkVector
from tests.factories import Services
from tests.integration.cold_daemons import (
    FakeEmbedder,
    PacedStop,
    drain,
    query,
    running,
    until,
    value,
    worker,
)


async def _patch(use: Services, operation: Operation) -> int:
    """The id of the memory that the operation made or changed."""
    said = await use.say("The heron server stands in Graz, I said.")
    request = PatchRequest(use.user_id, "agent", "test", "because", (operation,), (said.id,))
    applied = await use.patching.apply(request)
    assert isinstance(applied, Applied), applied
    return applied.changes[0].item_id


async def _chunks(database: Database, memory_id: int) -> list[ChunkVector]:
    model = await database.run(vectors.find_active_model)
    assert model is not None
    found = await database.run(lambda c: vectors.list_memory_chunks(c, model, [memory_id]))
    return found.get(memory_id, [])


async def test_a_memory_has_vectors_while_it_is_active(
    use: Services, cold_database: Database
) -> None:
    remembered = await _patch(use, Add("heron", "It stands in Graz."))
    await drain(cold_database, FakeEmbedder())
    assert len(await _chunks(cold_database, remembered)) == 1
    await _patch(use, Remove(remembered))
    await drain(cold_database, FakeEmbedder())
    assert await _chunks(cold_database, remembered) == []
    assert await value(cold_database, "SELECT count(*) FROM work") == 0


async def test_a_pin_reaches_the_vectors(use: Services, cold_database: Database) -> None:
    remembered = await _patch(use, Add("heron", "It stands in Graz."))
    await drain(cold_database, FakeEmbedder())
    await _patch(use, Pin(remembered, pinned=True))
    embedder = FakeEmbedder()
    await drain(cold_database, embedder)
    model = await cold_database.run(vectors.find_active_model)
    assert model is not None
    assert await query(cold_database, f"SELECT pinned FROM {model.memory_table}") == [
        {"pinned": True}
    ]
    assert not [text for text in embedder.asked if text.startswith("heron")]


async def test_a_memory_that_changes_while_it_is_embedded_gets_the_vector_of_its_last_words(
    use: Services, cold_database: Database
) -> None:
    """A13, D7: the patch finds the row of work taken and queues no other; nothing goes stale."""
    remembered = await _patch(use, Add("heron", "It stands in Graz."))
    embedder, stop = FakeEmbedder(), PacedStop()
    await drain(cold_database, FakeEmbedder())
    await _patch(use, Update(remembered, "It stands in Linz."))
    embedder.gate.clear()
    async with running(worker(cold_database, embedder, stop=stop), cold_database, stop):
        await embedder.reached.wait()
        await _patch(use, Update(remembered, "It stands in Wien."))
        embedder.gate.set()
        await until(
            cold_database, lambda c: c.fetchval("SELECT count(*) = 0 FROM work"), "all settled"
        )
    [text] = [text for text in embedder.asked if "Wien" in text]
    found = await _chunks(cold_database, remembered)
    assert [chunk.content_hash for chunk in found] == [vectors.digest(text)]


async def _felt(database: Database, memory_id: int) -> dict[str, object]:
    [row] = await query(
        database,
        f"SELECT valence, intensity, affect, version FROM memories WHERE id = {memory_id}",
    )
    return row


async def test_affect_that_nobody_told_is_estimated_and_marked(
    use: Services, cold_database: Database
) -> None:
    """F18: from the vector of the memory, anew when its words change; what was told stays."""
    embedder = FakeEmbedder()
    silent = await _patch(use, Add("deploy", "The release broke, and everybody is desperate!"))
    told = await _patch(use, Add("deploy", "It was a wonderful day!", valence=0.0, intensity=0.0))
    half = await _patch(use, Add("deploy", "It was a terrible day!", valence=0.5))
    assert (await _felt(cold_database, silent))["affect"] == "unknown"
    await drain(cold_database, embedder)
    first = await _felt(cold_database, silent)
    assert (first["affect"], first["version"]) == ("estimated", 1)
    assert first["intensity"] > 0  # type: ignore[operator]
    assert await _felt(cold_database, told) == {
        "valence": 0.0, "intensity": 0.0, "affect": "told", "version": 1
    }  # fmt: skip
    assert await _felt(cold_database, half) == {
        "valence": 0.5, "intensity": 0.0, "affect": "told", "version": 1
    }  # fmt: skip
    await _patch(use, Pin(silent, pinned=True))
    assert (await _felt(cold_database, silent))["intensity"] == first["intensity"]
    await _patch(use, Update(silent, "The release is out."))
    await drain(cold_database, embedder)
    second = await _felt(cold_database, silent)
    assert (second["affect"], second["version"]) == ("estimated", 3)
    assert second["intensity"] != first["intensity"]
    async with cold_database.snapshot() as connection:
        found = [one async for one in consistency.examine(connection, {HASHING.id: HASHING})]
    assert [one.detail for one in found if one.fix] == []
