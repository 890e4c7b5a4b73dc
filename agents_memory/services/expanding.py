"""What lies one edge away from the best results comes into an answer too, lower down."""

from dataclasses import replace

from agents_memory.domain.edges import (
    EDGE_DECAY,
    EXPANDED_AT_MOST,
    EXPANDED_FROM,
    EXPANDED_PER_ITEM,
    Via,
)
from agents_memory.services.recalled import Ranked
from agents_memory.storage import edges
from agents_memory.storage.connections import Connection


async def expand(
    connection: Connection, ranked: Ranked, user_id: int, *, include_archived: bool
) -> Ranked:
    """The same candidates with the neighbours of the best; what matches by itself stays as it is.

    A neighbour scores its match's score · the weight of the edge · EDGE_DECAY, by its best edge.
    """
    best = sorted(ranked.scores, key=lambda item: (-ranked.scores[item], -item))[:EXPANDED_FROM]
    if not best:
        return ranked
    found = await edges.list_neighbours(
        connection, best, user_id, most=EXPANDED_PER_ITEM, include_archived=include_archived
    )
    reached: dict[int, tuple[float, Via]] = {}
    for one in found:
        if one.other in ranked.scores:
            continue
        score = ranked.scores[one.near] * one.edge.weight * EDGE_DECAY
        if one.other not in reached or score > reached[one.other][0]:
            reached[one.other] = score, Via(one.near, one.edge.kind, one.edge.weight)
    chosen = sorted(reached, key=lambda item: (-reached[item][0], -item))[:EXPANDED_AT_MOST]
    if not chosen:
        return ranked
    kinds = await edges.list_linkable(connection, chosen, user_id)
    return replace(
        ranked,
        scores={**ranked.scores, **{item: reached[item][0] for item in chosen}},
        memories=ranked.memories | {item for item in chosen if kinds.get(item) == "memory"},
        summaries=ranked.summaries | {item for item in chosen if kinds.get(item) == "summary"},
        via={item: reached[item][1] for item in chosen},
    )
