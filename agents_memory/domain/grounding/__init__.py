"""Whether a sentence that was derived from some texts says no more than they do, by rules.

What names something (names, numbers, and every word of a script without capitals) must occur in
the texts, and nothing may be denied that they affirm, turned into its opposite, taken from another
person, or told as so where they only suppose it. Rules cannot see who did what to whom beyond that:
a language model that verifies is asked for it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

from agents_memory.domain.attributes import derived
from agents_memory.domain.contradiction import contradict
from agents_memory.domain.grounding.capitals import swaps_a_word
from agents_memory.domain.grounding.figures import numbers_missing
from agents_memory.domain.grounding.persons import of_another
from agents_memory.domain.grounding.polarity import reverses
from agents_memory.domain.grounding.supposed import only_supposed
from agents_memory.domain.grounding.units import sentences
from agents_memory.domain.grounding.words import names_missing, shares_words
from agents_memory.domain.messages import Trust
from agents_memory.domain.statements import Statement

# Of a long text so much is compared; the texts of one statement are messages of a conversation.
READ_CHARS = 60_000
_SPEAKER = "user"


class Unfounded(StrEnum):
    """What a derived sentence says that its sources do not."""

    NUMBER = "number"
    NAME = "name"
    OPPOSITE = "opposite"
    PERSON = "person"
    SUPPOSED = "supposed"
    UNRELATED = "unrelated"


def unfounded(statement: str, sources: Sequence[str]) -> Unfounded | None:
    """What of `statement` is not told by its sources; None where rules find nothing.

    Strict rather than lenient: a sentence in wholly other words is refused.
    """
    text = "\n".join(sources)[:READ_CHARS]
    if numbers_missing(statement, text):
        return Unfounded.NUMBER
    if names_missing(statement, text):
        return Unfounded.NAME
    if not shares_words(statement, text):
        return Unfounded.UNRELATED
    if reverses(statement, text) or other_value(statement, text):
        return Unfounded.OPPOSITE
    if of_another(statement, text):
        return Unfounded.PERSON
    if only_supposed(statement, text):
        return Unfounded.SUPPOSED
    return Unfounded.NAME if swaps_a_word(statement, text) else None


def other_value(statement: str, text: str) -> bool:
    """Whether `text` gives an attribute of the speaker another value, and never this one."""
    own, told = derived(_SPEAKER, statement), sentences(text)
    if own is None or any(derived(_SPEAKER, sentence) == own for sentence in told):
        return False
    return any(contradict(_said(statement), _said(sentence)) for sentence in told)


def _said(content: str) -> Statement:
    return Statement(0, _SPEAKER, None, content, Trust.OWNER, datetime.min.replace(tzinfo=UTC))
