"""The keyword arm's own analyser: applied to every row when it is written, and to every query.

No language is detected and no dictionary is needed; the same text gives the same lexemes on every
machine. Text is brought to its compatibility form without case, and falls into:

* words of the alphabets, stemmed by the Snowball algorithm of their script (Latin: English) after
  accents are folded. A word yields one lexeme, its stem, so an inflected form and the exact form
  meet there and BM25 counts them once. German umlauts also count as ae, oe, ue.
* identifiers, paths, addresses, versions (`search_memory`, `camelCase`, `foo.bar`, `a/b.py`): the
  whole and each part. Both are counted: who asks for the exact name should see it before its
  parts. `-`, `_`, `'` and camel case join to one word, so `search_memory` meets `searchMemory`.
* runs of scripts written without spaces (Han, kana, Thai, Khmer…): pairs of characters; rows also
  hold the single characters, for queries of one.
* Hangul: the whole word, its pairs, and in rows its first syllable, so particles hide no stem.
* emoji, one by one, and runs of symbols (`->`, `!=`), which only a query without words uses.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from agents_memory.domain.kept import Kept
from agents_memory.domain.lexical.stopwords import asking_lexemes
from agents_memory.domain.lexical.tokens import (
    EMOJI,
    HANGUL_WORD,
    RUN,
    SYMBOL,
    WORD,
    pieces,
    tokenise,
)
from agents_memory.domain.lexical.words import DIGIT, LEXEMES, bounded, symbol
from agents_memory.domain.lexical.words import MAX_LEXEME_CHARS as MAX_LEXEME_CHARS

MAX_TERM_FREQUENCY = 15
"""BM25 with k1 = 1.2 is within 8 % of its limit there; keeps a tsvector small."""

MAX_TSVECTOR_BYTES = 700_000
"""Bound of one row's lexemes with their overhead; PostgreSQL's tsvector ends at 1 MiB."""

MAX_NOISE_BYTES = 300_000
"""The part of it that lexemes which are hardly words (long, or with digits) may take."""

MAX_QUERY_TERMS = 128

# Of four bytes a character, with its overhead and all its positions.
_MAX_ENTRY_BYTES = 4 * MAX_LEXEME_CHARS + 8 + 2 * MAX_TERM_FREQUENCY


class Analysis(NamedTuple):
    """The lexemes of a text with their frequencies (1 to `MAX_TERM_FREQUENCY`).

    `length` is the number of words (pairs, in scripts without spaces) that were read; `cut` says
    that a bound was met and what came last was left out, what hardly looks like words first.
    """

    terms: dict[str, int]
    length: int
    cut: bool


def analyse(text: str) -> Analysis:
    """Lexemes of a row; any string is legal, and one without words has none."""
    terms: dict[str, int] = {}
    length = size = noise = 0
    cut = full = False
    for piece in pieces(text):
        counts, words = _count(piece)
        length += words
        if len(piece) == len(text) and (whole := analysis_of(counts, length)):
            return whole
        for lexeme, count in counts.items():
            before = terms.get(lexeme, 0)
            after = min(before + count, MAX_TERM_FREQUENCY)
            cost = 2 * (after - before) + (0 if before else _entry_bytes(lexeme))
            noisy = not before and (len(lexeme) > 20 or DIGIT.search(lexeme) is not None)
            full = full or size + cost > MAX_TSVECTOR_BYTES
            if full or (noisy and noise + cost > MAX_NOISE_BYTES):
                cut = True
                continue
            size += cost
            noise += cost if noisy else 0
            terms[lexeme] = after
        if full:
            break
    return Analysis(terms, length, cut)


def analysis_of(counts: dict[str, int], length: int) -> Analysis | None:
    """What nearly every text comes to, by its lexemes' frequencies; None if it may meet a bound."""
    if len(counts) * _MAX_ENTRY_BYTES > MAX_NOISE_BYTES:
        return None
    if max(counts.values(), default=0) > MAX_TERM_FREQUENCY:
        counts = {term: min(count, MAX_TERM_FREQUENCY) for term, count in counts.items()}
    return Analysis(counts, length, cut=False)


