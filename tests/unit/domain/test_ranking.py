"""Fusion, diversity and packing (F30, F33, F41, D14)."""

from datetime import UTC, datetime
from itertools import pairwise
from math import log, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_memory.domain.lexical import analyse
from agents_memory.domain.ranking import (
    NEAR_DUPLICATE_JACCARD,
    Packed,
    diversify,
    fuse_min_max,
    fuse_ranks,
    idf,
    jaccard,
    likeness,
    pack,
    saturation,
)
from agents_memory.domain.text import content_key, truncate

START = datetime(2026, 11, 1, tzinfo=UTC)
SCORES = st.dictionaries(st.integers(1, 20), st.floats(-1e6, 1e6), max_size=12)


def test_bm25_follows_its_formula() -> None:
    assert idf(1, 10) * saturation(1, 20, 20) == pytest.approx(1.9924, abs=1e-4)
    assert idf(2, 100) == pytest.approx(log(40.4))
    assert saturation(3, 40, 20, k1=1.5, b=0.75) == pytest.approx(7.5 / 5.625)


def test_rarer_repeated_and_shorter_score_higher() -> None:
    assert idf(1, 100) > idf(5, 100)
    assert saturation(2, 20, 20) > saturation(1, 20, 20)
    assert saturation(1, 10, 20) > saturation(1, 20, 20)
    assert saturation(0, 20, 20) == 0


@settings(deadline=None)
@given(*(st.integers(0, 10_000) for _ in range(4)), st.floats(0, 1e4))
def test_bm25_is_never_negative_even_with_stale_statistics(
    tf: int, df: int, n_docs: int, length: int, average: float
) -> None:
    assert idf(df, n_docs) >= 0
    assert saturation(tf, length, average) >= 0


def test_each_arm_is_normalised_over_all_candidates_and_weighs_the_same() -> None:
    """F30"""
    fused = fuse_min_max({"vector": {1: 0.9, 2: 0.6, 3: 0.3}, "keyword": {1: 0.0, 2: 12.0, 3: 6.0}})
    assert fused == pytest.approx({1: 0.5, 2: 0.75, 3: 0.25})


def test_a_word_match_alone_does_not_swamp_a_healthy_vector_arm() -> None:
    """D14"""
    fused = fuse_min_max({"vector": {1: 0.9, 2: 0.2}, "keyword": {1: 3.0, 2: 40.0, 3: 0.0}})
    assert fused[1] > fused[2]
    assert fused[3] == 0


def test_weights_shift_the_balance() -> None:
    arms = {"vector": {1: 1.0, 2: 0.0}, "keyword": {1: 0.0, 2: 1.0}}
    assert fuse_min_max(arms, {"vector": 3.0}) == {1: 0.75, 2: 0.25}
    assert fuse_min_max(arms, {"vector": 0.0}) == {1: 0.0, 2: 1.0}
    assert fuse_min_max(arms, {"vector": 0.0, "keyword": 0.0}) == {1: 0.0, 2: 0.0}


def test_an_arm_without_news_changes_no_order_and_no_number_counts_as_lowest() -> None:
    assert fuse_min_max({"vector": {1: 0.5, 2: 0.5}, "keyword": {1: 1.0, 2: 2.0}}) == {
        1: 0.5,
        2: 1.0,
    }
    assert fuse_min_max({"vector": {1: nan, 2: 0.1, 3: 0.3}}) == {1: 0.0, 2: 0.0, 3: 1.0}
    assert fuse_min_max({}) == fuse_min_max({"vector": {}}) == {}
    assert fuse_min_max({"vector": {7: 0.4}}) == {7: 1.0}


@settings(deadline=None)
@given(SCORES, SCORES)
def test_fused_scores_lie_between_zero_and_one(
    one: dict[int, float], other: dict[int, float]
) -> None:
    fused = fuse_min_max({"a": one, "b": other})
    assert fused.keys() == one.keys() | other.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())


@settings(deadline=None)
@given(SCORES)
def test_fusing_one_arm_keeps_its_order(scores: dict[int, float]) -> None:
    fused = fuse_min_max({"only": scores})
    order = sorted(scores, key=lambda candidate: scores[candidate])
    assert all(fused[one] <= fused[other] for one, other in pairwise(order))


def test_reciprocal_ranks_add_up() -> None:
    """F30: what an arm gives nothing has no rank in it; of equals the newer comes first."""
    fused = fuse_ranks({"one": {1: 9.0, 2: 1.0, 3: 0.0}, "other": {1: -1.0, 2: 0.3, 3: 0.3}})
    assert fused == pytest.approx({1: 1 / 2, 2: 61 / 62, 3: 1 / 2})
    assert fuse_ranks({}) == fuse_ranks({"one": {}}) == {}
    assert fuse_ranks({"one": {7: 0.1}}) == {7: 1.0}


