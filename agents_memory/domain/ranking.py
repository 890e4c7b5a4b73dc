"""From scores to an answer: BM25, fusion of the arms, diversity, packing.

Ids are those of the pool's one sequence; a higher score is better; nothing here depends on the
order of a mapping, so the same scores give the same answer.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import isfinite, log
from typing import Generic, TypeVar

Item = TypeVar("Item")

BM25_K1 = 0.8
"""How soon repetition stops to count. Sooner than Lucene's 1.2, since turns are short: .005 better
in recall@10 and MRR on LoCoMo, which is less than the error."""

BM25_B = 0.2
"""How much a long message is marked down. Low, since messages are short: 0.1–0.4 gained .03
recall@10 over 0.75 on both data sets tried (LoCoMo, REALTALK)."""

RRF_K = 60
"""Cormack, Clarke, Büttcher 2009: reciprocal rank fusion."""

MIN_SPREAD = 0.25
"""The least difference between an arm's best and worst that counts as a whole one, as a share of
the best (ours): where all fit about as well, a longer sentence does not make one the worst."""

LOWEST_SCORE = 0.05
"""What the worst match has in an answer (ours): it matches, and its mood or use may lift it."""

NEAR_DUPLICATE_JACCARD = 0.8
"""Share of common lexemes from which two texts say the same in nearly the same words."""

_NEGATION_WORDS = (
    "no not never none nor without dont doesnt didnt cant cannot wont isnt wasnt arent nicht kein "
    "keine не нет ни pas jamais 不 没 沒 無 未 别"
)
_NEGATIONS = frozenset(_NEGATION_WORDS.split())


def idf(df: int, n_docs: int) -> float:
    """How much a term tells that `df` of `n_docs` documents hold; never negative.

    Statistics may lag behind: both are raised to what is certain. Lucene's form of Robertson and
    Zaragoza 2009: ln(1 + (N - df + ½) / (df + ½)).
    """
    df = max(df, 1)
    n_docs = max(n_docs, df)
    return log(1 + (n_docs - df + 0.5) / (df + 0.5))


def saturation(
    tf: int, length: int, avg_length: float, k1: float = BM25_K1, b: float = BM25_B
) -> float:
    """By how much a term's idf counts in a document that holds it `tf` times; 0 if it does not.

    Times the idf it is the term's part of BM25; `length` and `avg_length` are in words.
    """
    if tf <= 0:
        return 0.0
    relative = length / avg_length if avg_length > 0 else 1.0
    return tf * (k1 + 1) / (tf + k1 * (1 - b + b * relative))


def fuse_min_max(
    arms: Mapping[str, Mapping[int, float]], weights: Mapping[str, float] | None = None
) -> dict[int, float]:
    """One score in 0..1 for every candidate of any arm: the weighted mean of the arms' scores,
    each normalised to 0..1 over all candidates of this query.

    Every candidate should have been scored in every arm before (a text without a query term has
    BM25 0); one that an arm has no finite score for counts as that arm's lowest. An arm that gives
    all the same tells nothing and gives all 1. Weights are equal unless given; they are not
    negative, and an arm without one has 1. An arm whose scores differ by less than MIN_SPREAD is
    stretched less, so that not every difference is the greatest.
    """
    candidates = {candidate for scores in arms.values() for candidate in scores}
    fused = dict.fromkeys(sorted(candidates), 0.0)
    total = sum((weights or {}).get(arm, 1.0) for arm in arms)
    if total <= 0:
        return fused
    for arm in sorted(arms):
        share = (weights or {}).get(arm, 1.0) / total
        finite = [score for score in arms[arm].values() if isfinite(score)]
        low, high = min(finite, default=0.0), max(finite, default=0.0)
        spread = max(high - low, MIN_SPREAD * abs(high))
        for candidate in fused:
            score = arms[arm].get(candidate, low)
            if high == low:
                fused[candidate] += share
            elif isfinite(score):
                fused[candidate] += share * (1.0 - (high - score) / spread)
    return fused


def fuse_ranks(arms: Mapping[str, Mapping[int, float]], k: int = RRF_K) -> dict[int, float]:
    """One score in 0..1 for every candidate of any arm, by its ranks alone: the sum of 1 / (k +
    rank) over the arms that give it more than 0, as a share of what the first of all arms has."""
    fused = dict.fromkeys(sorted({item for scores in arms.values() for item in scores}), 0.0)
    for scores in arms.values():
        known = [item for item in scores if scores[item] > 0]
        for rank, item in enumerate(sorted(known, key=lambda i: (-scores[i], -i)), start=1):
            fused[item] += (k + 1) / (k + rank) / len(arms)
    return fused


def jaccard(one: Set[str], other: Set[str]) -> float:
    """Share of common members, 0..1; two empty sets are alike."""
    if not one and not other:
        return 1.0
    return len(one & other) / len(one | other)


def likeness(one: Set[str], other: Set[str]) -> float:
    """The Jaccard index of two texts' lexemes, but 0 if near duplicates differ in a number or a
    negation: a changed port or a denial is news, however many words are the same."""
    alike = jaccard(one, other)
    if alike < NEAR_DUPLICATE_JACCARD:
        return alike
    different = one ^ other
    if different & _NEGATIONS or any(re.search(r"\d", lexeme) for lexeme in different):
        return 0.0
    return alike


def diversify(
    items: Sequence[Item],
    key: Callable[[Item], str],
    similarity: Callable[[Item, Item], float],
    limit: int,
    threshold: float = NEAR_DUPLICATE_JACCARD,
) -> list[Item]:
    """The first `limit` of `items` in their order, near duplicates behind everything else.

    An item is a near duplicate of an earlier one if it has the same key, or is at least
    `threshold` similar to one that is kept; such items only fill slots that nothing else takes.
    At most `limit` comparisons an item.
    """
    kept: list[Item] = []
    behind: list[Item] = []
    keys: set[str] = set()
    for item in items:
        if len(kept) >= limit:
            break
        if key(item) in keys or any(similarity(item, other) >= threshold for other in kept):
            behind.append(item)
        else:
            kept.append(item)
            keys.add(key(item))
    return [*kept, *behind][: max(limit, 0)]


@dataclass(frozen=True, slots=True)
class Packed(Generic[Item]):
    """What fits and what was left out, each by rank; `shortened`: the one kept item is a part."""

    kept: tuple[Item, ...]
    left_out: tuple[Item, ...]
    shortened: bool = False


def pack(
    items: Sequence[Item],
    max_tokens: int,
    cost: Callable[[Item], int],
    shorten: Callable[[Item, int], Item],
) -> Packed[Item]:
    """Fill `max_tokens` by rank: an item that does not fit any more is left out, smaller ones after
    it may still fit.

    If the first alone is too much, it is given shortened, in half of the room and what the others
    leave, so that the best is never no answer: `shorten(item, max_tokens)` makes it fit as well as
    it can; if it then costs nothing, or still too much, it is left out.
    """
    kept: list[Item] = []
    left_out: list[Item] = []
    too_large = bool(items) and cost(items[0]) > max_tokens
    room = max_tokens // 2 if too_large else max_tokens
    for item in items[too_large:]:
        needed = cost(item)
        if needed <= room:
            kept.append(item)
            room -= needed
        else:
            left_out.append(item)
    if too_large:
        room += max_tokens - max_tokens // 2
        short = shorten(items[0], room)
        if 0 < cost(short) <= room:
            return Packed((short, *kept), tuple(left_out), shortened=True)
        left_out.insert(0, items[0])
    return Packed(tuple(kept), tuple(left_out))
