"""How likely two tags name one project, by rules: what was said, meaning, topics, spelling.

The points of each sign are those of mcp-agents-memory; the confidence is a curve of ours.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum


class Sign(StrEnum):
    """A sign that two tags name one project."""

    STATED = "stated"
    MEANING = "meaning"
    TOPICS = "topics"
    SPELLING = "spelling"
    RARE = "rare"


POINTS: Mapping[Sign, int] = {
    Sign.STATED: 100,
    Sign.MEANING: 30,
    Sign.TOPICS: 18,
    Sign.SPELLING: 16,
    Sign.RARE: 8,
}
MAX_DISTANCE = 0.28
MIN_OVERLAP, MIN_OVERLAP_RARE = 0.25, 0.18
MIN_LIKENESS, MIN_LIKENESS_RARE = 0.55, 0.45
RARE_MESSAGES = 10
# Meaning, topics and spelling together just reach what is asked about; no two of them do, and what
# was said needs a second sign before it may be applied unasked.
CONFIDENCE_SCALE = 33.0
PENDING_CONFIDENCE = 0.85
AUTO_CONFIDENCE = 0.98


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that stands for itself: its messages, and the free tags they carry most."""

    id: int
    name: str
    messages: int
    description: str = ""
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """`tag` may stand for `target`: the signs with what was measured, and what was said.

    `stated` are ids of messages that say so, `denied` of those that say the opposite.
    """

    tag: Tag
    target: Tag
    signs: Mapping[Sign, float]
    stated: tuple[int, ...] = ()
    denied: tuple[int, ...] = ()

    @property
    def score(self) -> int:
        """The points of all signs."""
        return sum(POINTS[sign] for sign in self.signs)

    @property
    def confidence(self) -> float:
        """0..1 from the points; 0 where it was denied, or where nothing but meaning speaks for it.

        Vectors of different projects of one person are alike: that alone never makes one of two.
        """
        if self.denied or not set(self.signs) - {Sign.MEANING, Sign.RARE}:
            return 0.0
        return 1 - math.exp(-self.score / CONFIDENCE_SCALE)

    @property
    def sure(self) -> bool:
        """Whether a person said so, nobody the opposite, and the rest fits too."""
        return Sign.STATED in self.signs and self.confidence >= AUTO_CONFIDENCE


def compare(
    tag: Tag,
    target: Tag,
    *,
    distance: float | None,
    stated: Collection[int] = (),
    denied: Collection[int] = (),
) -> Pair:
    """The signs of two tags; `distance` is the cosine distance of what is said under them."""
    rare = min(tag.messages, target.messages) <= RARE_MESSAGES
    overlap = _overlap(tag.topics, target.topics)
    likeness = _likeness(tag.name, target.name)
    signs: dict[Sign, float] = {}
    if stated:
        signs[Sign.STATED] = len(stated)
    if distance is not None and distance <= MAX_DISTANCE:
        signs[Sign.MEANING] = round(distance, 3)
    if overlap >= (MIN_OVERLAP_RARE if rare else MIN_OVERLAP):
        signs[Sign.TOPICS] = round(overlap, 3)
    if likeness >= (MIN_LIKENESS_RARE if rare else MIN_LIKENESS):
        signs[Sign.SPELLING] = round(likeness, 3)
    # Few messages are no sign by themselves: they only make the others likelier.
    if rare and signs:
        signs[Sign.RARE] = min(tag.messages, target.messages)
    return Pair(tag, target, signs, tuple(sorted(stated)), tuple(sorted(denied)))


def _likeness(one: str, other: str) -> float:
    # The ratio depends on the order a little.
    first, second = sorted((one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 0.0
