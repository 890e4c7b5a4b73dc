"""What is said of one question's answer."""

import math

from bench.retrieval import mean, metrics


def test_everything_found_first_is_perfect() -> None:
    figures = metrics([7, 8, 1, 2, 3], [7, 8])
    assert set(figures.values()) == {1.0}


def test_half_found_late_counts_by_its_rank() -> None:
    figures = metrics([*range(100, 111), 7], [7, 8])
    assert figures["recall@5"] == figures["recall@10"] == figures["hit@10"] == 0.0
    assert figures["recall@20"] == 0.5
    assert figures["mrr"] == 1 / 12
    assert figures["all@10"] == figures["ndcg@10"] == 0.0


def test_gain_is_discounted_by_rank() -> None:
    figures = metrics([1, 7], [7])
    assert figures["ndcg@10"] == 1 / math.log2(3)
    assert figures["all@10"] == 1.0


def test_nothing_found_is_zero() -> None:
    assert set(metrics([], [7]).values()) == {0.0}


def test_the_mean_is_over_questions() -> None:
    assert mean([{"mrr": 1.0}, {"mrr": 0.5}]) == {"mrr": 0.75}
