"""The graph: typed edges between items, made and taken away by hand, and walked in few steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.edges import Edge, EdgeKind
from agents_memory.domain.errors import Code, Refusal
from agents_memory.services.recalled import Ranked, RecalledItem, load_items
from agents_memory.storage import edges
from agents_memory.storage.connections import Connection, Database

MAX_DEPTH = 3
MAX_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Linked:
    """An edge that stands now; `was` is its weight before, None when there was none."""

    edge: Edge
    was: float | None


@dataclass(frozen=True, slots=True)
class Walk:
    """What lies around an item: items by their distance from it, and the edges among them.

    `left_out`: there was more than the limit allowed.
    """

    items: tuple[tuple[int, RecalledItem], ...]
    edges: tuple[Edge, ...]
    left_out: bool


class Graph:
    """Edges of one user's memories, messages and summaries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def link(
        self, from_id: int, to_id: int, kind: EdgeKind, weight: float, user_id: int
    ) -> Linked | Refusal:
        """Makes an edge, or gives it another weight; circles are fine.

        What is linked with a memory that gave way is linked with the one in its place.

        Refuses an edge from an item to itself, a weight outside of (0, 1], and unknown items.
        """
        if from_id == to_id:
            return Refusal(
                Code.INVALID_INPUT,
                "an item is not linked to itself; name two different ones",
                {"from_id": from_id, "to_id": to_id},
            )
        if not (math.isfinite(weight) and 0 < weight <= 1):
            return Refusal(
                Code.INVALID_INPUT, "weight goes from above 0 to 1; give a number between them"
            )
        # What is stored are single floats: a tiny weight would be none.
        edge = Edge(from_id, to_id, kind, max(round(weight, 6), 1e-6))

        async def write(connection: Connection) -> Linked | Refusal:
            unknown = await _unknown(connection, (from_id, to_id), user_id)
            if unknown is not None:
                return unknown
            async with connection.transaction():
                was = await edges.find_weight(connection, edge, user_id)
                if was is not None:
                    # The edge may be of a memory that gave way, and be the stronger of the two.
                    await edges.remove_edges(connection, from_id, to_id, kind, user_id)
                await edges.write_edge(connection, edge, user_id)
            return Linked(edge, was)

        return await self._database.run(write)

    async def unlink(
        self, from_id: int, to_id: int, kind: EdgeKind | None, user_id: int
    ) -> tuple[EdgeKind, ...] | Refusal:
        """Takes away the edges from one item to another, of one kind or all; those that stood.

        Refuses unknown items.
        """

        async def write(connection: Connection) -> tuple[EdgeKind, ...] | Refusal:
            unknown = await _unknown(connection, (from_id, to_id), user_id)
            if unknown is not None:
                return unknown
            return tuple(await edges.remove_edges(connection, from_id, to_id, kind, user_id))

        return await self._database.run(write)

    async def walk(self, item_id: int, depth: int, limit: int, user_id: int) -> Walk | Refusal:
        """What is reached from an item in up to `depth` (1..3) steps, the strongest edges first.

        At most `limit` (1..100) items beside it, and as many edges of each.
        """
        depth, limit = max(1, min(depth, MAX_DEPTH)), max(1, min(limit, MAX_ITEMS))

        async def load(connection: Connection) -> Walk | Refusal:
            unknown = await _unknown(connection, (item_id,), user_id)
            if unknown is not None:
                return unknown
            far = {item_id: 0}
            met: dict[tuple[int, int, EdgeKind], Edge] = {}
            more = False
            border = [item_id]
            for step in range(1, depth + 1):
                # One more than fits, to know that there is more.
                found = await edges.list_neighbours(
                    connection, border, user_id, most=limit + 1, include_archived=True
                )
                border = []
                for one in found:
                    if one.other not in far:
                        if len(far) > limit:
                            more = True
                            continue
                        far[one.other] = step
                        border.append(one.other)
                    met.setdefault((one.edge.from_id, one.edge.to_id, one.edge.kind), one.edge)
                if not border:
                    break
            items = await _items(connection, far, user_id)
            shown = {item.id for _, item in items}
            kept = [e for e in met.values() if e.from_id in shown and e.to_id in shown]
            return Walk(tuple(items), tuple(kept), more)

        return await self._database.run(load)


async def _unknown(connection: Connection, ids: Sequence[int], user_id: int) -> Refusal | None:
    known = await edges.list_linkable(connection, ids, user_id)
    missing = sorted(set(ids) - known.keys())
    if not missing:
        return None
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{', '.join(map(str, missing))} names no memory, message or summary that can be shown; "
        "recall shows the id of each",
        {"unknown": missing},
    )


async def _items(
    connection: Connection, far: dict[int, int], user_id: int
) -> list[tuple[int, RecalledItem]]:
    kinds = await edges.list_linkable(connection, list(far), user_id)
    ranked = Ranked(
        "graph",
        {},
        frozenset(item for item, kind in kinds.items() if kind == "memory"),
        {},
        summaries=frozenset(item for item, kind in kinds.items() if kind == "summary"),
    )
    loaded = await load_items(connection, list(kinds), ranked, user_id, ())
    return sorted(((far[item.id], item) for item in loaded), key=lambda one: one[0])
