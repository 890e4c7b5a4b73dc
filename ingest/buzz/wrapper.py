"""The wrapping that Buzz's bridge puts around a turn for an agent: pure.

In this order: `<base>` (its manual), `<agent-instructions>`, `<core-memory>`, each optional; then
`<context>`, which begins with the scope and names the room; then, optional, the history it quotes;
then the turn itself. The first three are the same with every turn, and what is quoted has messages
of its own. Anything else than this order, or any doubt about where a part ends, is left as it is.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_PREAMBLE = ("base", "agent-instructions", "core-memory")
_CONTEXT = re.compile(r"<context>\r?\n(Scope: (?:thread|channel|dm)\r?\n.*?)\r?\n</context>", re.S)
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CHANNEL = re.compile(rf"^Channel: [^\r\n]*\(#({_UUID})\)\r?$|^Channel: ({_UUID})\r?$", re.M)
_HISTORY = re.compile(r"<((?:thread|conversation)-context)((?: [a-z]+=\"[^\"\n<>]*\")*)>\r?\n")
_INCLUDED = re.compile(r' included="(\d{1,6})"')
_TURN_NAMES = (
    r"(?:what-you-were-working-on|buzz-events?|new-message-arrived-while-you-were-working"
    r"|new-request-supersedes-previous)"
)
_TURN = re.compile(rf"<{_TURN_NAMES}[ >]")
_TURN_WITHIN = re.compile(rf"(?:^|>)[ \t]*<{_TURN_NAMES}[\s>]", re.M)
_PART_WITHIN = re.compile(
    rf"^[ \t]*<(?:{'|'.join(_PREAMBLE)}|context|(?:thread|conversation)-context)[\s>]", re.M
)
# Who has no name comes first: what they say may hold what looks like a name and a time.
_QUOTE = re.compile(
    r"\[(\d{1,6})\] (?:([0-9a-f]{64})|[^\n]*? \(([0-9a-f]{64})\)) "
    r"\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)\): ?"
)
_BLANK = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Quote:
    """A message of the quoted history: who said it, when (to the second, UTC), and the words."""

    author: str
    said_at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A turn without manual and history, the room it was said in, and what the history quoted."""

    text: str
    room: str
    quotes: tuple[Quote, ...]


def unwrap(message: str) -> Wrapping | None:
    """The parts of a wrapped turn; None for anything else, in doubt, and if nothing would go."""
    at = _skip(message, 0)
    for name in _PREAMBLE:
        if message.startswith(f"<{name}>", at):
            end = _only_end(message, name, at)
            if end is None:
                return None
            at = _skip(message, end)
    context = _CONTEXT.match(message, at)
    if context is None or message.count("</context>", at) != 1:
        return None
    rooms = _CHANNEL.findall(context[1])
    if len(rooms) != 1:
        return None
    turn = _skip(message, context.end())
    history = _HISTORY.match(message, turn)
    quotes: tuple[Quote, ...] | None = ()
    if history is not None:
        end = _only_end(message, history[1], turn)
        if end is None:
            return None
        quotes = _quotes(message[history.end() : end - len(f"</{history[1]}>")], history[2])
        turn = _skip(message, end)
    dropped = message[:at] + message[context.end() : turn]
    if quotes is None or not _TURN.match(message, turn) or _TURN_WITHIN.search(dropped):
        return None
    if (not at and history is None) or _PART_WITHIN.search(message, turn):
        return None
    [(named, bare)] = rooms
    return Wrapping(f"{context[0]}\n\n{message[turn:].rstrip()}", named or bare, quotes)


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in white space alone."""
    return one.split() == other.split()


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None, "nothing is blank enough"
    return found.end()


def _only_end(text: str, name: str, start: int) -> int | None:
    """Where a part ends; None where its end stands nowhere, or more than once."""
    tag = f"</{name}>"
    found = text.find(tag, start)
    return found + len(tag) if found >= 0 and text.count(tag) == 1 else None


def _quotes(history: str, attributes: str) -> tuple[Quote, ...] | None:
    """The messages of a history, numbered from 1; None where it is not clear which they are."""
    found: list[tuple[str, datetime, list[str]]] = []
    for line in history.strip("\r\n").splitlines():
        entry = _QUOTE.match(line)
        if entry is not None and int(entry[1]) == len(found) + 1:
            said_at = _moment(entry[4] + entry[5])
            if said_at is None:
                return None
            found.append((entry[2] or entry[3], said_at, [line[entry.end() :]]))
        elif found:
            found[-1][2].append(line)
        else:
            return None
    included = _INCLUDED.search(attributes)
    if not found or (included is not None and int(included[1]) != len(found)):
        return None
    return tuple(Quote(author, said_at, "\n".join(lines)) for author, said_at, lines in found)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
