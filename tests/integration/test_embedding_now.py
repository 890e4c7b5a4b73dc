"""What somebody asks to remember is found by its meaning when the answer comes."""

import asyncio
from collections.abc import Callable

from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import Remove, Update
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.embedding_now import EmbeddingNow
from agents_memory.services.knowledge import Knowledge, Remembered
from agents_memory.storage import vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import ChunkVector
from tests.factories import Services, draft
from tests.integration.cold_daemons import FakeEmbedder, drain, value
from tests.integration.patches import apply


async def remember(
    use: Services, embedder: Embedder | None, *, within_s: float = 30.0
) -> tuple[int, bool]:
    """The id of a new memory, and whether it is said to be embedded."""
    embedding = EmbeddingNow(use.database, lambda: embedder, within_s=within_s)
    knowledge = Knowledge(use.database, use.intake, use.patching, embedding)
    done = await knowledge.add_memory(
        draft("The heron server stands in Graz."),
        use.user_id,
        kind=Kind.FACT,
        subject="heron",
        project=None,
    )
    assert isinstance(done, Remembered), done
    return done.applied.changes[0].item_id, done.embedded


def _giving(embedder: Embedder) -> Callable[[], Embedder]:
    return lambda: embedder


async def chunks(database: Database, memory_id: int) -> list[ChunkVector]:
    model = await database.run(vectors.find_active_model)
    assert model is not None
    found = await database.run(lambda c: vectors.list_memory_chunks(c, model, [memory_id]))
    return found.get(memory_id, [])


async def test_a_memory_has_its_vectors_before_any_daemon_came(use: Services) -> None:
    """F73: and the search by meaning returns it."""
    embedder = FakeEmbedder()
    memory_id, embedded = await remember(use, embedder)
    assert embedded
    [chunk] = await chunks(use.database, memory_id)
    model = await use.database.run(vectors.find_active_model)
    assert model is not None
    query, filters = chunk.vector, Filters(user_id=use.user_id)
    near, _ = await use.database.run(lambda c: vectors.search_derived(c, model, filters, query, 10))
    assert list(near) == [memory_id]


async def test_the_daemon_embeds_nothing_that_is_there_and_settles_the_work(
    use: Services, cold_database: Database
) -> None:
    """F73, F71: one text, one embedding."""
    memory_id, _ = await remember(use, FakeEmbedder())
    before = await chunks(use.database, memory_id)
    daemon = FakeEmbedder()
    await drain(cold_database, daemon)
    assert [text for text in daemon.asked if text.startswith("heron\n")] == []
    assert await value(cold_database, "SELECT count(*) FROM work") == 0
    after = await chunks(use.database, memory_id)
    assert [c.content_hash for c in after] == [c.content_hash for c in before]


async def test_a_daemon_that_was_faster_keeps_its_vectors(
    use: Services, cold_database: Database
) -> None:
    memory_id, embedded = await remember(use, None)
    assert not embedded
    await drain(cold_database, FakeEmbedder())
    now = EmbeddingNow(use.database, FakeEmbedder)
    assert await now.embed(memory_id, use.user_id)
    assert len(await chunks(use.database, memory_id)) == 1


async def test_an_embedder_that_takes_too_long_leaves_it_to_the_daemon(
    use: Services, cold_database: Database
) -> None:
    """F73: the memory is stored in any case, and the work for it waits."""
    embedder = FakeEmbedder()
    embedder.gate.clear()
    memory_id, embedded = await remember(use, embedder, within_s=0.05)
    assert not embedded
    assert await chunks(use.database, memory_id) == []
    waiting = f"SELECT stage FROM work WHERE item_id = {memory_id}"
    assert await value(cold_database, waiting) == "embed_memory"
    await drain(cold_database, FakeEmbedder())
    assert len(await chunks(use.database, memory_id)) == 1


async def test_an_embedder_that_breaks_costs_nobody_the_memory(use: Services) -> None:
    """F73: the patch is committed by then, and no fault may say otherwise."""

    for fault in ("refuses", "loses_one"):
        embedder = FakeEmbedder()
        setattr(embedder, fault, lambda _: True)
        memory_id, embedded = await remember(use, embedder)
        assert not embedded
        assert await chunks(use.database, memory_id) == []
        await apply(use, Remove(memory_id, 1))


async def test_another_model_than_the_pools_is_of_no_use(use: Services, coming: Embedder) -> None:
    """F102: vectors of two models are never mixed."""
    memory_id, embedded = await remember(use, coming)
    assert not embedded
    assert await chunks(use.database, memory_id) == []


async def test_what_changed_meanwhile_gets_no_vectors_of_the_old_words(use: Services) -> None:
    """D7."""
    for change in (Update, Remove):
        memory_id, _ = await remember(use, None)
        embedder = FakeEmbedder()
        embedder.gate.clear()
        now = EmbeddingNow(use.database, _giving(embedder))
        asked = asyncio.create_task(now.embed(memory_id, use.user_id))
        await embedder.reached.wait()
        if change is Update:
            said = await use.say("It moved to Linz.")
            await apply(use, Update(memory_id, "It stands in Linz.", 1, (said.id,)))
        else:
            await apply(use, Remove(memory_id, 1))
        embedder.gate.set()
        assert await asked is False
        assert await chunks(use.database, memory_id) == []
