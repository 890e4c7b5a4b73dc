"""The labelled pairs of derived sentences, and what the rules make of them."""

from collections import Counter

from bench.grounding import HALVES, TOLD, UNTOLD, measure, pairs


def test_the_set_is_large_and_holds_both_sorts_in_many_languages() -> None:
    everything = pairs()
    assert len(everything) >= 120
    assert {pair.sort for pair in everything} == {*TOLD, *UNTOLD}
    assert len({pair.language for pair in everything}) >= 10
    assert len({(pair.source, pair.statement) for pair in everything}) == len(everything)
    halves = Counter(pair.half for pair in everything)
    assert min(halves[half] for half in HALVES) > 60


def test_what_was_never_looked_at_is_judged_nearly_as_well() -> None:
    """C3: precision and recall of the refusals; before, a quarter of them were found."""
    precision, recall = measure([pair for pair in pairs() if pair.half == "held"])
    assert precision >= 0.92
    assert recall >= 0.9


def test_of_the_pairs_that_rules_can_tell_nearly_none_is_missed() -> None:
    """Who did what to whom is beyond them."""
    seen = [pair for pair in pairs() if pair.half == "seen" and pair.sort != "mixed"]
    precision, recall = measure(seen)
    assert precision >= 0.99
    assert recall >= 0.97
