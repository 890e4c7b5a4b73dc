"""What one line of a Claude Code transcript says, by itself."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

from ingest.records import Dropped, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object

# What the client puts around or into a prompt; the words between are its own or a command's.
_WRAPPERS = (
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "task-notification",
)
_OPENING = re.compile(rf"<({'|'.join(_WRAPPERS)})(?:\s[^<>]{{0,500}})?>")
_INTERRUPTION = re.compile(r"^\[Request interrupted by user(?: for tool use)?\][ \t]*$", re.M)


class Speaker(Enum):
    """Who is behind a prompt."""

    PERSON = auto()
    PROGRAM = auto()
    SCHEDULE = auto()
    CLIENT = auto()


def is_record(line: Object) -> bool:
    """Whether an object is a whole line of a conversation, not a part of one."""
    return (
        line.get("type") in ("user", "assistant", "attachment")
        and plain_id(line.get("uuid")) is not None
        and all(isinstance(line.get(name), str) for name in ("sessionId", "timestamp"))
    )


def texts(content: Any) -> Iterator[str]:
    """The texts of a message's content: a string, or blocks of which some are text."""
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            yield text if isinstance(text, str) else ""


def content_of(line: Object) -> Any:
    """The content of the message of a line; None when there is none."""
    message = line.get("message")
    return message.get("content") if isinstance(message, dict) else None


def without_wrappers(text: str) -> tuple[str, bool]:
    """A prompt as it was typed, and whether it tells of an interruption.

    A wrapper that is not closed is left alone. Where nothing is taken out, nothing changes.
    """
    kept: list[str] = []
    done = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(text, done):
        close = f"</{opening[1]}>"
        end = -1 if close in unclosed else text.find(close, opening.end())
        if end < 0:
            unclosed.add(close)
            kept.append(text[done : opening.end()])
            done = opening.end()
        else:
            kept.append(text[done : opening.start()])
            done = end + len(close)
    plain, interruptions = _INTERRUPTION.subn("", "".join((*kept, text[done:])))
    return (text if plain == text else plain.strip()), interruptions > 0


def speaker(line: Object) -> Speaker:
    """Who is behind a prompt, as the client says it; older releases say nothing: a person.

    A session in the background or one driven by a program counts as a person's only where the
    client says so.
    """
    source, origin, entry = (line.get(name) for name in ("promptSource", "origin", "entrypoint"))
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if source == "system":
        return Speaker.CLIENT
    if isinstance(kind, str):
        return Speaker.PERSON if kind == "human" else Speaker.SCHEDULE
    if source in ("typed", "queued"):
        return Speaker.PERSON
    driven = isinstance(entry, str) and entry.startswith("sdk")
    return Speaker.PROGRAM if source or driven or line.get("sessionKind") else Speaker.PERSON


def is_typed(line: Object) -> bool:
    """Whether the client itself says that a person typed this."""
    says = any(line.get(name) for name in ("promptSource", "origin"))
    return says and speaker(line) is Speaker.PERSON


def is_tool_result(line: Object) -> bool:
    """Whether a user's line is what a tool answered."""
    return line.get("toolUseResult") is not None or "tool_result" in _kinds(content_of(line))


def is_meta(line: Object) -> bool:
    """Whether the client wrote a user's line for itself or for the model."""
    marks = ("isMeta", "isVisibleInTranscriptOnly", "isVirtual", "turnCompanion")
    return any(line.get(mark) for mark in marks)


def why_no_text(content: Any) -> Dropped:
    """What an answer without words consists of."""
    kinds = _kinds(content)
    if any("tool" in kind for kind in kinds):
        return Dropped.TOOL
    return Dropped.THINKING if any("thinking" in kind for kind in kinds) else Dropped.NO_TEXT


def identity(line: Object, text: str, start: int) -> str:
    """The turn's own id; where it bears none, one that is made from what it says."""
    when = line.get("timestamp")
    if own := plain_id(line.get("uuid")):
        return own
    where = when if isinstance(when, str) else f"byte {start}"
    return digest_id(str(line.get("sessionId")), str(line.get("type")), where, text)


def said_where(line: Object, session: str) -> dict[str, Any]:
    """Time, place and session of a line, as fields of a record."""
    own, cwd, entry = (line.get(name) for name in ("sessionId", "cwd", "entrypoint"))
    venue = entry if isinstance(entry, str) else None
    return {
        "occurred_at": moment(line.get("timestamp")),
        "session": plain_id(own) or session,
        "cwd": cwd if isinstance(cwd, str) and cwd else None,
        "venue": "terminal" if venue == "cli" else venue,
    }


def _kinds(content: Any) -> set[str]:
    blocks = content if isinstance(content, list) else ()
    return {str(block.get("type")) for block in blocks if isinstance(block, dict)}
