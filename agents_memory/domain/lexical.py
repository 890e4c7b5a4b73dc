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

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from threading import Lock

from snowballstemmer.arabic_stemmer import ArabicStemmer
from snowballstemmer.armenian_stemmer import ArmenianStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.hindi_stemmer import HindiStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.tamil_stemmer import TamilStemmer

MAX_LEXEME_CHARS = 64
"""A longer lexeme is replaced by `#` and 64 bits of its hash: still found by an exact query."""

MAX_TERM_FREQUENCY = 15
"""BM25 with k1 = 1.2 is within 8 % of its limit there; keeps a tsvector small."""

MAX_TSVECTOR_BYTES = 700_000
"""Bound of one row's lexemes with their overhead; PostgreSQL's tsvector ends at 1 MiB."""

MAX_NOISE_BYTES = 300_000
"""The part of it that lexemes which are hardly words (long, or with digits) may take."""

MAX_QUERY_TERMS = 128

_PIECE_CHARS = 65_536
_MAX_STEMMED_CHARS = 32
_MAX_TOKEN_LEXEMES = 128  # What has more parts than that, without a space, is data.
_CACHED_WORDS = 16_384


@dataclass(frozen=True, slots=True)
class Analysis:
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
    for piece in _pieces(text):
        counts, words = _count(piece)
        length += words
        for lexeme, count in counts.items():
            before = terms.get(lexeme, 0)
            after = min(before + count, MAX_TERM_FREQUENCY)
            cost = 2 * (after - before) + (0 if before else _entry_bytes(lexeme))
            noisy = not before and (len(lexeme) > 20 or _DIGIT.search(lexeme) is not None)
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


def query_terms(text: str) -> tuple[str, ...]:
    """Distinct lexemes of a query in order of first appearance, at most `MAX_QUERY_TERMS`.

    Stop words are left out as long as anything else remains; symbols count only when there is no
    word at all. Any string is legal; the result is empty if there is nothing to look for.
    """
    words: dict[str, None] = {}
    stopped: dict[str, None] = {}
    symbols: dict[str, None] = {}
    stop = _stop_lexemes()
    for kind, token in _tokens(next(_pieces(text), "")):
        if kind == _SYMBOL:
            symbols[_symbol(token)] = None
            continue
        for lexeme in _asked(kind, token):
            (stopped if lexeme in stop else words)[lexeme] = None
        if len(words) >= MAX_QUERY_TERMS:
            break
    return tuple(words or stopped or symbols)[:MAX_QUERY_TERMS]


def to_tsvector_literal(terms: Mapping[str, int]) -> str:
    """Text of a tsvector that has each lexeme at positions 1 to its frequency."""
    return " ".join(f"{_quoted(lexeme)}:{_POSITIONS[count]}" for lexeme, count in terms.items())


def to_tsquery_literal(terms: Iterable[str], prefix_last: bool = False) -> str:
    """Text of a tsquery that matches any of the lexemes; the last as a prefix when asked.

    Empty for no lexemes: the empty query, which matches nothing (and earns a notice).
    """
    query = " | ".join(map(_quoted, terms))
    return f"{query}:*" if query and prefix_last else query


_POSITIONS = ["", *(",".join(map(str, range(1, n + 1))) for n in range(1, MAX_TERM_FREQUENCY + 1))]


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _entry_bytes(lexeme: str) -> int:
    """At most what a lexeme takes in a tsvector beside 2 bytes a position."""
    return len(lexeme.encode()) + 8


# Invisible inside a word: soft hyphen, joiners, directional marks, variation selectors, tags.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]"
)
_JOINERS = "._-'/:@\\#+&=?"
_AS_JOINER = str.maketrans({"’": "'", "ʼ": "'", "‐": "-"})


def _ranges(*pairs: tuple[int, int]) -> re.Pattern[str]:
    return re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in pairs) + "]")


