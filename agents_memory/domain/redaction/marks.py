"""The marks that stand where secrets stood."""

import re
from collections.abc import Iterable

from agents_memory.domain.redaction.published import is_published

# The words in a mark say nothing about what stands beside it.
MARK = r"\[redacted:[a-z_]{1,32}\]"
_MARKS = re.compile(MARK)


def in_mark(text: str, at: int) -> bool:
    """Whether the place lies in a mark."""
    start = text.rfind("[redacted:", max(0, at - 48), at)
    mark = _MARKS.match(text, start) if start >= 0 else None
    return mark is not None and at < mark.end()


def without_marks(text: str) -> str:
    """The text with each mark emptied of its words."""
    return _MARKS.sub("[]", text) if "[redacted:" in text else text


def lower(text: str) -> str:
    """Lower case with every character at its place (İ alone would become two)."""
    return text.replace("İ", "I").lower()


def put_marks(text: str, spans: Iterable[tuple[int, int, str]], found: dict[str, int]) -> str:
    """Put marks over (start, end, kind) spans, which come in order and do not overlap.

    Keys that manuals publish stay. Counts the marks in `found`; without any, the result is `text`
    itself.
    """
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        if is_published(text[start:end]):
            continue
        parts += (text[done:start], f"[redacted:{kind}]")
        done = end
        found[kind] = found.get(kind, 0) + 1
    return "".join((*parts, text[done:])) if parts else text
