"""A pool that changes from the hashing model to one of the tests' own."""

from agents_memory.domain.filters import Filters
from agents_memory.embedding.protocol import Embedder
from agents_memory.services import embedding_models
from agents_memory.services.opening import prepare
from agents_memory.services.recall import Recall, RecallAnswer, RecallRequest
from agents_memory.storage import vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.vectors import Coverage, Model
from tests.factories import Services
from tests.fixtures.meanings import PROFILE_ID

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(12)]
ASKED = "where was the heron number 3?"
OTHERWISE = "tell me about the wader"


async def add_model(owner: Database, embedder: Embedder) -> Model:
    """What `embedding add` does."""
    curve = await embedding_models.try_out(embedder)
    assert curve is not None
    await prepare(owner, embedder.profile, hot="memory_hot", cold="memory_cold")
    await embedding_models.calibrate(owner, embedder.profile.id, curve)
    return await model_of(owner, embedder.profile.id)


async def model_of(database: Database, profile: str) -> Model:
    models = await database.run(vectors.list_models)
    [model] = [model for model in models if model.profile == profile]
    return model


async def coverage_of(database: Database, profile: str = PROFILE_ID) -> Coverage:
    model = await model_of(database, profile)
    return await database.run(lambda connection: vectors.count_coverage(connection, model))


async def is_complete(connection: Connection) -> bool:
    [model] = [m for m in await vectors.list_models(connection) if m.profile == PROFILE_ID]
    return (await vectors.count_coverage(connection, model)).complete


async def search(use: Services, text: str, embedder: Embedder) -> RecallAnswer:
    recall = Recall(use.database, embedder)
    answer = await recall.search(RecallRequest(text, Filters(use.user_id), limit=20))
    await recall.close()
    return answer