def query_terms(text: str) -> tuple[str, ...]:
    """Distinct lexemes of a query in order of first appearance, at most `MAX_QUERY_TERMS`.

    Stop words are left out as long as anything else remains; symbols count only when there is no
    word at all. Any string is legal; the result is empty if there is nothing to look for.
    """
    words: dict[str, None] = {}
    stopped: dict[str, None] = {}
    symbols: dict[str, None] = {}
    stop = asking_lexemes()
    for kind, token in tokenise(next(pieces(text), "")):
        if kind == SYMBOL:
            symbols[symbol(token)] = None
            continue
        for lexeme in _asked(kind, token):
            (stopped if lexeme in stop else words)[lexeme] = None
        if len(words) >= MAX_QUERY_TERMS:
            break
    return tuple(words or stopped or symbols)[:MAX_QUERY_TERMS]


def to_tsvector_literal(terms: Mapping[str, int]) -> str:
    """Text of a tsvector that has each lexeme at positions 1 to its frequency."""
    together = "".join(terms)
    if "'" in together or "\\" in together:
        terms = {_escaped(lexeme): count for lexeme, count in terms.items()}
    return " ".join([f"'{lexeme}':{_POSITIONS[count]}" for lexeme, count in terms.items()])


def to_tsquery_literal(terms: Iterable[str], prefix_last: bool = False) -> str:
    """Text of a tsquery that matches any of the lexemes; the last as a prefix when asked.

    Empty for no lexemes: the empty query, which matches nothing (and earns a notice).
    """
    query = " | ".join(f"'{_escaped(term)}'" for term in terms)
    return f"{query}:*" if query and prefix_last else query


_POSITIONS = ["", *(",".join(map(str, range(1, n + 1))) for n in range(1, MAX_TERM_FREQUENCY + 1))]


def _escaped(lexeme: str) -> str:
    return lexeme.replace("\\", "\\\\").replace("'", "''")


def _entry_bytes(lexeme: str) -> int:
    """At most what a lexeme takes in a tsvector beside 2 bytes a position."""
    return len(lexeme.encode()) + 8


_LEXEMES_OF, _WORDS_OF = itemgetter(0), itemgetter(1)


def _count(piece: str) -> tuple[dict[str, int], int]:
    """Lexemes of a piece with their frequencies, and its number of words."""
    # Not token by token, nor in loops of our own: most of what a turn costs is this.
    read = list(map(_READ.__getitem__, piece.split()))
    counts = Counter(chain.from_iterable(map(_LEXEMES_OF, read)))
    return counts, sum(map(_WORDS_OF, read))


def read(text: str) -> tuple[tuple[str, ...], int]:
    """The lexemes of a stretch without white space as often as they count, its number of words."""
    lexemes: list[str] = []
    length = 0
    for kind, token in tokenise(text):
        if kind == SYMBOL:
            lexemes.append(symbol(token))
            continue
        lexemes += _asked(kind, token)
        length += max(1, len(token) - 1) if kind == RUN else 1
        if kind == RUN and len(token) > 1:
            lexemes += token
        elif kind == HANGUL_WORD and len(token) > 1:
            lexemes.append(token[0])
    return tuple(lexemes), length


# Stretch without white space → its lexemes and its number of words.
_READ = Kept(read, most=16_384, max_chars=40)


def _asked(kind: int, token: str) -> Iterable[str]:
    """The lexemes by which a query looks for a token."""
    if kind == WORD:
        return LEXEMES[token]
    if kind == EMOJI or len(token) == 1:
        return (token,)
    pairs = [token[at : at + 2] for at in range(len(token) - 1)]
    return pairs if kind == RUN or len(token) == 2 else [bounded(token), *pairs]
