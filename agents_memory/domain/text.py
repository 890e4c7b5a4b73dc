"""Text as it was said: made storable, cut where a reader would cut it, compared, found empty."""

import re
import unicodedata
from hashlib import blake2b
from typing import NamedTuple

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Largest message that is stored, in bytes of UTF-8 (16 MiB)."""

CONTENT_KEY_CHARS = 400
"""Longest content key; at 4 bytes a character it still fits a b-tree entry of PostgreSQL."""

_REPLACEMENT = "\ufffd"
_ELLIPSIS = "…"

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Characters that join what stands on both sides, or belong to what stands before them, although
# Unicode does not class them as marks: joiners, emoji modifiers, tags, Thai and Lao am, jamo.
_EXTENDING = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7fb"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_REGIONAL_FIRST, _REGIONAL_LAST = "\U0001f1e6", "\U0001f1ff"
_JOINER = "\u200d"
_VIRAMA = 9

# Letters, symbols and marks that draw nothing: Hangul fillers, blank braille, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)

_FORMAT_CHARACTERS = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_WHITESPACE = re.compile(r"\s+")
# Sentence marks, quotes, brackets and bullets. Not the question mark (a question states nothing),
# nor signs that belong to names and numbers, as in C++, C#, .NET, 50% and -5.
_QUOTES = "\"'`´‘’‚“”„«»‹›「」『』（）()[]{}〈〉《》【】"
_OPENING = re.compile(rf"\A(?:[\s{re.escape(_QUOTES)}¡…]|[-*•–—]\s)+")
_CLOSING = _QUOTES + " .,;:!…。、，；：！۔।"


class Repaired(NamedTuple):
    """Storable text, and what had to be changed: `nul`, `surrogate_pair`, `lone_surrogate`."""

    text: str
    changed: tuple[str, ...]


def repair(text: str) -> Repaired:
    """Make any string storable in PostgreSQL and otherwise leave it byte for byte as it was said.

    NUL and lone surrogates become U+FFFD, so that the damage stays visible and the words around it
    don't run together; a surrogate pair given as two code units becomes the character it stands
    for. Nothing is normalised or stripped. Idempotent.
    """
    changed: list[str] = []
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
        changed.append("nul")
    if text.isascii():
        return Repaired(text, tuple(changed))
    joined = _SURROGATE_PAIR.sub(_join_pair, text)
    if len(joined) != len(text):
        changed.append("surrogate_pair")
    whole = _SURROGATE.sub(_REPLACEMENT, joined)
    if whole != joined:
        changed.append("lone_surrogate")
    return Repaired(whole, tuple(changed))


def _join_pair(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def truncate(text: str, max_chars: int) -> str:
    """`text` if it has at most `max_chars` code points, else its beginning followed by `…`.

    The result never exceeds `max_chars` (0 or less gives the empty string) and never ends inside
    what a reader sees as one character: combining marks, joined emoji, flags, conjuncts, CR LF.
    A single such character that is longer than the room leaves only the `…`.
    """
    if max_chars <= 0:
        return ""
    if len(text) <= max_chars:
        return text
    cut = max_chars - 1
    while cut > 0 and _continues(text, cut):
        cut -= 1
    return text[:cut] + _ELLIPSIS


def _continues(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it (after UAX #29)."""
    here, before = text[at], text[at - 1]
    if here.isascii():
        return here == "\n" and before == "\r"
    if _EXTENDING.match(here) or unicodedata.category(here)[0] == "M" or before == _JOINER:
        return True
    if _REGIONAL_FIRST <= here <= _REGIONAL_LAST:
        run = at
        while run > 0 and _REGIONAL_FIRST <= text[run - 1] <= _REGIONAL_LAST:
            run -= 1
        return (at - run) % 2 == 1
    return unicodedata.combining(before) == _VIRAMA and here.isalpha()


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts: '1 message', '2 messages'; `many` is an irregular plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def content_key(text: str) -> str:
    """What two texts share when they say the same thing in the same words.

    Compatibility forms, case, runs of whitespace, invisible format characters and the sentence
    marks, quotes, brackets and bullets around the text make no difference; a question mark does.
    At most `CONTENT_KEY_CHARS` characters: a longer key ends in a 128-bit hash of the whole.
    Idempotent for keys that were not shortened.
    """
    key = _WHITESPACE.sub(" ", _fold(_FORMAT_CHARACTERS.sub("", text)))
    key = _OPENING.sub("", key).rstrip(_CLOSING) or key.strip()
    if len(key) <= CONTENT_KEY_CHARS:
        return key
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return key[: CONTENT_KEY_CHARS - len(digest) - 1] + "#" + digest


def _fold(text: str) -> str:
    """Compatibility caseless form (Unicode 15, definition D146)."""
    for _ in range(2):
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return text


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen: whitespace, control, format and unseen characters."""
    first = text[:1]
    if first.isascii() and first.isalnum():
        # As nearly every text begins.
        return False
    return all(
        character.isspace()
        or unicodedata.category(character) in ("Cc", "Cf")
        or _UNSEEN.match(character) is not None
        for character in text
    )


def has_word(text: str) -> bool:
    """Whether there is a letter or a digit, of any script: symbols alone are near to every text."""
    return any(character.isalnum() for character in text)