def test_what_fits_about_as_well_is_not_stretched_to_the_worst() -> None:
    """F28, F30: a sentence that is a word longer is no bad match."""
    fused = fuse_min_max({"keyword": {1: 1.02, 2: 1.0}, "vector": {1: 0.5, 2: 0.5}})
    assert fused[1] == 1.0
    assert 0.9 < fused[2] < 1.0
    assert fuse_min_max({"keyword": {1: 4.0, 2: 1.0}}) == {1: 1.0, 2: 0.0}


def test_jaccard_is_the_share_in_common() -> None:
    assert jaccard({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)
    assert jaccard(set(), set()) == 1
    assert jaccard({"a"}, set()) == 0


LONG = "we decided that every service keeps its own connection pool and a lock with a timeout"
LONG_ZH = "我们决定每个服务都使用自己的数据库连接池并且设置一个合理的超时时间"


def alike(one: str, other: str) -> float:
    return likeness(analyse(one).terms.keys(), analyse(other).terms.keys())


@pytest.mark.parametrize(
    ("one", "other"),
    [(LONG, f"So, {LONG}!"), (LONG, LONG.replace("keeps", "keep")), (LONG_ZH, f"对，{LONG_ZH}")],
)
def test_the_same_in_nearly_the_same_words_is_alike(one: str, other: str) -> None:
    """F41"""
    assert alike(one, other) >= NEAR_DUPLICATE_JACCARD


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("likes tea", "likes coffee"),
        (f"{LONG} of 30 seconds", f"{LONG} of 60 seconds"),
        (LONG, LONG.replace("keeps", "does not keep")),
        (LONG, LONG.replace("every service", "the billing daemon")),
        (LONG_ZH, LONG_ZH.replace("使用", "不使用")),
    ],
)
def test_a_difference_that_matters_is_not_alike(one: str, other: str) -> None:
    """F41"""
    assert alike(one, other) < NEAR_DUPLICATE_JACCARD


def distinct(texts: list[str], limit: int) -> list[str]:
    return diversify(texts, content_key, alike, limit)


def test_near_duplicates_do_not_fill_the_slots() -> None:
    """F41"""
    texts = ["We chose tea.", "we chose TEA", LONG, f"so {LONG}", "cats purr"]
    assert distinct(texts, 3) == ["We chose tea.", LONG, "cats purr"]


def test_near_duplicates_follow_when_slots_are_left() -> None:
    """F41"""
    assert distinct(["tea", "Tea", "milk"], 5) == ["tea", "milk", "Tea"]
    assert distinct(["tea"], 0) == []
    assert distinct([], 3) == []


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a b", "A B.", "b a", "c", LONG])), st.integers(0, 6))
def test_diversity_loses_nothing_while_there_is_room(texts: list[str], limit: int) -> None:
    chosen = distinct(texts, limit)
    assert len(chosen) == min(limit, len(texts))
    assert all(chosen.count(text) <= texts.count(text) for text in chosen)


def packed(texts: list[str], room: int) -> Packed[str]:
    return pack(texts, room, len, truncate)


def test_packing_goes_by_rank_and_says_what_was_left_out() -> None:
    """F33"""
    assert packed(["aaaa", "bbbbbbbb", "cc", "d"], 7) == Packed(("aaaa", "cc", "d"), ("bbbbbbbb",))


def test_the_best_is_always_given_shortened_if_need_be() -> None:
    """F33"""
    assert packed(["abcdefgh", "ijklmnop"], 5) == Packed(("abcd…",), ("ijklmnop",), shortened=True)
    assert packed(["abcdefgh", "ijk", "l"], 6) == Packed(("ab…", "ijk"), ("l",), shortened=True)
    assert packed(["abcdefgh"], 0) == Packed((), ("abcdefgh",))
    assert pack(["abcdefgh"], 5, len, lambda text, _: text) == Packed((), ("abcdefgh",))
    assert packed([], 5) == Packed((), ())


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), max_size=8), st.integers(0, 30))
def test_a_pack_never_exceeds_its_budget_and_counts_every_item(texts: list[str], room: int) -> None:
    result = packed(texts, room)
    assert sum(map(len, result.kept)) <= room
    assert len(result.kept) + len(result.left_out) == len(texts)
    assert result.kept or not texts or room == 0