_IDEOGRAPHIC = _ranges(
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x303B), (0x3041, 0x309F),
    (0x30A1, 0x30FA), (0x30FC, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
# Thai and Lao, Myanmar, Khmer, Tai, Balinese, Javanese, Myanmar extended, Tai Viet.
_UNSPACED = _ranges(
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),
    (0x1B00, 0x1B7F), (0xA980, 0xA9FF), (0xAA60, 0xAADF),
)  # fmt: skip
_HANGUL = _ranges((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
_PICTURES = _ranges((0x1F000, 0x1FAFF))
_BOX_DRAWING = _ranges((0x2500, 0x259F))


class _Classes(dict[int, str]):
    """Code point → class, worked out when first met.

    `a` letter or mark, `d` digit, `h` ideograph or kana, `t` other script without spaces,
    `k` Hangul, `r` regional indicator, `e` emoji, `!` symbol, `,` mark that means something only in
    a run; joiners stand for themselves, the space for everything that separates.
    """

    def __missing__(self, code: int) -> str:
        self[code] = found = _class_of(chr(code))
        return found


def _class_of(character: str) -> str:
    character = character.translate(_AS_JOINER)
    category = unicodedata.category(character)
    if character in _JOINERS:
        return character
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    if _PICTURES.match(character):
        return "e"
    match category[0]:
        case "L" | "M" if _UNSPACED.match(character):
            return "t"
        case "L" | "M" | "N" if _IDEOGRAPHIC.match(character):
            return "h"
        case "L" | "M" if _HANGUL.match(character):
            return "k"
        case "L" | "M":
            return "a"
        case "N":
            return "d"
        case "S" if character != "`":
            return "e" if category == "So" and not _BOX_DRAWING.match(character) else "!"
        case "P" if category in ("Po", "Pd", "Pc") and character not in '",;':
            return ","
    return " "


_CLASSES = _Classes()

_WORD, _RUN, _HANGUL_WORD, _EMOJI, _SYMBOL = range(1, 6)
_TOKEN = re.compile(
    r"((?:(?<![ad.])\.)?[ad]+(?:(?:\.|[/:@\\#+&=?]{1,3}\.?|_+|[-'])[ad]+)*(?:\+\+?|#)?)"
    r"|([ht]+)|(k+)|(rr?|e)|([!,._\-'/:@\\#+&=?]{2,}|!)"
)


def _tokens(piece: str) -> Iterator[tuple[int, str]]:
    if not piece.isascii():
        piece = unicodedata.normalize("NFKC", _IGNORABLE.sub("", piece))
    for match in _TOKEN.finditer(piece.translate(_CLASSES)):
        yield match.lastindex or 0, piece[match.start() : match.end()]


def _pieces(text: str) -> Iterator[str]:
    """Stretches of bounded size, cut at white space or a full stop unless a stretch has none."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARS
        if end < len(text):
            end = 1 + max(text.rfind(mark, start, end) for mark in " \n\t。，")
            end = end if end > start else start + _PIECE_CHARS
        yield text[start:end]
        start = end


def _count(piece: str) -> tuple[Counter[str], int]:
    """Lexemes of a piece with their frequencies, and its number of words."""
    words: list[str] = []
    lexemes: list[str] = []
    length = 0
    for kind, token in _tokens(piece):
        if kind == _WORD:
            words.append(token)
            continue
        if kind == _SYMBOL:
            lexemes.append(_symbol(token))
            continue
        lexemes += _asked(kind, token)
        length += max(1, len(token) - 1) if kind == _RUN else 1
        if kind == _RUN and len(token) > 1:
            lexemes += token
        elif kind == _HANGUL_WORD and len(token) > 1:
            lexemes.append(token[0])
    counts: Counter[str] = Counter()
    for word, count in Counter(words).items():
        for lexeme in _word_lexemes(word):
            counts[lexeme] += count
    counts.update(lexemes)
    return counts, length + len(words)


def _asked(kind: int, token: str) -> Iterable[str]:
    """The lexemes by which a query looks for a token."""
    if kind == _WORD:
        return _word_lexemes(token)
    if kind == _EMOJI or len(token) == 1:
        return (token,)
    pairs = [token[at : at + 2] for at in range(len(token) - 1)]
    return pairs if kind == _RUN or len(token) == 2 else [_bounded(token), *pairs]


def _symbol(run: str) -> str:
    return _bounded(re.sub(r"(.)\1{3,}", r"\1\1\1", run))


def _word_lexemes(word: str) -> tuple[str, ...]:
    return _cached_lexemes(word) if len(word) <= MAX_LEXEME_CHARS else _lexemes(word)


def _lexemes(token: str) -> tuple[str, ...]:
    token = _TIME_OF_DAY.sub(":", token.translate(_AS_JOINER))
    found: dict[str, None] = {}
    if token[0] == ".":
        found[_fold(token)] = None
        token = token[1:]
    for name in _SIGNED_NAME.findall(token):
        found[_fold(name)] = None
    _add_path(token.rstrip("+#"), found)
    return tuple(_bounded(lexeme) for lexeme in found if lexeme)


_cached_lexemes = lru_cache(maxsize=_CACHED_WORDS)(_lexemes)

_SIGNED_NAME = re.compile(r"(?<![^\W_])(?:[^\W\d_]+\+\+?|[^\W\d_]#)(?![^\W\d_]|\+)")
_PATH_JOINER = re.compile(r"[/:@\\#+&=?]+\.?")
_NAME_JOINER = re.compile(r"[-_']+")
_CLITIC = re.compile(r"'(?:s|re|ve|ll|d|m)\Z|'(?=t\Z)(?<=n')", re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"(?<=[0-9]-[0-9][0-9])[Tt](?=[0-9])")
_VERSION = re.compile(r"[vV][0-9]")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _add_path(token: str, found: dict[str, None]) -> None:
    segments = _PATH_JOINER.split(token)
    if len(segments) > 1:
        found[_fold(token)] = None
    for segment in segments:
        _add_dotted(segment, found, alone=len(segments) == 1)


def _add_dotted(segment: str, found: dict[str, None], alone: bool) -> None:
    parts = segment.split(".")
    if len(parts) > 1:
        found[_fold(segment)] = None
        if _VERSION.match(segment):
            _add_dotted(segment[1:], found, alone=False)
    for part in parts:
        _add_name(part, found, alone=alone and len(parts) == 1)


def _add_name(name: str, found: dict[str, None], alone: bool) -> None:
    """`alone`: the name is the whole token, so that even a single letter of it counts."""
    if len(found) >= _MAX_TOKEN_LEXEMES:
        return
    words = _NAME_JOINER.split(_CLITIC.sub("", name))
    if len(words) > 1:
        found[_stem(_fold("".join(words)))] = None
    for word in words[:_MAX_TOKEN_LEXEMES]:
        if len(word) > 1 or (alone and len(words) == 1):
            _add_word(word, found)


def _add_word(word: str, found: dict[str, None]) -> None:
    folded = _fold(word)
    found[_stem(folded)] = None
    if not word.isascii():
        spelt_out = word.casefold().translate(_UMLAUTS)
        if spelt_out != word.casefold():
            found[_stem(_fold(spelt_out))] = None
    elif len(word) <= MAX_LEXEME_CHARS and not (word.isalpha() and word.islower()):
        humps = _HUMP.findall(word)
        # Encoded data has a hump every other character; names have longer ones.
        if 1 < len(humps) <= len(word) / 3:
            shortest = 2 if word.isalpha() else 3
            for hump in humps:
                if len(hump) >= shortest and hump.isalpha():
                    found[_stem(hump.lower())] = None


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ё": "е"}
)
# Latin, Greek, Hebrew and Arabic read without their marks. In Cyrillic only stress goes: й and ї
# are letters of their own. In the scripts of India marks are vowels and stay.
_STRESS = re.compile("[\u0300\u0301]")
_ACCENTED = _ranges((0x00C0, 0x03FF), (0x0591, 0x08FF), (0x1E00, 0x1FFF), (0x20D0, 0x20FF))


def _fold(text: str) -> str:
    """Without case and accents, digits as ASCII."""
    if text.isascii():
        return text.lower()
    text = _STRESS.sub("", text.casefold())
    if _ACCENTED.search(text):
        text = "".join(
            character
            for character in unicodedata.normalize("NFD", text)
            if unicodedata.category(character) not in ("Mn", "Me")
        )
        text = unicodedata.normalize("NFC", text)
    return "".join(
        str(unicodedata.digit(character)) if character.isdecimal() else character
        for character in text.translate(_UNDECOMPOSED)
    )


_STEMMERS = (
    ("a", "\u024f", EnglishStemmer()),
    ("\u0370", "\u03ff", GreekStemmer()),
    ("\u0400", "\u052f", RussianStemmer()),
    ("\u0530", "\u058f", ArmenianStemmer()),
    ("\u0620", "\u077f", ArabicStemmer()),
    ("\u0900", "\u097f", HindiStemmer()),
    ("\u0b80", "\u0bff", TamilStemmer()),
)
_STEMMING = Lock()  # A Snowball stemmer keeps the word it works on in itself.


def _stem(folded: str) -> str:
    """The stem by the script of the first letter; words with digits, and very long ones, whole."""
    if not 2 < len(folded) <= _MAX_STEMMED_CHARS or _DIGIT.search(folded):
        return folded
    for first, last, stemmer in _STEMMERS:
        if first <= folded[0] <= last:
            with _STEMMING:
                return str(stemmer.stemWord(folded)) or folded
    return folded


_DIGIT = re.compile("[0-9]")


def _bounded(lexeme: str) -> str:
    if len(lexeme) <= MAX_LEXEME_CHARS:
        return lexeme
    return "#" + blake2b(lexeme.encode(), digest_size=8).hexdigest()


# Words that ask or join and name nothing. Left out on purpose: those that are content words in
# another language once folded (die, war, man, für, son, pour, todo, dos, del, van, will, may, us).
_STOP_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her him his how i
if in into is its me my of on or our she so than that the their them then there these they this
those to was we were what when where which who whom whose why with would you your dont didnt
doesnt about any am im just not no yes
der das und ist ein eine einen einem einer dem des ich nicht zu auf von wer wann wo wieso warum
welche welcher wie le la les du et un une est que qui quoi quand où dans avec sur aux ce cette il
elle el los las y en una por con para es qué quién cuándo dónde cómo o da em não com quem gli che
per sono het een niet och att det som på är av
и в во на не что с по это как а для от из у к о за то кто где когда και το της του να
فى في من على إلى ما هل का की के है में और से को क्या
"""
_STOP_RUNS = """
的 了 是 在 吗 呢 我 你 什么 怎么 是什 为什 么时 时候 哪里 哪个 哪些 多少 是谁 请问 什麼 怎麼
の は を に が と で も か です ます すか した から まで とは 何で なに
"""


@cache
def _stop_lexemes() -> frozenset[str]:
    stems = (lexeme for word in _STOP_WORDS.split() for lexeme in _lexemes(word))
    return frozenset(stems) | frozenset(_STOP_RUNS.split())
