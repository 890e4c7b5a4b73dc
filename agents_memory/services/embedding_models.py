"""The embedding models of a pool: added beside the one in use, filled, changed to, dropped."""

from collections.abc import Collection
from dataclasses import dataclass

from agents_memory.domain.errors import Code, Refusal
from agents_memory.embedding.calibrating import measure
from agents_memory.embedding.profiles import UNMEASURED, Calibration, Profile
from agents_memory.embedding.protocol import Embedder
from agents_memory.storage import vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import send_hint
from agents_memory.storage.vectors import Coverage, Model

_PROBE = "The heron stood in the shallow water."


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model of the pool and how far it has come; `here`: this machine has it set up.

    Counts are of what should have vectors and of what has none. `measured`: its curve from cosine
    to similarity is known.
    """

    profile: str
    dims: int
    active: bool
    here: bool
    messages: int
    messages_missing: int
    memories: int
    memories_missing: int
    indexed: bool
    index_recall: float | None
    measured: bool


def calibration_of(model: Model | None, profile: Profile) -> Calibration:
    """How the cosines of a profile are read in a pool: as measured there, else as it brings."""
    if model is None or model.midpoint is None or model.scale is None:
        return profile.calibration
    return Calibration(model.midpoint, model.scale)


async def try_out(embedder: Embedder) -> Calibration | None:
    """Proves that a model works here; its curve, or None where it brings one or none helps.

    Raises EmbedderUnavailable.
    """
    if embedder.profile.calibration is UNMEASURED:
        return await measure(embedder)
    await embedder.embed_query(_PROBE)
    return None


async def list_states(database: Database, here: Collection[str]) -> list[ModelState]:
    """All models of the pool, the oldest first; `here` are the ids that this machine has."""

    async def read(connection: Connection) -> list[ModelState]:
        return [
            _state(model, await vectors.count_coverage(connection, model), here)
            for model in await vectors.list_models(connection)
        ]

    return await database.run(read)


async def calibrate(database: Database, profile: str, curve: Calibration | None) -> None:
    """Keeps the curve of a model, if there is one, and wakes the daemon to fill it."""
    async with database.transaction() as connection:
        model = await _find(connection, profile)
        if isinstance(model, Model) and curve is not None:
            await vectors.record_calibration(connection, model, curve.midpoint, curve.scale)
        await send_hint(connection, database.schema)


async def use(database: Database, profile: str, *, anyway: bool) -> Coverage | Refusal:
    """Lets searches use a model from now on; what it still lacked when it was changed to.

    Refused while something lacks its vectors, unless `anyway`: that is then found by its words
    until the daemon gets to it.
    """
    async with database.transaction() as connection:
        model = await _find(connection, profile)
        if isinstance(model, Refusal):
            return model
        coverage = await vectors.count_coverage(connection, model)
        if model.active:
            return coverage
        if not (coverage.complete or anyway):
            return Refusal(
                Code.MODEL_INCOMPLETE,
                f"{coverage.messages_missing} of {coverage.messages} messages and "
                f"{coverage.memories_missing} of {coverage.memories} memories have no vectors of "
                f"{profile} yet; wait for a daemon that has it (EMBEDDING_MODEL_NEXT), or add "
                "--anyway: until then those are found by their words alone",
                {
                    "messages_missing": coverage.messages_missing,
                    "memories_missing": coverage.memories_missing,
                },
            )
        await vectors.activate_model(connection, model)
        await send_hint(connection, database.schema)
        return coverage


async def drop(database: Database, profile: str) -> Model | Refusal:
    """Gives up a model with all its vectors; refused for the one in use."""
    async with database.transaction() as connection:
        model = await _find(connection, profile)
        if isinstance(model, Refusal) or await vectors.drop_model(connection, model):
            return model
    return Refusal(
        Code.MODEL_IN_USE,
        f"searches use {profile}; change to another model first, with `mcp-agents-memory "
        "embedding use`",
    )


async def _find(connection: Connection, profile: str) -> Model | Refusal:
    models = {model.profile: model for model in await vectors.list_models(connection)}
    if profile in models:
        return models[profile]
    return Refusal(
        Code.UNKNOWN_MODEL,
        f"the pool has no embedding model {profile}, but {', '.join(models) or 'none at all'}; add "
        "it with `mcp-agents-memory embedding add`",
        {"known": list(models)},
    )


def _state(model: Model, coverage: Coverage, here: Collection[str]) -> ModelState:
    return ModelState(
        profile=model.profile,
        dims=model.dims,
        active=model.active,
        here=model.profile in here,
        messages=coverage.messages,
        messages_missing=coverage.messages_missing,
        memories=coverage.memories,
        memories_missing=coverage.memories_missing,
        indexed=model.indexed,
        index_recall=model.index_recall,
        measured=model.midpoint is not None,
    )
