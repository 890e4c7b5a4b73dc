"""The last look at an answer that fits its schema: what it refuses is never stored.

The fields of an answer's model say what they hold:

    quote: Annotated[str, Says.QUOTE, Field(max_length=300)]
    narrative: Annotated[str, Says.PROSE, Field(max_length=600)]

A QUOTE must occur in the source; PROSE must be in a script and language of the source. Strings
without a mark, such as tags, are only looked through for loops and refusals. Whether a line says
no more than its source is looked at line by line (`cold.passes.profile_lines.refusal`, and
`verifying`), since one bad line does not spoil the others.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, get_args

from pydantic import BaseModel

from cold.llm.language import keeps_language
from cold.llm.port import Failure, Why
from cold.llm.refusals import refusal

# More than this, and an answer about its source has added something: characters for any source,
# and a multiple of a longer one.
LEAST_ROOM = 600
MOST_GROWTH = 2
# No prose shrinks to a tenth in a compressor; one phrase again and again does.
LOOP_RATIO = 0.1
LOOP_CHARS = 300

_LOOP = re.compile(r"(.{1,80}?)\1{3,}", re.DOTALL)
_LONGEST_LOOP = 60
_LEAST_TURNS = 4
_SPACE = re.compile(r"\s+")
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»「」『』", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)


class Says(Enum):
    """What a string of an answer is."""

    QUOTE = "quote"
    PROSE = "prose"


def refused(answer: BaseModel, sources: Sequence[str]) -> Failure | None:
    """Why an answer must not be used; None when it may be.

    `sources` are the texts that it is about, as they were shown to the model. Failures: UNGROUNDED,
    REFUSED, REPETITIVE, OVERLONG, FOREIGN.
    """
    texts = list(_texts(answer, frozenset()))
    source = "\n".join(sources)
    written = [text for text, says in texts if Says.QUOTE not in says]
    prose = " ".join(text for text, says in texts if Says.PROSE in says)
    quotes = [text for text, says in texts if Says.QUOTE in says]
    if quotes and not _grounded(quotes, source):
        return Failure(Why.UNGROUNDED, "a quote of the answer does not occur in its source")
    if any(_refuses(text, source) for text in written):
        return Failure(Why.REFUSED, "the model said that it will not do this")
    if any(map(loops, written)) or any(map(_repeats, _lists(answer))):
        return Failure(Why.REPETITIVE, "the answer says the same again and again")
    if source and len(prose) > max(LEAST_ROOM, MOST_GROWTH * len(source)):
        return Failure(Why.OVERLONG, "the answer is much longer than what it is about")
    if source and not keeps_language(prose, source):
        return Failure(Why.FOREIGN, "the answer is in another language than its source")
    return None


def loops(text: str) -> bool:
    """Whether a text is caught in a loop: one piece, four times or more, for most of a line."""
    for found in _LOOP.finditer(text):
        if len(found[0]) >= _LONGEST_LOOP:
            return True
    if len(text) < LOOP_CHARS:
        return False
    raw = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(raw)) < LOOP_RATIO * len(raw)


def _refuses(text: str, source: str) -> bool:
    phrase = refusal(text)
    # Somebody may have been told so, and then it belongs into the answer.
    return phrase is not None and comparable(phrase) not in comparable(source)


def _grounded(quotes: Sequence[str], source: str) -> bool:
    said = comparable(source)
    return all((key := comparable(quote)) and key in said for quote in quotes)


def comparable(text: str) -> str:
    """What two texts share that differ in case, spacing, dashes, quotation marks or forms only.

    The spaces that `wording.legible` puts into control tokens make no difference either.
    """
    text = unicodedata.normalize("NFKC", text).translate(_ALIKE).casefold()
    text = _SPACE.sub(" ", text).strip(" \"'")
    return re.sub(r"([<\[|｜]) ", r"\1", text)


def _repeats(items: list[Any]) -> bool:
    if len(items) < _LEAST_TURNS:
        return False
    return len({repr(item) for item in items}) <= len(items) // 2


def _texts(value: Any, says: frozenset[Says]) -> Iterator[tuple[str, frozenset[Says]]]:
    match value:
        case Enum():
            return
        case str():
            yield value, says
        case list() | tuple():
            for each in value:
                yield from _texts(each, says)
        case BaseModel():
            for name, field in type(value).model_fields.items():
                marks = {mark for mark in field.metadata if isinstance(mark, Says)}
                yield from _texts(getattr(value, name), frozenset(marks | _marks(field.annotation)))


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
        for each in value:
            yield from _lists(each)
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _lists(getattr(value, name))


def _marks(annotation: Any) -> set[Says]:
    """The marks inside of `list[…]` and `… | None`."""
    marks: set[Says] = set()
    for part in get_args(annotation):
        marks |= {part} if isinstance(part, Says) else _marks(part)
    return marks
