"""What the owner does with embedding models, who may not, and how a model is measured."""

import pytest

from agents_memory.domain.errors import Code, EmbedderUnavailable, MemoryFault, Refusal
from agents_memory.embedding.opening import Access, open_embedder
from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.protocol import Embedder
from agents_memory.services import embedding_models
from agents_memory.services.opening import prepare
from agents_memory.storage import leadership, vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import Model, models
from cold.passes.calibrate import Calibrate
from tests.factories import Services
from tests.fakes import ManualClock
from tests.fixtures.endpoint import scripted_endpoint
from tests.fixtures.meanings import NAME, PROFILE_ID, Meanings
from tests.integration.cold_daemons import (
    FakeEmbedder,
    drain,
)
from tests.integration.coming_model import (
    OTHERWISE,
    TURNS,
    add_model,
    model_of,
    search,
)


async def test_the_model_in_use_cannot_be_dropped_nor_an_unknown_one_used(
    owner_database: Database,
) -> None:
    in_use = await embedding_models.drop(owner_database, HASHING.id)
    assert isinstance(in_use, Refusal)
    assert in_use.code is Code.MODEL_IN_USE
    for outcome in (
        await embedding_models.use(owner_database, "bge-m3@1024", anyway=True),
        await embedding_models.drop(owner_database, "'; DROP TABLE messages"),
    ):
        assert isinstance(outcome, Refusal)
        assert outcome.code is Code.UNKNOWN_MODEL
        assert HASHING.id in outcome.message
    [model] = await owner_database.run(vectors.list_models)
    assert model.active


async def test_a_drop_waits_only_so_long_for_whoever_reads(
    owner_database: Database, cold_database: Database, coming: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Everybody who stores a message would wait behind it."""
    model = await add_model(owner_database, coming)
    briefly = models.SQL["wait_briefly"]
    at_once = type(briefly)(briefly.name, briefly.sql.replace("5s", "20ms"), False)
    monkeypatch.setattr(models, "SQL", {**models.SQL, "wait_briefly": at_once})
    async with cold_database.transaction() as connection:
        await connection.fetch(f"SELECT 1 FROM {model.message_table}")
        with pytest.raises(MemoryFault, match="try again in a minute"):
            await embedding_models.drop(owner_database, PROFILE_ID)
    assert (await model_of(owner_database, PROFILE_ID)).id == model.id
    assert isinstance(await embedding_models.drop(owner_database, PROFILE_ID), Model)


async def test_only_the_owner_changes_the_models(
    cold_database: Database, hot_database: Database, owner_database: Database, coming: Embedder
) -> None:
    """F94"""
    await add_model(owner_database, coming)
    for database in (cold_database, hot_database):
        with pytest.raises(Exception, match="42501"):
            await embedding_models.use(database, PROFILE_ID, anyway=True)
        with pytest.raises(Exception, match="42501"):
            await embedding_models.drop(database, PROFILE_ID)


async def test_every_role_may_list_the_models(
    hot_database: Database, owner_database: Database, coming: Embedder
) -> None:
    await add_model(owner_database, coming)
    states = await embedding_models.list_states(hot_database, {HASHING.id})
    assert [(s.profile, s.active, s.here, s.measured) for s in states] == [
        (HASHING.id, True, True, False),
        (PROFILE_ID, False, False, True),
    ]


async def test_a_model_that_does_not_answer_is_not_added(meanings: Meanings) -> None:
    meanings.down = True
    async with scripted_endpoint(meanings) as endpoint:
        embedder = open_embedder(NAME, access=Access(base_url=endpoint.url))
        with pytest.raises(EmbedderUnavailable, match="refuses the key"):
            await embedding_models.try_out(embedder)
        await embedder.close()


async def test_a_model_that_came_without_being_measured_is_measured_by_the_daemon(
    use: Services, cold_database: Database, owner_database: Database, coming: Embedder
) -> None:
    """F32: `init` makes a model without asking it; the threshold means the same all the same."""
    await prepare(owner_database, coming.profile, hot="memory_hot", cold="memory_cold")
    assert (await model_of(cold_database, PROFILE_ID)).midpoint is None
    epoch = await cold_database.run(lambda c: leadership.take_lead(c, "test", 1))
    await Calibrate(cold_database, [use.embedder, coming], ManualClock()).run(epoch)
    model = await model_of(cold_database, PROFILE_ID)
    curve = embedding_models.calibration_of(model, coming.profile)
    assert curve is not coming.profile.calibration
    # Subjects agree to .86 here, and are at right angles to each other.
    assert curve(0.8) > 0.9
    assert curve(0.1) < 0.1
    assert (await model_of(cold_database, HASHING.id)).midpoint is None


async def test_a_measured_curve_decides_what_counts_as_near(
    use: Services, cold_database: Database, owner_database: Database, coming: Embedder
) -> None:
    """F32"""
    await use.say(TURNS[0])
    await add_model(owner_database, coming)
    await drain(cold_database, FakeEmbedder(), coming)
    await embedding_models.use(owner_database, PROFILE_ID, anyway=False)
    model = await model_of(cold_database, PROFILE_ID)
    near = await search(use, OTHERWISE, coming)
    assert near.used == "hybrid"
    await cold_database.run(lambda c: vectors.record_calibration(c, model, 1.5, 0.02))
    assert (await search(use, OTHERWISE, coming)).used == "none"
