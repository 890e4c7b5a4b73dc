"""Sittings: a session cut where it rested, judged, and put into parts that a summary can tell."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from agents_memory.domain.messages import Role, Trust

IDLE = timedelta(hours=4)
"""A sitting has ended when nothing was said for so long; ours: a lunch break is shorter, a night is
not."""

WRITTEN_WITHIN = timedelta(minutes=30)
"""A memory written so soon after the last word still belongs to the sitting; ours."""

LEAST_LINES = 3
LEAST_BYTES = 500
"""What is shorter in messages, or in UTF-8, is found by itself; ours."""

PART_BYTES = 6_000
"""Of one part, a few thousand characters (fewer in scripts of many bytes); ours. A turn that alone
is longer is a part of its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a session; `bytes` is the length of its text."""

    id: int
    role: Role
    p_tag: int | None
    private: bool
    trust: Trust
    said_at: datetime
    bytes: int


@dataclass(frozen=True, slots=True)
class Note:
    """A memory that somebody wrote, and of which project."""

    at: datetime
    p_tag: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """Turns that stand together, of one project and privacy."""

    p_tag: int | None
    private: bool
    lines: tuple[Line, ...]


def sittings(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines in the order of time, cut where nothing was said for `IDLE`."""
    found: list[list[Line]] = []
    for line in lines:
        if not found or line.said_at - found[-1][-1].said_at >= IDLE:
            found.append([])
        found[-1].append(line)
    return found


def tells(sitting: Sequence[Line]) -> bool:
    """Whether so much was said that a summary helps to find it; a person has to be among them."""
    return (
        len(sitting) >= LEAST_LINES
        and sum(line.bytes for line in sitting) >= LEAST_BYTES
        and any(line.role is Role.USER for line in sitting)
    )


def is_written(sitting: Sequence[Line], rested_on: Collection[int], notes: Iterable[Note]) -> bool:
    """Whether somebody wrote a memory of it: one that rests on a message of it, or one written
    meanwhile (until `WRITTEN_WITHIN` after) that is of none but its projects."""
    if any(line.id in rested_on for line in sitting):
        return True
    began, ended = sitting[0].said_at, sitting[-1].said_at + WRITTEN_WITHIN
    projects = {line.p_tag for line in sitting} - {None}
    return any(
        began <= note.at <= ended and (note.p_tag is None or not projects or note.p_tag in projects)
        for note in notes
    )


def parts(sitting: Sequence[Line], *, most_bytes: int, most_lines: int) -> list[Part]:
    """The parts of a sitting in the order of time, private turns apart.

    A turn is what a person says with the answers to it, and stays whole unless it alone is more
    than `most_bytes` or `most_lines`. Another project begins another part; a turn of no project
    belongs to that before.
    """
    found: list[Part] = []
    for private in (False, True):
        apart = [line for line in sitting if line.private is private]
        for lines in _filled(list(_pieces(apart, most_bytes, most_lines)), most_lines):
            found.append(Part(_project(lines, None), private, tuple(lines)))
    return found


def _turns(lines: Sequence[Line]) -> list[list[Line]]:
    turns: list[list[Line]] = []
    for line in lines:
        if not turns or line.role is Role.USER:
            turns.append([])
        turns[-1].append(line)
    return turns


def _pieces(
    lines: Sequence[Line], most_bytes: int, most_lines: int
) -> Iterator[tuple[int | None, list[Line]]]:
    """Turns with their projects; one that is too much for a summary is cut between messages."""
    project: int | None = None
    for turn in _turns(lines):
        project = _project(turn, project)
        if len(turn) <= most_lines and _bytes(turn) <= most_bytes:
            yield project, turn
            continue
        piece: list[Line] = []
        for line in turn:
            if piece and (len(piece) == most_lines or _bytes(piece) + line.bytes > PART_BYTES):
                yield project, piece
                piece = []
            piece.append(line)
        yield project, piece


def _filled(
    pieces: Sequence[tuple[int | None, list[Line]]], most_lines: int
) -> Iterator[list[Line]]:
    for _, group in groupby(pieces, key=lambda piece: piece[0]):
        filled: list[list[Line]] = [[]]
        for _, piece in group:
            last = filled[-1]
            full = len(last) + len(piece) > most_lines or _bytes([*last, *piece]) > PART_BYTES
            if last and full:
                filled.append([])
            filled[-1] += piece
        # What is left over says little by itself.
        fits = sum(map(len, filled[-2:])) <= most_lines
        if len(filled) > 1 and fits and _bytes(filled[-1]) < LEAST_BYTES:
            rest = filled.pop()
            filled[-1] += rest
        yield from filled


def _project(lines: Iterable[Line], otherwise: int | None) -> int | None:
    return next((line.p_tag for line in lines if line.p_tag is not None), otherwise)


def _bytes(lines: Iterable[Line]) -> int:
    return sum(line.bytes for line in lines)
