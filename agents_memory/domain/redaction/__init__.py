"""Secrets are replaced by rules before anything is written: database, spool, embedder.

What is replaced, each by `[redacted:<kind>]`:

* `<private>…</private>`, whatever stands in it; without an end tag, everything to the end
* private key blocks, also cut off ones
* tokens that can be told by their form (AWS, GitHub, OpenAI, JWT, nostr…)
* passwords inside URLs and connection strings; the user and the host stay
* credentials in `Authorization` headers and after `Bearer`
* values given to a name that means a secret (`password=…`, `"api_key": "…"`, `密码：…`), if the
  value looks like one

What stays: the words themselves, references to where a secret is kept (`$PASSWORD`,
`os.environ["X"]`, `process.env.X`), code, type names, placeholders and documentation keys.

Boundaries are ASCII on purpose: `\\b` sees none between a token and a Chinese character. Every
pattern either succeeds or gives up after a bounded number of characters, so time is linear.
Most texts hold nothing like a secret. Each rule has a cheap condition that a word of each of its
finds meets, and is left out where no word does.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from agents_memory.domain.redaction import (
    apart,
    assignments,
    blocks,
    calls,
    commands,
    labelled,
    places,
    queries,
    spoken,
    tables,
    tokens,
    veiled,
)
from agents_memory.domain.redaction.marks import lower, without_marks

_ROUNDS = 8
"""Replacing one secret may lay bare another; a mark never does, so the rounds stay few."""

_Rule = tuple[Callable[[str, str], bool], Callable[[str, dict[str, int]], str]]
_RULES: tuple[_Rule, ...] = (
    (blocks.may_hold_private, blocks.replace_private),
    (blocks.may_hold_keys, blocks.replace_keys),
    (tokens.may_hold_tokens, tokens.replace_tokens),
    (places.may_hold_url_passwords, places.replace_url_passwords),
    (places.may_hold_credentials, places.replace_credentials),
    (assignments.may_hold_assignments, assignments.replace_assigned),
    (commands.may_hold_commands, commands.replace_commands),
    (calls.may_hold_calls, calls.replace_calls),
    (queries.may_hold_queries, queries.replace_queries),
    (spoken.may_hold_spoken, spoken.replace_spoken),
    (apart.may_hold_apart, apart.replace_apart),
    (tables.may_hold_tables, tables.replace_tables),
    (labelled.may_hold_labelled, labelled.replace_labelled),
)
"""Condition (of a word, and of it in lower case) and rule, in the order they are applied."""


_MERGED = sum(
    1 << at
    for at, (_, replace) in enumerate(_RULES)
    if replace in (tokens.replace_tokens, places.replace_url_passwords)
)
"""Rules whose condition may hold of what a mark joins or parts, though of no word before."""


def _any_hint() -> re.Pattern[str]:
    """Matches in the lower case of each word that meets the condition of a rule but tokens'."""
    hints = {
        *(blocks.HINTS + places.HINTS + assignments.HINTS),
        *(commands.HINTS + calls.HINTS + queries.HINTS + spoken.HINTS + labelled.HINTS),
    }
    shortest = (hint for hint in hints if not any(other in hint for other in hints - {hint}))
    return re.compile("|".join(map(re.escape, sorted(shortest))))


_ANY_HINT = _any_hint()
_TOKENS = 1 << [replace for _, replace in _RULES].index(tokens.replace_tokens)
_SPOKEN = 1 << [replace for _, replace in _RULES].index(spoken.replace_spoken)
# Of a word that rules may take for a value, whatever names it.
_VALUE = 1 << len(_RULES)
_LARGE_CHARS = 10_000
_KEPT_WORDS = 32_768
_MAX_KEPT_CHARS = 32


class _Suspicions(dict[str, int]):
    """Word → the rules that may find something in a text that has it, one bit each.

    Worked out when first met, and kept until there are too many: to ask again for each text took
    longer than anything else that is done with it.
    """

    def __missing__(self, word: str) -> int:
        lowered, found = lower(word), 0
        if _ANY_HINT.search(lowered):
            found = sum(may_hold(word, lowered) << at for at, (may_hold, _) in enumerate(_RULES))
        elif len(word) >= tokens.SHORTEST and tokens.may_hold_tokens(word, lowered):
            found = _TOKENS
        if spoken.may_hold_value(lowered):
            found |= _VALUE
        if len(word) <= _MAX_KEPT_CHARS:
            if len(self) >= _KEPT_WORDS:
                self.clear()
            self[word] = found
        return found


_SUSPICIONS = _Suspicions()


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without the secrets that were found, and how many of each kind there were."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """Replace every secret the rules know. Any string is legal; doing it twice changes nothing."""
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        found: dict[str, int] = {}
        plain = text if text.isascii() else veiled.unveil(text, _secrets_in)
        replaced = _replaced(plain, found)
        if not found:
            break
        text = replaced
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    return Redacted(text, counts)


def _secrets_in(text: str) -> int:
    found: dict[str, int] = {}
    _replaced(text, found)
    return sum(found.values())


def _replaced(text: str, found: dict[str, int]) -> str:
    """One round: each rule that may find something, in their order."""
    # Marks have no words and no word grows, so no other rule comes to be suspected midway.
    suspicions = _suspicions(text)
    if not suspicions & _VALUE:
        suspicions &= ~_SPOKEN
    if suspicions & ~_VALUE:
        for at, (_, replace) in enumerate(_RULES):
            if suspicions >> at & 1:
                before, text = text, replace(text, found)
                if text is not before:
                    suspicions |= _MERGED
    return text


def _suspicions(text: str) -> int:
    """The rules that may find something in the text, one bit each."""
    text = without_marks(text)
    # A large text may consist of words that are not kept, and asking for each takes longer.
    words = text.split() if len(text) <= _LARGE_CHARS else [text]
    # Most words arouse none.
    return reduce(or_, set(map(_SUSPICIONS.__getitem__, words)), 0)
