"""The part of a long text that a reader should see."""

from collections.abc import Sequence

from agents_memory.domain.text import truncate

ELLIPSIS = "…"


def excerpt(text: str, words: Sequence[str], max_chars: int) -> tuple[str, bool]:
    """At most `max_chars` characters around the first of `words` that occurs, and whether cut.

    `words` are tried in order, without regard to case; the beginning is shown when none occurs.
    """
    if len(text) <= max_chars:
        return text, False
    folded = text.casefold()
    # Case folding may change lengths; then positions in the folded text only come close, which is
    # good enough for a window.
    hits = (folded.find(word.casefold()) for word in words if word)
    at = next((hit for hit in hits if hit >= 0), 0)
    if at < max_chars * 3 // 4:
        return truncate(text, max_chars), True
    start = max(0, min(at - max_chars // 3, len(text) - max_chars))
    while start < len(text) and start < at and not text[start].isspace():
        start += 1
    return ELLIPSIS + truncate(text[start:].lstrip(), max_chars - 1), True
