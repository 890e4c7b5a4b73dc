"""A text in the pieces within which a denial reaches: sentences, and the clauses of each."""

import re

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？।])|\s*\n+\s*")
# What turns against what was said before it begins a clause of its own, comma or not.
_CLAUSE = re.compile(
    r"[,;:—–]\s|[,;:]\Z|[，、；：،؛。！？]|\s-\s|"
    r"\b(?:but|because|since|so|whereas|aber|sondern|weil|denn|sodass|mais|parce"
    r"|pero|sino|porque|mas|perché|maar|omdat|ale|fakat|но|а|потому|поэтому)\b"
    r"|但是?|而是|因为|所以|지만|그래서|하지만|(?<=けど)|(?<=ので)|\bلكن\b|\bلأن\b",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, none of them blank."""
    return [part for raw in _SENTENCE.split(text) if (part := raw.strip())]


def clauses(text: str) -> list[str]:
    """The clauses of a text, none of them blank."""
    return [
        part
        for sentence in sentences(text)
        for raw in _CLAUSE.split(sentence)
        if (part := raw.strip(" .!?"))
    ]
