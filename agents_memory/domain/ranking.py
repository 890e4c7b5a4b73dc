"""Scores of one query put in order: BM25, fusion, diversity, packing."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from agents_memory.domain.text import content_key

T = TypeVar("T")

# Robertson and Zaragoza's usual saturation; length says little about short turns, hence a low b.
K1 = 1.2
B = 0.2
# Cormack, Clarke and Büttcher 2009.
RRF_K = 60
# Word sets that share this much say the same.
SAME_JACCARD = 0.9


def bm25(
    tf: int,
    df: int,
    documents: int,
    length: int,
    average_length: float,
    k1: float = K1,
    b: float = B,
) -> float:
    """The weight of one lexeme in one document (Robertson and Zaragoza 2009); never negative.

    `tf` occurrences in a document of `length` words; `df` of `documents` documents hold it.
    """
    rarity = math.log1p((documents - df + 0.5) / (df + 0.5)) if df <= documents else 0.0
    relative = length / average_length if average_length > 0 else 1.0
    return rarity * tf * (k1 + 1) / (tf + k1 * (1 - b + b * relative))


def fuse_min_max(
    arms: Mapping[str, Mapping[int, float]], weights: Mapping[str, float] | None = None
) -> dict[int, float]:
    """One score 0..1 for each item: each arm scaled to 0..1 over all candidates, then averaged.

    Every candidate should be scored in every arm; one that is missing counts as the arm's lowest.
    Weights are equal unless given. Beat reciprocal ranks on two data sets.
    """
    total = sum((weights or {}).get(name, 1.0) for name in arms) or 1.0
    fused = {item: 0.0 for scores in arms.values() for item in scores}
    for name, scores in arms.items():
        if not scores:
            continue
        low, high = min(scores.values()), max(scores.values())
        share = (weights or {}).get(name, 1.0) / total
        for item, value in scores.items():
            scaled = (value - low) / (high - low) if high > low else 1.0
            fused[item] += share * scaled
    return fused


def reciprocal_rank_fusion(rankings: Iterable[Sequence[int]], k: int = RRF_K) -> dict[int, float]:
    """Σ 1 / (k + rank) over the rankings, ranks from 1."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            fused[item] = fused.get(item, 0.0) + 1 / (k + rank)
    return fused


def diversify(items: Sequence[T], key: Callable[[T], str], limit: int) -> list[T]:
    """The first `limit` items that don't say what an earlier one already says.

    Two texts say the same when their normalised text is equal, or their sets of words overlap by
    nine tenths (Jaccard).
    """
    kept: list[T] = []
    seen: list[tuple[str, frozenset[str]]] = []
    for item in items:
        if len(kept) == limit:
            break
        normal = content_key(key(item))
        words = frozenset(normal.split())
        if any(normal == other or _overlap(words, theirs) for other, theirs in seen):
            continue
        kept.append(item)
        seen.append((normal, words))
    return kept


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    # Of few words a single other one may turn the meaning.
    if min(len(one), len(other)) < 10:
        return False
    return len(one & other) >= SAME_JACCARD * len(one | other)


def pack(items: Sequence[T], max_tokens: int, cost: Callable[[T], int]) -> tuple[list[T], int]:
    """By rank, what fits into `max_tokens` together, and how many were left out.

    The first item is always kept: an answer that holds nothing because its best part is long would
    look like no answer.
    """
    kept: list[T] = []
    left = max_tokens
    for item in items:
        price = cost(item)
        if price <= left or not kept:
            kept.append(item)
            left -= price
    return kept, len(items) - len(kept)
