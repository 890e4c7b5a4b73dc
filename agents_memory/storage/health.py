"""What the doctor asks the server: versions, rights, work that was set aside."""

from collections.abc import Iterable
from dataclasses import dataclass

from agents_memory.storage import migrate, queries
from agents_memory.storage.connections import Connection

SQL = queries.load("health")


@dataclass(frozen=True, slots=True)
class SessionRole:
    """The role of a session; an owner may do everything, deleting evidence included."""

    name: str
    owner: bool


@dataclass(frozen=True, slots=True)
class Parked:
    """One item whose stage failed for good."""

    item_id: int
    stage: str
    reason: str


async def find_vector_version(connection: Connection) -> str | None:
    """The version of pgvector in this database; None when it is not installed."""
    value = await connection.fetchval(migrate.SQL["find_pgvector"].sql)
    return None if value is None else str(value)


async def find_role(connection: Connection, schema: str) -> SessionRole:
    """Who this session is in the pool, which must exist."""
    row = await connection.fetchrow(SQL["find_role"].sql, schema)
    assert row is not None, "asked only after the schema was found"
    return SessionRole(row["name"], row["owner"])


async def list_missing_rights(
    connection: Connection, schema: str, wanted: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Those of the wanted (table, privilege) pairs that this session's role lacks."""
    names, privileges = zip(*wanted, strict=True)
    rows = await connection.fetch(
        SQL["list_missing_rights"].sql, schema, list(names), list(privileges)
    )
    return [(row["name"], row["privilege"]) for row in rows]


async def list_parked_work(connection: Connection, limit: int) -> list[Parked]:
    """The items that were set aside longest ago."""
    rows = await connection.fetch(SQL["list_parked_work"].sql, limit)
    return [Parked(row["item_id"], row["stage"], row["parked_reason"]) for row in rows]
