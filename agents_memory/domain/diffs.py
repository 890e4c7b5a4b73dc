"""Unified diffs of what is believed: made minimal, and applied to prove them.

Only a line feed ends a line, as for diff(1): a carriage return or U+2028 is a character like any
other.
"""

import re
from collections.abc import Iterator, Sequence

from agents_memory.domain.errors import MemoryFault
from agents_memory.domain.memories import MemoryState, Status

NOTHING = "/dev/null"
CONTEXT_LINES = 1
MAX_EDITS = 200
"""Texts that differ by more lines are shown as replaced: the search costs the square of it."""

_NO_NEWLINE = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\Z")

# Lines a[i:j] become lines b[k:l]: (i, j, k, l).
_Block = tuple[int, int, int, int]


class DiffMismatch(MemoryFault):
    """A diff does not belong to the text it was applied to."""


def projection(state: MemoryState) -> str:
    """What a reader of the active state sees of a memory, as text to compare."""
    head = [f"subject: {state.subject}"]
    if state.tags:
        head.append(f"tags: {', '.join(state.tags)}")
    head.append(f"pinned: {'yes' if state.pinned else 'no'}")
    if state.resolved_at is not None:
        head.append(f"resolved: {state.resolved_at.isoformat()}")
    return "\n".join([*head, "", state.content, ""])


def shown(state: MemoryState | None) -> str | None:
    """The projection of a memory; None for one that is not active, or not yet there."""
    if state is None or state.status is not Status.ACTIVE:
        return None
    return projection(state)


def shown_profile(content: str | None) -> str | None:
    """The same of a document about the user; an empty one counts as none."""
    return f"{content}\n" if content else None


def unified(label: str, before: str | None, after: str | None) -> str:
    """The minimal unified diff of one item, empty when nothing changed.

    None stands for an item that is not active: /dev/null.
    """
    if before == after:
        return ""
    a, b = _lines(before), _lines(after)
    parts = [
        f"--- {NOTHING if before is None else f'a/{label}'}\n",
        f"+++ {NOTHING if after is None else f'b/{label}'}\n",
    ]
    for hunk in _hunks(_blocks(a, b)):
        first, last = hunk[0], hunk[-1]
        start, end = max(first[0] - CONTEXT_LINES, 0), min(last[1] + CONTEXT_LINES, len(a))
        lead, trail = first[0] - start, end - last[1]
        parts.append(f"@@ -{_span(start, end)} +{_span(first[2] - lead, last[3] + trail)} @@\n")
        at = start
        for from_a, to_a, from_b, to_b in hunk:
            parts += map(_context, a[at:from_a])
            parts += map(_removed, a[from_a:to_a])
            parts += map(_added, b[from_b:to_b])
            at = to_a
        parts += map(_context, a[at:end])
    return "".join(parts)


def apply_diff(before: str | None, diff: str) -> str | None:
    """The text that `unified` compared `before` with; `diff` is that of one item.

    Raises DiffMismatch when the diff is malformed or was made from another text.
    """
    if diff == "":
        return before
    lines = diff.split("\n")
    if lines.pop() != "" or len(lines) < 2:
        raise _mismatch("it is cut off")
    if not lines[0].startswith("--- ") or not lines[1].startswith("+++ "):
        raise _mismatch("it has no head")
    if (lines[0] == f"--- {NOTHING}") != (before is None):
        raise _mismatch("one of both is not active")
    a, made = _lines(before), list[str]()
    at, position = 0, 2
    while position < len(lines):
        match = _HUNK.match(lines[position])
        if match is None:
            raise _mismatch(f"its line {position + 1} begins no hunk")
        start, old, new = int(match[1]), int(match[2] or 1), int(match[4] or 1)
        begin = start if old == 0 else start - 1
        if not at <= begin <= len(a):
            raise _mismatch("a hunk lies outside of the text")
        made += a[at:begin]
        at, position = begin, position + 1
        while old or new:
            if position == len(lines):
                raise _mismatch("a hunk is cut off")
            sign, line = lines[position][:1], lines[position][1:] + "\n"
            position += 1
            if lines[position : position + 1] == [_NO_NEWLINE]:
                line, position = line[:-1], position + 1
            if sign in (" ", "-"):
                if at >= len(a) or a[at] != line or not old:
                    raise _mismatch(f"line {at + 1} of the text differs")
                at, old = at + 1, old - 1
            elif sign != "+":
                raise _mismatch(f"its line {position} has no sign")
            if sign in (" ", "+"):
                made.append(line)
                new -= 1
    if lines[1] == f"+++ {NOTHING}":
        if made or a[at:]:
            raise _mismatch("it leaves text that is to be gone")
        return None
    return "".join(made + a[at:])


def _mismatch(what: str) -> DiffMismatch:
    return DiffMismatch(f"the diff does not fit: {what}; read the versions themselves instead")


def _lines(text: str | None) -> list[str]:
    if not text:
        return []
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _span(start: int, end: int) -> str:
    match end - start:
        case 0:
            return f"{start},0"
        case 1:
            return f"{start + 1}"
        case length:
            return f"{start + 1},{length}"


def _shown_line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_NEWLINE}\n"


def _context(line: str) -> str:
    return _shown_line(" ", line)


def _removed(line: str) -> str:
    return _shown_line("-", line)


def _added(line: str) -> str:
    return _shown_line("+", line)


def _hunks(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    """Blocks whose contexts touch stand in one hunk."""
    hunk: list[_Block] = []
    for block in blocks:
        if hunk and block[0] - hunk[-1][1] > 2 * CONTEXT_LINES:
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


def _blocks(a: Sequence[str], b: Sequence[str]) -> list[_Block]:
    """What differs, in order."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    blocks: list[_Block] = []
    i = k = 0
    for x, y in [*_common(inner_a, inner_b), (len(inner_a), len(inner_b))]:
        if (i, k) != (x, y):
            blocks.append((head + i, head + x, head + k, head + y))
        i, k = x + 1, y + 1
    return blocks


def _common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines, as many as there can be (Myers 1986, An O(ND) Difference Algorithm).

    None at all beyond `MAX_EDITS`.
    """
    if not a or not b:
        return []
    furthest = {1: 0}
    steps: list[dict[int, int]] = []
    for edits in range(min(len(a) + len(b), MAX_EDITS) + 1):
        steps.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits
                and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            while x < len(a) and 0 <= x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                return _traced(steps, len(a), len(b))
    return []


def _traced(steps: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The way back from the end of both texts, as its diagonal steps in order."""
    pairs = []
    for edits in range(len(steps) - 1, -1, -1):
        furthest, diagonal = steps[edits], x - y
        down = diagonal == -edits or (
            diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        before = diagonal + 1 if down else diagonal - 1
        from_x = furthest[before] if edits else 0
        from_y = from_x - before if edits else 0
        while x > from_x and y > from_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = from_x, from_y
    return pairs[::-1]
