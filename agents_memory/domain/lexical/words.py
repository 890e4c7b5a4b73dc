"""The lexemes of one word: its stem, and for names the whole and each part."""

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from threading import Lock

from snowballstemmer.arabic_stemmer import ArabicStemmer
from snowballstemmer.armenian_stemmer import ArmenianStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.hindi_stemmer import HindiStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.tamil_stemmer import TamilStemmer

from agents_memory.domain.kept import Kept
from agents_memory.domain.lexical.tokens import AS_JOINER, ranges

MAX_LEXEME_CHARS = 64
"""A longer lexeme is replaced by `#` and 64 bits of its hash: still found by an exact query."""

_MAX_STEMMED_CHARS = 32
_MAX_TOKEN_LEXEMES = 128  # What has more parts than that, without a space, is data.
_KEPT_STEMS = 8_192  # New names and paths consist of known words, and stemming takes longest.

_REPEATED = re.compile(r"(.)\1{3,}")


def symbol(run: str) -> str:
    """The lexeme of a run of symbols."""
    return bounded(_REPEATED.sub(r"\1\1\1", run))


def _lexemes(token: str) -> tuple[str, ...]:
    token = _TIME_OF_DAY.sub(":", token.translate(AS_JOINER))
    found: dict[str, None] = {}
    if token[0] == ".":
        found[_fold(token)] = None
        token = token[1:]
    for name in _SIGNED_NAME.findall(token):
        found[_fold(name)] = None
    _add_path(token.rstrip("+#"), found)
    return tuple(bounded(lexeme) for lexeme in found if lexeme)


# Word → its distinct lexemes.
LEXEMES = Kept(_lexemes, most=16_384, max_chars=MAX_LEXEME_CHARS)

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
_ACCENTED = ranges((0x00C0, 0x03FF), (0x0591, 0x08FF), (0x1E00, 0x1FFF), (0x20D0, 0x20FF))


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


@lru_cache(_KEPT_STEMS)
def _stem(folded: str) -> str:
    """The stem by the script of the first letter; words with digits, and very long ones, whole."""
    if not 2 < len(folded) <= _MAX_STEMMED_CHARS or DIGIT.search(folded):
        return folded
    for first, last, stemmer in _STEMMERS:
        if first <= folded[0] <= last:
            with _STEMMING:
                return str(stemmer.stemWord(folded)) or folded
    return folded


DIGIT = re.compile("[0-9]")


def bounded(lexeme: str) -> str:
    """The lexeme, or its hash when it is too long."""
    if len(lexeme) <= MAX_LEXEME_CHARS:
        return lexeme
    return "#" + blake2b(lexeme.encode(), digest_size=8).hexdigest()
