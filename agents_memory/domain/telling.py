"""What of a text may be met again elsewhere, and how much that would tell of where it came from.

A name or a number tells much, a rare word some, a common word nothing. The weights are ours; they
were chosen on the half `tune` of `bench/use_set.toml`.
"""

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass

from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.common import common_words
from agents_memory.domain.lexical.stopwords import stop_lexemes
from agents_memory.domain.lexical.tokens import HANGUL_WORD, RUN, WORD, pieces, tokenise
from agents_memory.domain.lexical.words import DIGIT, LEXEMES

EXACT = 1.2
"""A number of three digits or with a fraction, and what is written like code: `db-2`, `a/b.py`."""
NAME = 0.8
"""A rare word with a capital inside of a sentence."""
SHORT_NUMBER = 0.6
"""A number of two digits, a year, a round one."""
NOUN = 0.4
"""The same where a quarter of all words has one, as in German: there it marks any noun."""
RARE = 0.35
"""Another rare word."""
COMMON_NAME = 0.25
"""A common word with a capital inside of a sentence."""
SCRAP = 0.2
"""A number of one digit, and a part of what is written like code."""
LONG_RUN, SHORT_RUN = 0.9, 0.4
"""Three characters and more, or two, of Hangul or a script without spaces, common words aside."""

# Katakana, ideographs, Hangul; hiragana are mostly grammar. Of Thai and its neighbours no words are
# known, and a syllable has several characters.
_SEGMENT = re.compile(
    "[\u30a1-\u30fa\u30fc]{2,}|[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003fffd々〇]{2,}"
    "|[\uac00-\ud7a3]{2,}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{6,}"
)
_LONGEST_COMMON = 5
_EXACT_NUMBER = re.compile(r"\d[.,:]\d|\d{3}")
_YEAR_OR_ROUND = re.compile(r"(?:19|20)\d\d|\d0*")
_JOINED = re.compile(r"[._/@\\:#]")
_CODE = re.compile(r"_|[a-z][A-Z]|[^\W\d_]-?\d|\d-?[^\W\d_]|[^\W\d_]-[A-Z]")
_CAPITALISED = re.compile(r"[^\W\d_][\w’'-]+")
_BEGINS = re.compile(r"(?:\A|[.!?:;•*>|#\n¡¿…])[\s\"'«“„(*`¡¿-]*\Z")
_LOOK_BACK = 12


@dataclass(frozen=True, slots=True)
class Word:
    """A word by its lexeme: what it tells, and what when it is written as a name; 0 .. 1.2.

    `parts`: lexemes of what it is joined of.
    """

    lexeme: str
    weight: float
    as_name: float
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is compared with others.

    `runs` are its stretches of scripts without spaces and of Hangul, `pairs` the neighbours in
    them, `names` the lexemes of words with a capital inside of a sentence; `length` counts words.
    """

    lexemes: Set[str]
    length: int
    words: tuple[Word, ...]
    runs: tuple[str, ...]
    pairs: frozenset[str]
    names: frozenset[str]


def read(text: str) -> Reading:
    """Any string is legal; each word and run is there once."""
    analysis = analyse(text)
    words: dict[str, Word] = {}
    runs: dict[str, None] = {}
    for piece in pieces(text):
        for kind, token in tokenise(piece):
            if kind == WORD:
                for word in _words(token):
                    words.setdefault(word.lexeme, word)
            elif kind in (RUN, HANGUL_WORD):
                runs.update(dict.fromkeys(_SEGMENT.findall(token)))
    return Reading(
        analysis.terms.keys(),
        analysis.length,
        tuple(words.values()),
        tuple(runs),
        frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1)),
        frozenset(_names(text)),
    )


def stretches(run: str, there: Reading, known: Reading) -> Iterator[str]:
    """What of a run is there, too, and neither known nor a common word; two characters or more."""
    kept = [False] * len(run)
    for at in range(len(run) - 1):
        if run[at : at + 2] in there.pairs:
            kept[at] = kept[at + 1] = True
    for at in range(len(run) - 1):
        if run[at : at + 2] in known.pairs:
            kept[at] = kept[at + 1] = False
    common = common_words()
    for size in range(2, _LONGEST_COMMON + 1):
        for at in range(len(run) - size + 1):
            if run[at : at + size] in common:
                kept[at : at + size] = [False] * size
    marked = "".join(c if keep else " " for c, keep in zip(run, kept, strict=True))
    return (part for part in marked.split() if len(part) > 1)


def _words(token: str) -> Iterator[Word]:
    lexemes = LEXEMES[token]
    if not lexemes or lexemes[0] in stop_lexemes():
        return
    whole, parts = lexemes[0], lexemes[1:]
    common = common_words()
    telling = tuple(part for part in parts if part not in common)
    if DIGIT.search(whole) and not _CODE.search(token):
        weight = _number(token)
        yield Word(whole, weight, weight)
    elif whole in common or len(whole) < 3:
        yield Word(whole, 0.0, COMMON_NAME)
    elif _CODE.search(token) or (telling and _JOINED.search(token)):
        yield Word(whole, EXACT, EXACT, telling)
    elif not (parts and _JOINED.search(token)):
        yield Word(whole, RARE, NAME)


def _number(token: str) -> float:
    if _EXACT_NUMBER.search(token) and not _YEAR_OR_ROUND.fullmatch(token):
        return EXACT
    return SCRAP if len(token) == 1 else SHORT_NUMBER


def _names(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFKC", text)
    for found in _CAPITALISED.finditer(text):
        if found[0][0].isupper():
            before = text[max(0, found.start() - _LOOK_BACK) : found.start()]
            if not _BEGINS.search(before):
                yield from LEXEMES[found[0]][:1]
