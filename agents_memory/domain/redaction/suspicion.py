"""Which rules may find something in a text, told by its words before any rule is asked.

Most texts hold nothing like a secret. Each rule has a cheap condition that a word of each of its
finds meets, and is left out where no word does. What is known of a word is kept.
"""

import re
from functools import reduce
from operator import or_

from agents_memory.domain.kept import Kept
from agents_memory.domain.redaction import (
    apart,
    assignments,
    blocks,
    calls,
    commands,
    files,
    labelled,
    places,
    queries,
    spoken,
    tables,
    tokens,
    veiled,
)
from agents_memory.domain.redaction.marks import lower, without_marks
from agents_memory.domain.redaction.rules import Rule
from agents_memory.domain.redaction.sought import by_letter

RULES: tuple[Rule, ...] = (
    *blocks.RULES,
    tokens.RULE,
    *places.RULES,
    assignments.RULE,
    *commands.RULES,
    *files.RULES,
    calls.RULE,
    *queries.RULES,
    spoken.RULE,
    apart.RULE,
    tables.RULE,
    *labelled.RULES,
)
"""In the order they are applied."""

_TOKENS = 1 << RULES.index(tokens.RULE)
_EVERY = (1 << len(RULES)) - 1
# Rules whose condition may hold of what a mark joins or parts, though of no word before.
MERGED = _TOKENS | 1 << RULES.index(places.URL_PASSWORDS)


_NARROW = tuple((1 << at, rule.narrow) for at, rule in enumerate(RULES) if rule.narrow)
# Of a word that such a rule may take for a value, whatever names it, there is a bit of its own.
_VALUED = tuple((at, rule.value) for at, rule in enumerate(RULES) if rule.value)
_VALUES = tuple(
    (1 << at, 1 << len(RULES) + place, value) for place, (at, value) in enumerate(_VALUED)
)


def _hinted() -> dict[str, int]:
    """What a word may have, and the rules that it is a hint of, one bit each."""
    hinted: dict[str, int] = {}
    for at, rule in enumerate(RULES):
        for hint in rule.hints:
            hinted[hint] = hinted.get(hint, 0) | 1 << at
    return hinted


_HINTED = _hinted()


def _any_hint() -> re.Pattern[str]:
    hints = _HINTED.keys()
    shortest = (hint for hint in hints if not any(other in hint for other in hints - {hint}))
    return re.compile(by_letter("|".join(map(re.escape, sorted(shortest)))))


_ANY_HINT = _any_hint()
_LONGEST_HINT = max(map(len, _HINTED))
_LARGE_CHARS = 10_000
_PIECE_CHARS = 100_000


def suspicion(word: str) -> int:
    """The rules that may find something in a text that has the word, and those that may take it
    for a value, one bit each."""
    lowered, found = lower(word), 0
    if _has_hint(beside_blanks := f" {lowered} "):
        found = _rules_of(word, lowered, beside_blanks)
    if len(word) >= tokens.SHORTEST and tokens.may_hold_tokens(word):
        found |= _TOKENS
    for _, bit, value in _VALUES:
        if value(word, lowered):
            found |= bit
    return found


def arouses(suspicions: int) -> bool:
    """Whether a rule may find something in a text whose words have these suspicions together."""
    return asked(suspicions) != 0


def is_plain(text: str) -> bool:
    """Whether the words of a text tell all that could arouse a rule, and are not too many."""
    return (
        len(text) <= _LARGE_CHARS
        and "[redacted:" not in text
        and (text.isascii() or not veiled.may_be_veiled(text))
    )


def _has_hint(lowered: str) -> bool:
    # Piece by piece: nothing else in this process runs during a search.
    return any(
        _ANY_HINT.search(lowered, at, at + _PIECE_CHARS + _LONGEST_HINT)
        for at in range(0, len(lowered), _PIECE_CHARS)
    )


# To ask again for each text took longer than anything else that is done with it.
_SUSPICIONS = Kept(suspicion, most=32_768, max_chars=32)


def _rules_of(word: str, lowered: str, beside_blanks: str) -> int:
    """The rules but tokens' whose condition the word meets, one bit each."""
    hints = filter(beside_blanks.__contains__, _HINTED)
    found = reduce(or_, map(_HINTED.__getitem__, hints), 0)
    for rule, narrow in _NARROW:
        if found & rule and not narrow(word, lowered):
            found &= ~rule
    return found


def asked(suspicions: int) -> int:
    """The rules that are asked: not those that find no value where no word may be one."""
    rules = suspicions & _EVERY
    if rules:
        for rule, bit, _ in _VALUES:
            if not suspicions & bit:
                rules &= ~rule
    return rules


def suspicions_of(text: str) -> int:
    """The rules that may find something in the text, one bit each."""
    text = without_marks(text)
    # A large text may consist of words that are not kept, and asking for each takes longer.
    words = text.split() if len(text) <= _LARGE_CHARS else [text]
    # Most words arouse none.
    return reduce(or_, set(map(_SUSPICIONS.__getitem__, words)), 0)
