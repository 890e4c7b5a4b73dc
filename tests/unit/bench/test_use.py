"""The labelled set of uses, and what the rule makes of it (F106)."""

import math
from collections import Counter

import pytest

from bench.use import HALVES, judged, precision, recall, scenes

LANGUAGES = {"en", "de", "zh", "ja", "ko", "ru", "es", "ar"}
USED = {"verbatim", "paraphrase", "numbers", "translated"}
UNUSED = {"topic", "common", "question", "ignored", "contradicted", "boilerplate", "known"}


def test_the_set_is_large_and_mixed_in_both_halves() -> None:
    for half in HALVES:
        chosen = [scene for scene in scenes() if scene.half == half]
        items = [item for scene in chosen for item in scene.items]
        assert len(items) >= 100
        assert {scene.language for scene in chosen} == LANGUAGES
        used = Counter(item.used for item in items)
        assert used[True] >= 40
        assert used[False] >= 60
        assert {item.why for item in items if item.used} == USED
        assert {item.why for item in items if not item.used} == UNUSED
    assert {scene.half for scene in scenes()} == set(HALVES)


def test_no_scene_is_there_twice() -> None:
    questions = [scene.question for scene in scenes()]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("half", HALVES)
def test_nine_of_ten_inferred_uses_are_uses(half: str) -> None:
    found = judged(half)
    assert precision(found).value >= 0.9
    assert recall(found).value >= 0.55


def test_an_interval_holds_the_share_and_grows_where_little_was_seen() -> None:
    found = judged("tune")
    whole, part = precision(found), precision(found[:20])
    for share in (whole, part, recall(found)):
        assert 0.0 <= share.low <= share.value <= share.high <= 1.0
    assert part.high - part.low > whole.high - whole.low
    assert math.isnan(precision([]).value)
