"""Names in scripts that have capitals, and words in the place of others."""

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache

from agents_memory.domain import values
from agents_memory.domain.grounding.common import CARRYING, COMMON, SUBJECT_VERBS, VALUES
from agents_memory.domain.grounding.keys import alike, key, shared_letters
from agents_memory.domain.grounding.opposites import sides
from agents_memory.domain.grounding.units import clauses
from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes
from agents_memory.domain.lexical.words import LEXEMES

_CASED = r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff\u0370-\u058f]"
_WORD = re.compile(rf"{_CASED}\w*(?:[._'’/-]\w+)*(?:\+\+|#)?")
# A capital inside, a digit or a joiner: written so by nobody who does not name something.
_IDENTIFIER = re.compile(r"[^\W\d_][0-9]|[a-z][A-Z]|[A-Z]{2}|_\w|\w[./]\w")
_BEGINNING = re.compile(r"(?:\A|[.!?:;\n•]\s*|[-*]\s+)[\"'“„«(]*\Z")
_ARTICLE = re.compile(
    r"(?:the|an?|der|die|das|eine?|le|la|une?|el|una|il|os?|as|het|de)\s", re.IGNORECASE
)
_GERMAN = re.compile(
    r"\b(?:der|das|und|ist|nicht|kein\w*|eine?[mnrs]?|ich|für|dem|zu|muss|wird|im|am|vom|zum)\b"
)
_EAST = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
# The ends of a clause, beside which there is no word.
_START, _END = "", "."


def capitals_missing(statement: str, text: str) -> bool:
    """Whether a name of `statement`, or one of few values, does not stand in `text`."""
    there = analyse(text).terms.keys()
    spoken = {word.casefold() for word in _WORD.findall(text)}
    return any(
        word.casefold() not in spoken and not _said(word, there, spoken)
        for word in _names(statement)
    )


def swaps_a_word(statement: str, text: str) -> bool:
    """Whether `statement` is a clause of `text` with one word in the place of another.

    Its first word is left alone unless an article stands before it: there the verb of "I reside in
    Graz" becomes "Lives in Graz". Verbs that often take each other's place are left alone, too, and
    all of German, whose nouns are known by their capitals and whose verbs come last.
    """
    if _GERMAN.search(statement):
        return False
    said = [[_START, *_telling(clause), _END] for clause in clauses(text)]
    known = {word for words in said for word in words}
    for clause in clauses(statement):
        words = [_START, *_telling(clause), _END]
        passed = _carrying().union(words)
        for at in range(1 if _ARTICLE.match(clause) else 2, len(words) - 1):
            if words[at] in known or words[at] in _carrying() or sides(words[at]):
                continue
            frame = words[at - 1 : at + 2]
            if any(_other_between(frame, each, passed) for each in said):
                return True
    return False


def _other_between(frame: Sequence[str], said: Sequence[str], passed: Set[str]) -> bool:
    """Whether between the outer two words of a frame another was said than the one within."""
    before, word, after = frame
    return any(
        (said[at - 1], said[at + 1]) == (before, after)
        and said[at] not in passed
        and not _one_verb(word, said[at])
        for at in range(1, len(said) - 1)
    )


def _one_verb(one: str, other: str) -> bool:
    """Whether two stems may be forms of one verb: veux, veut."""
    shared = shared_letters(one, other)
    return shared >= 3 and max(len(one), len(other)) - shared <= 2


@cache
def _carrying() -> frozenset[str]:
    return frozenset(map(key, CARRYING))


def _telling(clause: str) -> list[str]:
    """The keys of the words of a clause, in order, without those that only join."""
    stop = stop_lexemes()
    words = (word.casefold() for word in _WORD.findall(clause))
    return [found for word in words if word not in COMMON and (found := key(word)) not in stop]


def _names(statement: str) -> Iterator[str]:
    """Its words that name something."""
    found = list(_WORD.finditer(statement))
    # Beside Chinese, Japanese or Korean every word in these letters is one.
    east = _EAST.search(statement) is not None
    for number, one in enumerate(found):
        word, folded = one[0], one[0].casefold()
        if folded in COMMON or folded in stop_lexemes():
            continue
        follows = found[number + 1][0].casefold() if number + 1 < len(found) else ""
        begins = _BEGINNING.search(statement, 0, one.start()) is not None and not east
        capital = word[0].isupper() and (not begins or follows in SUBJECT_VERBS)
        if capital or _IDENTIFIER.search(word) or _closed(folded):
            yield word


def _closed(word: str) -> bool:
    """Whether it is one of few values that stand for each other: a colour, a month, a weekday."""
    sorts = (values.colour, values.weekday, values.month)
    return word in VALUES or any(sort(word) is not None for sort in sorts)


def _said(word: str, there: Set[str], spoken: Set[str]) -> bool:
    whole, *parts = LEXEMES[word] or ("",)
    if not whole or whole in there or (parts and all(part in there for part in parts)):
        return True
    return any(alike(word.casefold(), one) for one in spoken)
