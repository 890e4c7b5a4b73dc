"""What the intake makes of a text: no secrets in it, and the lexemes it is found by.

The rules for secrets and the analyser both go by the stretches between white space, most of which
were met before: each is looked up once for both. The result is that of one after the other.
"""

from collections import Counter
from functools import reduce
from itertools import chain
from operator import itemgetter, or_
from typing import NamedTuple

from agents_memory.domain import lexical
from agents_memory.domain.kept import Kept
from agents_memory.domain.lexical import Analysis, analyse
from agents_memory.domain.redaction import redact
from agents_memory.domain.redaction.suspicion import arouses, is_plain, suspicion


class Reading(NamedTuple):
    """Text without the secrets that were found, how many of each kind, and its lexemes."""

    text: str
    redactions: dict[str, int]
    analysis: Analysis


def _met(stretch: str) -> tuple[int, tuple[str, ...], int]:
    """The rules that a stretch arouses, its lexemes, its number of words."""
    return (suspicion(stretch), *lexical.read(stretch))


_STRETCHES = Kept(_met, most=16_384, max_chars=64)
_SUSPICION, _LEXEMES, _WORDS = itemgetter(0), itemgetter(1), itemgetter(2)


def read(text: str) -> Reading:
    """`redact` and `analyse` in one; any string is legal."""
    if not is_plain(text):
        redacted = redact(text)
        return Reading(redacted.text, redacted.counts, analyse(redacted.text))
    found = list(map(_STRETCHES.__getitem__, text.split()))
    suspicions = reduce(or_, map(_SUSPICION, found), 0)
    if arouses(suspicions):
        redacted = redact(text, suspicions)
        if redacted.counts:
            return Reading(redacted.text, redacted.counts, analyse(redacted.text))
    counts = Counter(chain.from_iterable(map(_LEXEMES, found)))
    whole = lexical.analysis_of(counts, sum(map(_WORDS, found)))
    return Reading(text, {}, whole or analyse(text))
