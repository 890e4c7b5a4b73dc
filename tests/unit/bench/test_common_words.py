"""The list of common words is what its recipe makes."""

import gzip

from bench.common_words import TARGET, vocabulary, words


def test_the_most_common_words_of_the_recipe_are_in_the_list() -> None:
    """Renew it with: python -m bench.common_words"""
    listed = set(gzip.decompress(TARGET.read_bytes()).decode().split("\n"))
    made = set(words(vocabulary()[:5_000]))
    assert len(made) > 1_000
    assert made <= listed
