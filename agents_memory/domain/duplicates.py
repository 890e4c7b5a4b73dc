"""Whether two statements say the same in nearly the same words: strict, since nothing undoes it.

Only what tells nothing may differ: case, punctuation, articles, a plural, short forms, the subject
in front, and which end of the sentence comes first. Another number, name, negation, preposition or
tense is news, however near the vectors are.
"""

import re
import unicodedata

from agents_memory.domain.text import content_key
from agents_memory.domain.values import words

NEAR_COSINE = 0.97
"""Cosine from which two memories are compared; near is not the same, so the words decide."""

# A word, or a sign that is no punctuation: -5 is not 5, and a question states nothing.
_WORD = re.compile(
    r"""[^\W_]+(?:['.,:/@+#_-]+[^\W_]+)*[+#%]*|[^\w\s.,;:!…"'()\[\]“”„«»‘。，、；：！]"""
)
_SHORT_FORMS = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("n't", " not"),
    ("'re", " are"),
    ("'ll", " will"),
    ("i'm", "i am"),
)
_SHORT = tuple(
    (re.compile(rf"{re.escape(short)}(?!\w)", re.IGNORECASE), whole)
    for short, whole in _SHORT_FORMS
)
# Articles alone. A demonstrative points at something, and a quantity is news.
_EMPTY = words("a an the der die das den dem des ein eine einen einem einer el la los las")
_PLURAL = re.compile(r"(?<=[^\W\d_]{3})s\Z")


def same_statement(subject: str, one: str, other: str) -> bool:
    """Whether two contents about one subject say the same."""
    first, second, named = _words(one), _words(other), _words(subject)
    return _turned(first, second) or _turned(_without(named, first), _without(named, second))


def _turned(one: list[str], other: list[str]) -> bool:
    # "On Tuesdays deploys happen" turns round what "deploys happen on Tuesdays" says.
    if not one or len(one) != len(other):
        return False
    return f" {' '.join(other)} " in f" {' '.join([*one, *one])} "


def _without(named: list[str], found: list[str]) -> list[str]:
    """The words after the subject, if they begin with it and go on."""
    begins = found[: len(named)] == named and len(found) > len(named)
    return found[len(named) :] if begins else found


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    for short, whole in _SHORT:
        plain = short.sub(whole, plain)
    found = _WORD.findall(plain)
    return [
        _PLURAL.sub("", word.casefold())
        for position, word in enumerate(found)
        # Plan A is a name.
        if word.casefold() not in _EMPTY or (position and not word.islower())
    ]


def same_subject(one: str, other: str) -> bool:
    """Whether two memories are about the same, case and spacing aside."""
    return content_key(one) == content_key(other)
