"""Edges: typed, weighted links between items of one user."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.edges import Edge, EdgeKind
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("edges")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An edge as it is met from the item `near`, which is one of its two ends."""

    near: int
    other: int
    edge: Edge


async def list_linkable(connection: Connection, ids: Sequence[int], user_id: int) -> dict[int, str]:
    """What each id names (memory, message or summary), where it may be shown to the user."""
    rows = await connection.fetch(SQL["list_linkable"].sql, list(ids), user_id)
    return {row["id"]: row["kind"] for row in rows if row["kind"] is not None}


async def find_weight(connection: Connection, edge: Edge, user_id: int) -> float | None:
    """The weight of an edge as it stands, of memories that gave way too; None without one."""
    found = await connection.fetchval(
        SQL["find_weight"].sql, user_id, edge.from_id, edge.to_id, edge.kind
    )
    return None if found is None else float(found)


async def write_edge(connection: Connection, edge: Edge, user_id: int) -> None:
    """Makes an edge, or gives the one that is there this weight."""
    await connection.execute(
        SQL["write_edge"].sql, user_id, edge.from_id, edge.to_id, edge.kind, edge.weight
    )


async def remove_edges(
    connection: Connection, from_id: int, to_id: int, kind: EdgeKind | None, user_id: int
) -> list[EdgeKind]:
    """Takes away the edges from one item to another, and of memories that gave way to them; the
    kinds of those that stood.
    """
    rows = await connection.fetch(SQL["remove_edges"].sql, user_id, from_id, to_id, kind)
    return sorted({EdgeKind(row["kind"]) for row in rows})


async def list_neighbours(
    connection: Connection,
    ids: Sequence[int],
    user_id: int,
    *,
    most: int,
    include_archived: bool,
) -> list[Neighbour]:
    """The strongest edges of items, at most `most` of each in each direction; strongest first."""
    sql = SQL["list_neighbours"].sql
    rows = await connection.fetch(sql, user_id, list(ids), most, include_archived)
    return [
        Neighbour(
            row["near"],
            row["other"],
            Edge(
                *((row["near"], row["other"]) if row["outward"] else (row["other"], row["near"])),
                EdgeKind(row["kind"]),
                row["weight"],
            ),
        )
        for row in rows
    ]


async def count_edges(connection: Connection, user_id: int) -> int:
    """How many edges of a user stand."""
    return int(await connection.fetchval(SQL["count_edges"].sql, user_id))
