"""Phrases, and where they stand in a text.

Words are compared as a reader takes them: without case, accents, compatibility forms and invisible
signs; what is no letter, digit or pictograph only separates them, so a line break or a hyphen
between two words makes no difference. In scripts with spaces a word is matched whole, never inside
a longer one; in those without (Han, kana, Thai…), and in Hangul, whose particles cling to the word,
each character counts as a word, so a phrase is found anywhere. A text is also read with the escapes
of JSON (`\\n`, `\\u00e9`) and of addresses (`%20`) resolved, and with words whole that a hyphen
breaks at the end of a line.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

MAX_PHRASE_WORDS = 64

Span = tuple[int, int]
Known = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words to be erased, as they are compared."""

    words: tuple[str, ...]

    def spans(self, text: str) -> list[Span]:
        """Where the phrase stands."""
        if text.isascii() and not _may_read_otherwise(text):
            # Nearly every text of a pool ends here.
            lowered = text.lower()
            if not all(word in lowered for word in self.words):
                return []
        return find_known(text, {len(self.words): self.words.__eq__})


def phrase_of(text: str) -> Phrase | None:
    """The phrase that a text is; None when it has no word, or more than `MAX_PHRASE_WORDS`."""
    words = tuple(word for word, _ in words_of(text))
    return Phrase(words) if 0 < len(words) <= MAX_PHRASE_WORDS else None


def find_known(text: str, sizes: Mapping[int, Known]) -> list[Span]:
    spans = [*_matches(text, sizes)]
    if _may_read_otherwise(text):
        for pattern, meant in (_ESCAPE, _meant), (_BREAK, _joined):
            resolved = _resolved(text, pattern, meant)
            if resolved is not None:
                spans += (
                    (resolved.origin(a), resolved.origin_end(b))
                    for a, b in _matches(resolved.text, sizes)
                )
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _matches(text: str, sizes: Mapping[int, Known]) -> Iterator[Span]:
    words, places = list[str](), list[Span]()
    for word, place in words_of(text):
        words.append(word)
        places.append(place)
    for size, known in sizes.items():
        for first in range(len(words) - size + 1):
            if known(tuple(words[first : first + size])):
                yield places[first][0], places[first + size - 1][1]


# Words

_ASCII_WORD = re.compile("[0-9A-Za-z]+")
_WORD = re.compile("w[wmi]*|[cm][mi]*")
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u0640\u115f\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
# Halfwidth voicing marks, vowels and finals of decomposed Hangul, skin tones.
_EXTENDING = re.compile("[\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7fb\U0001f3fb-\U0001f3ff]")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u115e\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua9df\uaa60-\uaadf\uac00-\ud7a3\uf900-\ufaff\uff66-\uffdc"
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd]"
)


class _Classes(dict[int, str]):
    """Code point → `w` in a word, `c` a word of its own, `m` mark, `i` unseen, space: between."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _class_of(chr(code))
        return found


def _class_of(character: str) -> str:
    category = unicodedata.category(character)
    if _IGNORED.match(character):
        return "i"
    if category[0] == "M" or _EXTENDING.match(character):
        return "m"
    if category == "So" or _UNSPACED.match(character):
        return "c"
    return "w" if category[0] in "LN" else " "


_CLASSES = _Classes()


def words_of(text: str) -> Iterator[tuple[str, Span]]:
    """Each word as it is compared, and where it stands."""
    if text.isascii():
        lowered = text.lower()
        yield from ((match[0], match.span()) for match in _ASCII_WORD.finditer(lowered))
        return
    for match in _WORD.finditer(text.translate(_CLASSES)):
        start, end = match.span()
        yield _folded(text[start:end]), (start, end)


@lru_cache(maxsize=16_384)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    word = _IGNORED.sub("", word)
    for _ in range(2):
        word = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", word).casefold())
    kept = list[str]()
    accented = False
    for character in unicodedata.normalize("NFD", word):
        if unicodedata.category(character) == "Mn":
            if accented:
                continue
        else:
            accented = _reads_without_marks(character)
        kept.append(str(unicodedata.digit(character)) if character.isdecimal() else character)
    return unicodedata.normalize("NFC", "".join(kept))


def _reads_without_marks(character: str) -> bool:
    """Whether a letter is Latin, Greek, Hebrew or Arabic; elsewhere marks are letters or vowels."""
    return character < "\u0400" or "\u0590" <= character <= "\u08ff" or "ἀ" <= character <= "῿"


# Other readings

_BREAK = re.compile("(?<=[^\\W\\d_])[-\u2010]\r?\n[ \t]*(?=[^\\W\\d_])")
_ESCAPE = re.compile(
    r"\\+(?:u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|[nrtbf\"/])|(?:%[0-9a-fA-F]{2})+"
)


def _may_read_otherwise(text: str) -> bool:
    return "\\" in text or "%" in text or ("\n" in text and _BREAK.search(text) is not None)


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A text read in another way, and where its pieces came from."""

    text: str
    # Where each piece begins here and there, and how long it is there; literal ones keep it.
    begins: list[int]
    pieces: list[tuple[int, int, bool]]

    def origin(self, at: int) -> int:
        index = bisect_right(self.begins, at) - 1
        start, _, literal = self.pieces[index]
        return start + (at - self.begins[index] if literal else 0)

    def origin_end(self, end: int) -> int:
        index = bisect_right(self.begins, end - 1) - 1
        start, length, literal = self.pieces[index]
        return start + (end - self.begins[index] if literal else length)


def _resolved(text: str, pattern: re.Pattern[str], meant: Callable[[str], str]) -> _Resolved | None:
    if pattern.search(text) is None:
        return None
    parts, begins = list[str](), list[int]()
    pieces = list[tuple[int, int, bool]]()
    done = at = 0
    for match in [*pattern.finditer(text), None]:
        start = len(text) if match is None else match.start()
        for part, origin, length, literal in (
            (text[done:start], done, start - done, True),
            (
                "" if match is None else meant(match[0]),
                start,
                0 if match is None else len(match[0]),
                False,
            ),
        ):
            if part:
                parts.append(part)
                begins.append(at)
                pieces.append((origin, length, literal))
                at += len(part)
        done = start if match is None else match.end()
    return _Resolved("".join(parts), begins, pieces)


def _joined(_: str) -> str:
    return ""


def _meant(escape: str) -> str:
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    codes = [int(part[1:], 16) for part in escape.split("\\") if part[:1] == "u"]
    if not codes:
        return " "
    return b"".join(code.to_bytes(2, "big") for code in codes).decode("utf-16-be", "replace")
