"""Edges between items, and how recall follows them."""

from dataclasses import dataclass
from enum import StrEnum

EDGE_DECAY = 0.5
"""What of a score passes along an edge of weight 1 (ours)."""

EXPANDED_FROM = 5
"""From how many of the best results edges are followed, one step (ours)."""

EXPANDED_PER_ITEM = 5
"""How many edges of each of them, in each direction (ours)."""

EXPANDED_AT_MOST = 10
"""How many neighbours an answer considers (ours)."""


class EdgeKind(StrEnum):
    """What the first item is to the second."""

    RELATED = "related"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CAUSES = "causes"
    PART_OF = "part_of"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class Edge:
    """From one item to another one, with a weight above 0, up to 1."""

    from_id: int
    to_id: int
    kind: EdgeKind
    weight: float


@dataclass(frozen=True, slots=True)
class Via:
    """How an item came into an answer: along an edge from or to the item `id` that matched."""

    id: int
    kind: EdgeKind
    weight: float
