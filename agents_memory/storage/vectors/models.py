"""The embedding models whose vectors the pool holds: made known, used, and given up."""

from dataclasses import dataclass, field
from enum import StrEnum

import asyncpg

from agents_memory.domain.errors import MemoryFault
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.sessions import allow_long

SQL = queries.load("vectors")
TABLES = queries.load("vector_tables")

# For what goes through all vectors or results of a model.
BUILD_LIMIT_S = 6 * 3600


class Owner(StrEnum):
    """Whose vectors: tables, their key and what differs in SQL are named after it."""

    MESSAGE = "message"
    MEMORY = "memory"
    SUMMARY = "summary"

    @property
    def key(self) -> str:
        return f"{self}_id"


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model whose vectors the pool holds.

    `indexed` when searches may use an index over the messages; `index_recall` is the share of the
    true ten nearest that it found when it was last compared with a scan. `midpoint` and `scale` are
    the curve from cosine to similarity as it was measured, None when it never was.
    """

    id: int
    profile: str
    dims: int
    active: bool
    # How it is searched and read makes it no other model.
    midpoint: float | None = field(compare=False)
    scale: float | None = field(compare=False)
    index_recall: float | None = field(compare=False)
    indexed: bool = field(compare=False)

    def table(self, owner: Owner) -> str:
        return f"{owner}_vectors_{self.id}"

    @property
    def message_table(self) -> str:
        return self.table(Owner.MESSAGE)

    @property
    def memory_table(self) -> str:
        return self.table(Owner.MEMORY)

    @property
    def summary_table(self) -> str:
        return self.table(Owner.SUMMARY)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many messages and memories should have vectors of a model, and how many have none."""

    messages: int
    messages_missing: int
    memories: int
    memories_missing: int

    @property
    def complete(self) -> bool:
        return self.messages_missing == self.memories_missing == 0


async def find_active_model(connection: Connection) -> Model | None:
    """The model whose vectors searches use, if any."""
    row = await connection.fetchrow(SQL["find_active_model"].sql)
    return None if row is None else Model(**dict(row))


async def list_models(connection: Connection) -> list[Model]:
    """All models the pool knows."""
    return [Model(**dict(row)) for row in await connection.fetch(SQL["list_models"].sql)]


async def add_model(connection: Connection, profile: str, dims: int) -> Model:
    """Makes a model known and its tables ready; only the owner may. Safe to repeat."""
    await connection.execute(SQL["insert_model"].sql, profile, dims)
    row = await connection.fetchrow(SQL["find_model"].sql, profile)
    assert row is not None, "the row was inserted in this session"
    model = Model(**dict(row))
    for owner in Owner:
        create = TABLES[f"create_{owner}_vectors"]
        await connection.execute(create.render(table=model.table(owner), dims=model.dims))
    return model


async def activate_model(connection: Connection, model: Model) -> None:
    """Lets searches use this model; belongs into a transaction."""
    await connection.execute(SQL["deactivate_models"].sql)
    await connection.execute(SQL["activate_model"].sql, model.id)


async def hold_model(connection: Connection, model: Model) -> bool:
    """Keeps a model from being dropped until the transaction ends; False when it is gone."""
    return await connection.fetchval(SQL["hold_model"].sql, model.id) is not None


async def record_calibration(
    connection: Connection, model: Model, midpoint: float, scale: float
) -> None:
    """Keeps how the cosines of a model are to be read."""
    await connection.execute(SQL["record_calibration"].sql, model.id, midpoint, scale)


async def count_coverage(connection: Connection, model: Model) -> Coverage:
    """How far the vectors of a model have come; reads every message's results."""
    messages = await connection.fetchrow(SQL["count_missing_messages"].sql, model.profile)
    sql = SQL["count_missing_memories"].render(table=model.memory_table)
    memories = await connection.fetchrow(sql)
    assert messages is not None
    assert memories is not None
    return Coverage(
        messages["wanted"], messages["missing"], memories["wanted"], memories["missing"]
    )


async def drop_model(connection: Connection, model: Model) -> bool:
    """Gives up a model with all its vectors; only the owner may, in a transaction of its own.

    False when searches use it: then everything stays. Raises MemoryFault when the tables are in use
    for more than some seconds.
    """
    try:
        await connection.execute(SQL["wait_briefly"].sql)
        await allow_long(connection)
        if await connection.fetchval(SQL["delete_model"].sql, model.id) is None:
            return False
        for owner in Owner:
            await connection.execute(TABLES["drop_vectors"].render(table=model.table(owner)))
        sql = SQL["delete_embed_results"].sql
        await connection.execute(sql, model.profile, timeout=BUILD_LIMIT_S)
    except asyncpg.LockNotAvailableError as error:
        raise MemoryFault(
            "the vectors are in use by a call that takes long; try again in a minute"
        ) from error
    return True
