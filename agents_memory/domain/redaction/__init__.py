"""Secrets are replaced by rules before anything is written: database, spool, embedder.

What is replaced, each by `[redacted:<kind>]`, and by which module:

* `<private>…</private>`, whatever stands in it; without an end tag, everything to the end (blocks)
* private key blocks, also cut off ones (blocks)
* tokens that can be told by their form: AWS, GitHub, OpenAI, JWT, nostr… (tokens)
* passwords inside URLs and connection strings, credentials in headers and after `-u` (places)
* values given to a name that means a secret, if they look like one: `password=…`, `密码：…`
  (assignments, which asks `given`)
* what commands take as a password or a key, or read from their input (commands)
* lines and settings of ~/.netrc, ~/.pgpass, Redis, wireless networks, routers… (files)
* arguments of calls that sign in, sign or encipher, rows of SQL, fields filled in (calls)
* parameters of URLs, webhooks, cookies, fields of key files, seeds of one-time passwords (queries)
* what a sentence says to be a password, an old and a new one too, in 30 languages (spoken)
* secrets apart from their name: in a field, on the next line, in an answer (apart), below the
  title of a column (tables)
* cards, pins, recovery codes, application passwords, the phrases of wallets (labelled)

What stays: the words themselves; references to where a secret is kept (`$PASSWORD`,
`os.environ["X"]`, `process.env.X`); code, type names, placeholders; hashes, ids, paths; the keys
that manuals and standards publish (published).

Boundaries are ASCII on purpose: `\\b` sees none between a token and a Chinese character. Every
pattern either succeeds or gives up after a bounded number of characters, so time is linear.
Most texts hold nothing like a secret. Each rule has a cheap condition that a word of each of its
finds meets, and is left out where no word does; so do patterns begin with a letter or a class,
which a search skips to (sought).
"""

import re
from dataclasses import dataclass
from functools import reduce
from operator import or_

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

_ROUNDS = 8
"""Replacing one secret may lay bare another; a mark never does, so the rounds stay few."""

_RULES: tuple[Rule, ...] = (
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

_TOKENS = 1 << _RULES.index(tokens.RULE)
_EVERY = (1 << len(_RULES)) - 1
# Rules whose condition may hold of what a mark joins or parts, though of no word before.
_MERGED = _TOKENS | 1 << _RULES.index(places.URL_PASSWORDS)


_NARROW = tuple((1 << at, rule.narrow) for at, rule in enumerate(_RULES) if rule.narrow)
# Of a word that such a rule may take for a value, whatever names it, there is a bit of its own.
_VALUED = tuple((at, rule.value) for at, rule in enumerate(_RULES) if rule.value)
_VALUES = tuple(
    (1 << at, 1 << len(_RULES) + place, value) for place, (at, value) in enumerate(_VALUED)
)


def _hinted() -> dict[str, int]:
    """What a word may have, and the rules that it is a hint of, one bit each."""
    hinted: dict[str, int] = {}
    for at, rule in enumerate(_RULES):
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
_KEPT_WORDS = 32_768
_MAX_KEPT_CHARS = 32


class _Suspicions(dict[str, int]):
    """Word → the rules that may find something in a text that has it, one bit each.

    Worked out when first met, and kept until there are too many: to ask again for each text took
    longer than anything else that is done with it.
    """

    def __missing__(self, word: str) -> int:
        found = suspicion(word)
        if len(word) <= _MAX_KEPT_CHARS:
            if len(self) >= _KEPT_WORDS:
                self.clear()
            self[word] = found
        return found


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
    return _asked(suspicions) != 0


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


_SUSPICIONS = _Suspicions()


def _rules_of(word: str, lowered: str, beside_blanks: str) -> int:
    """The rules but tokens' whose condition the word meets, one bit each."""
    hints = filter(beside_blanks.__contains__, _HINTED)
    found = reduce(or_, map(_HINTED.__getitem__, hints), 0)
    for rule, narrow in _NARROW:
        if found & rule and not narrow(word, lowered):
            found &= ~rule
    return found


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without the secrets that were found, and how many of each kind there were."""

    text: str
    counts: dict[str, int]


def redact(text: str, suspicions: int | None = None) -> Redacted:
    """Replace every secret the rules know. Any string is legal; doing it twice changes nothing.

    `suspicions`: those of the words of a plain text together, where they are known.
    """
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        found: dict[str, int] = {}
        if suspicions is None:
            plain = text if text.isascii() else veiled.unveil(text, _secrets_in)
            replaced = _replaced(plain, _suspicions(plain), found)
        else:
            replaced, suspicions = _replaced(text, suspicions, found), None
        if not found:
            break
        text = replaced
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    return Redacted(text, counts)


def _secrets_in(text: str) -> int:
    found: dict[str, int] = {}
    _replaced(text, _suspicions(text), found)
    return sum(found.values())


def _replaced(text: str, suspicions: int, found: dict[str, int]) -> str:
    """One round: each rule that may find something, in their order."""
    # Marks have no words and no word grows, so no other rule comes to be suspected midway.
    if suspicions := _asked(suspicions):
        for at, rule in enumerate(_RULES):
            if suspicions >> at & 1:
                before, text = text, rule.replace(text, found)
                if text is not before:
                    suspicions |= _MERGED
    return text


def _asked(suspicions: int) -> int:
    """The rules that are asked: not those that find no value where no word may be one."""
    asked = suspicions & _EVERY
    if asked:
        for rule, bit, _ in _VALUES:
            if not suspicions & bit:
                asked &= ~rule
    return asked


def _suspicions(text: str) -> int:
    """The rules that may find something in the text, one bit each."""
    text = without_marks(text)
    # A large text may consist of words that are not kept, and asking for each takes longer.
    words = text.split() if len(text) <= _LARGE_CHARS else [text]
    # Most words arouse none.
    return reduce(or_, set(map(_SUSPICIONS.__getitem__, words)), 0)
