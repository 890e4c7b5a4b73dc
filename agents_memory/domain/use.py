"""Use that nobody reported: does a reply draw on what was shown before it?

It does when names, numbers and rare words of an item return in the reply that neither the question
nor the turns before have: more of them than meet by accident. Common words prove nothing, and what
several items say proves less for each. Precision counts more than recall: a use that is missed
costs a little freshness, one that never was lifts what did not help. The constants are ours; the
first was chosen on the half `tune` of `bench/use_set.toml`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.telling import (
    LONG_RUN,
    NAME,
    NOUN,
    SCRAP,
    SHORT_RUN,
    Reading,
    Word,
    read,
    stretches,
)

NEEDED = 0.9
"""What must return at least, after what chance gives was taken off."""

PRIOR_DOCUMENTS = 1_000
"""A small pool doesn't know what is rare: so many further messages have none of its words."""

USUAL_LENGTH = 40
"""Words of a usual message; a longer reply meets more by accident."""

NOUNS = 4
"""Where one word in so many has a capital inside of a sentence, capitals mark nouns."""

LIST_OF = 4
"""A reply that draws on so many of the items shown, and on more than half, lists them: that says
nothing about which of them helped, and none counts as used."""

MAX_CHARS = 20_000
"""So much of each text is read."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An item that was shown, and its words."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Frequencies:
    """In how many of the pool's messages a lexeme occurs; one that is missing occurs in one."""

    documents: int
    counts: Mapping[str, int]

    def share(self, lexeme: str) -> float:
        """The share of messages with the lexeme, above 0 and at most 1."""
        return min(1.0, max(1, self.counts.get(lexeme, 1)) / (self.documents + PRIOR_DOCUMENTS))

    def rarity(self, lexeme: str) -> float:
        """1 for a lexeme of one message down to 0 for one of all: an idf within 0..1."""
        return math.log(self.share(lexeme)) / math.log(1 / (self.documents + PRIOR_DOCUMENTS))


@dataclass(frozen=True, slots=True)
class _Return:
    """What returned of an item: the lexeme it is counted by, and what it tells."""

    lexeme: str
    weight: float


class Observation:
    """One reply, what stood before it, and what had been shown: which items does it draw on?"""

    def __init__(self, reply: str, before: Sequence[str], shown: Sequence[Shown]) -> None:
        """`before`: the user's question and other turns that the writer of the reply had read."""
        self._reply = read(_cut(reply))
        self._known = read("\n\n".join(map(_cut, before)))
        self._shown = {item.id: read(_cut(item.text)) for item in shown}
        self._returns = {number: self._returned(item) for number, item in self._shown.items()}

    @property
    def lexemes(self) -> set[str]:
        """The lexemes whose frequencies matter."""
        words = {
            word.lexeme
            for number, item in self._shown.items()
            if self._returns[number]
            for word in item.words
        }
        returned = {one.lexeme for found in self._returns.values() for one in found}
        return words | returned

    def score(self, number: int, frequencies: Frequencies) -> float:
        """What returned of an item, beyond chance."""
        found = self._returns[number]
        if not found:
            return 0.0
        told = sum(
            one.weight * frequencies.rarity(one.lexeme) / math.sqrt(self._sharing(one.lexeme))
            for one in found
        )
        return told - self._chance(self._shown[number], frequencies)

    def used(self, frequencies: Frequencies) -> list[int]:
        """The ids of the items that the reply draws on, in the order shown."""
        found = [number for number in self._shown if self.score(number, frequencies) >= NEEDED]
        lists = len(found) >= LIST_OF and 2 * len(found) > len(self._shown)
        return [] if lists else found

    def _sharing(self, lexeme: str) -> int:
        return sum(any(one.lexeme == lexeme for one in found) for found in self._returns.values())

    def _chance(self, item: Reading, frequencies: Frequencies) -> float:
        """What so long a reply would have of the item by accident."""
        tries = self._reply.length / USUAL_LENGTH
        return sum(
            word.weight
            * frequencies.rarity(word.lexeme)
            * (1.0 - math.pow(1.0 - frequencies.share(word.lexeme), tries))
            for word in item.words
            if word.lexeme not in self._known.lexemes
        )

    def _returned(self, item: Reading) -> list[_Return]:
        words = [one for word in item.words if (one := self._word(word, item)) is not None]
        parts = dict.fromkeys(
            part for run in item.runs for part in stretches(run, self._reply, self._known)
        )
        runs = [_Return(part[:2], LONG_RUN if len(part) > 2 else SHORT_RUN) for part in parts]
        return [*words, *runs]

    def _word(self, word: Word, item: Reading) -> _Return | None:
        there, known = self._reply.lexemes, self._known.lexemes
        if word.lexeme in known:
            return None
        if word.lexeme in there:
            weight = self._weight(word, item)
            return _Return(word.lexeme, weight) if weight else None
        part = next((part for part in word.parts if part in there and part not in known), None)
        return None if part is None else _Return(part, SCRAP)

    def _weight(self, word: Word, item: Reading) -> float:
        """What a word tells, written as it is in either text."""
        names = item.names | self._reply.names
        if word.lexeme not in names:
            return word.weight
        if word.as_name == NAME and NOUNS * len(names) > len(item.words) + len(self._reply.words):
            return NOUN
        return word.as_name


def _cut(text: str) -> str:
    """Without what we put into the context ourselves: a copy of it is no use of it."""
    return strip_fenced(text)[:MAX_CHARS]
