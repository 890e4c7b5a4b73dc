"""The brief: what a new session is told, packed into the characters a client lets through."""

from collections.abc import Sequence
from typing import NamedTuple

from agents_memory.domain.text import truncate

# Below this a cut line tells nothing.
MIN_LINE_CHARS = 40


class Section(NamedTuple):
    """A heading and its lines, the most important first; an empty section is not shown."""

    heading: str
    lines: tuple[str, ...]


def compose(sections: Sequence[Section], max_chars: int) -> str:
    """The sections in order as Markdown, never longer than `max_chars`.

    Earlier sections and lines win: what does not fit is left out, and a last line that still has
    room for something readable is cut.
    """
    parts: list[str] = []
    left = max_chars
    for section in sections:
        if not section.lines:
            continue
        heading = f"{'' if not parts else chr(10)}## {section.heading}\n"
        if left < len(heading) + MIN_LINE_CHARS:
            break
        block = heading
        for line in section.lines:
            room = left - len(block) - 1
            if room < min(len(line), MIN_LINE_CHARS):
                break
            block += f"{truncate(line, room)}\n"
        if block == heading:
            break
        parts.append(block)
        left -= len(block)
    return "".join(parts).rstrip("\n")


def one_line(text: str, max_chars: int) -> str:
    """A turn on one line, cut to `max_chars`."""
    return truncate(" ".join(text.split()), max_chars)
