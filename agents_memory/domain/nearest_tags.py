"""Which known tags are nearest to a name that somebody proposes."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes
from agents_memory.domain.ranking import jaccard

MOST = 5


@dataclass(frozen=True, slots=True)
class Near:
    """A known tag and how like it is, 0..1."""

    name: str
    description: str
    alias_of: str | None
    messages: int
    likeness: float


def nearest(
    name: str, description: str, known: Iterable[tuple[str, str, str | None, int]]
) -> list[Near]:
    """Up to 5 known tags (name, description, tag they stand for, messages), the likest first.

    The likeness is that of the spelling, or of the words of name and description, whichever is
    more; a tag without any is left out.
    """
    words = _words(name, description)
    found = [
        Near(tag, about, alias_of, messages, round(likeness, 3))
        for tag, about, alias_of, messages in known
        if (likeness := max(_spelling(name, tag), _shared(words, _words(tag, about)))) > 0
    ]
    return sorted(found, key=lambda near: (-near.likeness, -near.messages, near.name))[:MOST]


def _spelling(one: str, other: str) -> float:
    # The ratio depends on the order a little.
    first, second = sorted((one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _words(name: str, description: str) -> frozenset[str]:
    return frozenset(analyse(f"{name.replace('-', ' ')} {description}").terms) - stop_lexemes()


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return jaccard(one, other) if one and other else 0.0
