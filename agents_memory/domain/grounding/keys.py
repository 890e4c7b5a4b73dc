"""By what a word is compared with another form of itself, by script."""

import re

from agents_memory.domain.lexical.words import LEXEMES

_ARABIC = re.compile("[\u0600-\u07ff]")
_ARABIC_BEFORE = re.compile("^(?:[وف]?(?:[بكل]?ال|لل|[بكلس](?=.{4}))|[وف](?=.{3}))")
_ARABIC_PERSON = re.compile("^[اأإآيتن]{1,2}(?=.{2})")
_HEBREW_BEFORE = re.compile("^[ובהלמכש](?=[\u05d0-\u05ea]{2})")
# Particles and the ends of verbs, longest first.
_HANGUL_ENDS = re.compile(
    r"(?:으로부터|에게서|입니다|이에요|예요|이다|였다|이었다|습니다|합니다|했습니다|됩니다|됐습니다|하겠습니다"
    r"|겠습니다|한다|했다|된다|됐다|하다|되다|하는|하고|해서|하여|하지|하게|에서는|에서도|에서|에게|에는|에도|한테"
    r"|까지|부터|으로|처럼|보다|라고|이라고|이고|이며|께서|들이|들을|들은|들의|을|를|이|가|은|는|에|의|와|과|도|만|로"
    r"|다|고|며|지|요)$"
)


def key(word: str) -> str:
    """One key for the forms of a word: its stem, in Arabic and Hebrew without what is joined."""
    lexemes = LEXEMES[word]
    if not lexemes:
        return word
    if _ARABIC.match(word):
        bare = _ARABIC_BEFORE.sub("", word)
        return _ARABIC_PERSON.sub("", (LEXEMES[bare] or (bare,))[0])
    return _HEBREW_BEFORE.sub("", lexemes[0])


def hangul_stem(word: str) -> str:
    """A Korean word without its particles and endings."""
    for _ in range(2):
        shorter = _HANGUL_ENDS.sub("", word)
        if len(shorter) < 2:
            break
        word = shorter
    return word


def alike(one: str, other: str) -> bool:
    """Whether two words that differ are likely forms of one: what is inflected is the end.

    Latin letters are compared by their stems already, and Angela is not Angelo: there one has to
    begin with the other, or both with the same seven letters (Warszawa, w Warszawie).
    """
    shared = shared_letters(one, other)
    ends = max(len(one), len(other)) - shared
    if one.isascii() and other.isascii():
        begins = shared == min(len(one), len(other))
        return ends <= 2 and shared >= (5 if begins else 7)
    return shared >= 3 and ends <= 3


def shared_letters(one: str, other: str) -> int:
    """With how many equal letters two words begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
