"""What a rule is, and rules made of places where nothing but secrets stand."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agents_memory.domain.redaction.marks import lower, put_marks


@dataclass(frozen=True, slots=True)
class Rule:
    """Replaces secrets of one sort; finds none in a text none of whose words meets its condition.

    A word meets it if its lower case, with a blank on each side, has one of `hints`, and if
    `narrow` holds of the word and of its lower case, where there is a `narrow`. Where there is a
    `value`, it has to hold so of a word of the text as well, the same or another.
    """

    replace: Callable[[str, dict[str, int]], str]
    hints: tuple[str, ...]
    narrow: Callable[[str, str], bool] | None = None
    value: Callable[[str, str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret of some sort stands: the last group that matched.

    `hints` and `narrow` as of the rule, but a hint may have blanks in it.
    """

    sort: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    narrow: Callable[[str, str], bool] | None = None


def rules_of(
    places: Iterable[Place], kind_of: Callable[[str, str], str | None]
) -> tuple[Rule, ...]:
    """A rule for each place; `kind_of` the place's sort and a value tells the kind of a secret."""
    return tuple(_rule(place, kind_of) for place in places)


def _rule(place: Place, kind_of: Callable[[str, str], str | None]) -> Rule:
    hints = tuple(map(str.lstrip, place.hints))

    def replace(text: str, found: dict[str, int]) -> str:
        if not any(map(lower(text).__contains__, hints)):
            return text
        values = (
            (match.span(match.lastindex or 0), match[match.lastindex or 0])
            for match in place.pattern.finditer(text)
        )
        spans = ((*span, kind) for span, value in values if (kind := kind_of(place.sort, value)))
        return put_marks(text, spans, found)

    return Rule(replace, tuple(map(_of_a_word, place.hints)), place.narrow)


def _of_a_word(hint: str) -> str:
    """Of several words the longest, which fewest texts have."""
    return max(hint.split(), key=len) if " " in hint.strip() else hint
