"""Text in pieces of bounded size, and a piece in tokens."""

import re
import unicodedata
from collections.abc import Iterator

_PIECE_CHARS = 65_536

# Invisible inside a word: soft hyphen, joiners, directional marks, variation selectors, tags.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]"
)
_JOINERS = "._-'/:@\\#+&=?"
AS_JOINER = str.maketrans({"’": "'", "ʼ": "'", "‐": "-"})


def ranges(*pairs: tuple[int, int]) -> re.Pattern[str]:
    """Matches a character of any of the ranges of code points (first and last)."""
    return re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in pairs) + "]")


_IDEOGRAPHIC = ranges(
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x303B), (0x3041, 0x309F),
    (0x30A1, 0x30FA), (0x30FC, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
# Thai and Lao, Myanmar, Khmer, Tai, Balinese, Javanese, Myanmar extended, Tai Viet.
_UNSPACED = ranges(
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),
    (0x1B00, 0x1B7F), (0xA980, 0xA9FF), (0xAA60, 0xAADF),
)  # fmt: skip
_HANGUL = ranges((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
_PICTURES = ranges((0x1F000, 0x1FAFF))
_BOX_DRAWING = ranges((0x2500, 0x259F))


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
    character = character.translate(AS_JOINER)
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

WORD, RUN, HANGUL_WORD, EMOJI, SYMBOL = range(1, 6)
_TOKEN = re.compile(
    r"((?:(?<![ad.])\.)?[ad]+(?:(?:\.|[/:@\\#+&=?]{1,3}\.?|_+|[-'])[ad]+)*(?:\+\+?|#)?)"
    r"|([ht]+)|(k+)|(rr?|e)|([!,._\-'/:@\\#+&=?]{2,}|!)"
)


def tokenise(piece: str) -> Iterator[tuple[int, str]]:
    """Kind and text of each token of a piece, in order."""
    if not piece.isascii():
        piece = unicodedata.normalize("NFKC", _IGNORABLE.sub("", piece))
    for match in _TOKEN.finditer(piece.translate(_CLASSES)):
        yield match.lastindex or 0, piece[match.start() : match.end()]


def pieces(text: str) -> Iterator[str]:
    """Stretches of bounded size, cut at white space or a full stop unless a stretch has none."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARS
        if end < len(text):
            end = 1 + max(text.rfind(mark, start, end) for mark in " \n\t。，")
            end = end if end > start else start + _PIECE_CHARS
        yield text[start:end]
        start = end
