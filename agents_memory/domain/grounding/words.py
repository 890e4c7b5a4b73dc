"""Whether the words of a derived sentence were said: all names, and enough of the others."""

import unicodedata

from agents_memory.domain.grounding.capitals import capitals_missing
from agents_memory.domain.grounding.caseless import caseless_missing
from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes

# The share of its words that a statement must have in common with its sources.
SHARED_WORDS = 1 / 4
# One word in common is chance: every message of a project may name it.
LEAST_DRAWN = 2


def names_missing(statement: str, text: str) -> bool:
    """Whether a word of `statement` that names something does not occur in `text`."""
    plain, there = (unicodedata.normalize("NFKC", one) for one in (statement, text))
    return capitals_missing(plain, there) or caseless_missing(plain, there)


def shares_words(statement: str, text: str) -> bool:
    """Whether the two have words in common that tell what both are about."""
    words = analyse(statement).terms.keys() - stop_lexemes()
    return len(words & analyse(text).terms.keys()) >= max(1, SHARED_WORDS * len(words))


def draws_on(statement: str, text: str) -> bool:
    """Whether a statement takes enough words from one text to tell of it.

    A quarter of its own, and two; all where either has fewer.
    """
    words, there = (analyse(one).terms.keys() - stop_lexemes() for one in (statement, text))
    least = max(LEAST_DRAWN, SHARED_WORDS * len(words))
    return len(words & there) >= max(1, min(least, len(words), len(there)))
