"""Gemini CLI: `tmp/<project>/chats/session-….jsonl`, sub-agents below `chats/<parent>/`.

A line is a message, a message again as it grows, a change of the session, or an order to forget
messages. Older sessions are one JSON object with the same messages.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, Tally, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object, objects
from ingest.transcripts.line_reader import LineReader, mapping, string, without
from ingest.transcripts.protocol import FileFacts, Shape, Window

NAME = "gemini-cli"
_INJECTED = ("session_context", "hook_context")
_CLIENTS_OWN = ("info", "error", "warning")


class GeminiCli:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        parts = folder.parts
        return parts[0] == "tmp" and (len(parts) < 3 or parts[2] == "chats")

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        lines = path.suffix == ".jsonl"
        if not lines and path.suffix != ".json":
            return None
        shape = Shape.LINES if lines else Shape.DOCUMENT
        if len(parts) == 4 and parts[2] == "chats" and path.name.startswith("session-"):
            session = plain_id(path.stem) or digest_id(path.stem)
            # A session that goes on is written down anew as lines.
            return FileFacts(session, shape=shape, context=True, last=not lines)
        if len(parts) == 5 and parts[2] == "chats" and lines:
            session = plain_id(parts[3]) or digest_id(parts[3])
            return FileFacts(session, subagent=True, context=True)
        return None

    def reader(self, facts: FileFacts, beside: Beside) -> "GeminiLines | GeminiDocument":
        chat = _Chat(facts.session, _cwd(beside), facts.subagent)
        if facts.shape is Shape.DOCUMENT:
            return GeminiDocument(chat)
        found, _ = objects(beside.head(), lambda _: False)
        return GeminiLines(_described(chat, found[0] if found else {}))


@dataclass(frozen=True, slots=True)
class _Chat:
    session: str
    cwd: str | None
    subagent: bool


class GeminiLines(LineReader):
    """The reader of one session; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self, chat: _Chat) -> None:
        super().__init__()
        self._chat = chat
        self._order: list[str] = []
        self._known: set[str] = set()
        self._open: Record | None = None
        self._open_start = 0
        self._open_done = False

    @property
    def held(self) -> int | None:
        return self._open_start if self._open is not None else self._held

    @property
    def waiting(self) -> bool:
        return self._open is not None

    def settle(self, *, quiet: bool) -> list[Record]:
        return list(self._close()) if quiet or self._open_done else []

    def _is_record(self, line: Object) -> bool:
        message = all(isinstance(line.get(name), str) for name in ("id", "type", "timestamp"))
        return message or any(name in line for name in ("$set", "$rewindTo", "sessionId"))

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        change = line.get("$set")
        if isinstance(change, dict):
            messages = change.get("messages")
            if isinstance(messages, list):
                yield from self._replaced(messages, start)
            self.tally[Dropped.BOOKKEEPING] += 1
        elif "$rewindTo" in line:
            self._rewind(line["$rewindTo"])
        elif "sessionId" in line and "type" not in line:
            self._chat = _described(self._chat, line)
            self.tally[Dropped.BOOKKEEPING] += 1
        else:
            yield from self._message(line, start)

    def _message(self, line: Object, start: int) -> Iterator[Record]:
        record = _record(line, self._chat, self.tally)
        name = _id(line, self._chat)
        if self._open is not None and self._open.native_id == name:
            # The same message, a little longer.
            if record is not None:
                self._open = record
            self._open_done = _is_done(line)
            return
        if record is None:
            return
        yield from self._close()
        if name in self._known:
            self.tally[Dropped.REPEATED] += 1
            return
        self._open, self._open_start, self._open_done = record, start, _is_done(line)
        if record.human:
            yield from self._close()

    def _close(self) -> Iterator[Record]:
        if self._open is None:
            return
        record, self._open, self._held = self._open, None, self._open_start
        self._order.append(record.native_id)
        self._known.add(record.native_id)
        # What is there again after all is no longer taken back.
        self.withdrawn.discard(record.native_id)
        yield record

    def _replaced(self, messages: list[Any], start: int) -> Iterator[Record]:
        """Only these messages stand now; those among them that are known are not told again."""
        self._drop_open()
        kept = [message for message in messages if isinstance(message, dict)]
        names = {_id(message, self._chat) for message in kept}
        gone = {name for name in self._order if name not in names}
        self.withdrawn |= gone
        self._known -= gone
        self._order = [name for name in self._order if name in names]
        for message in kept:
            yield from self._message(message, start)

    def _rewind(self, target: object) -> None:
        """Takes a message and all later ones back; all, where it is not known."""
        self.tally[Dropped.WITHDRAWN] += 1
        name = _id({"id": target}, self._chat)
        self._drop_open()
        at = self._order.index(name) if name in self._order else 0
        self.withdrawn.update(self._order[at:])
        self._known.difference_update(self._order[at:])
        del self._order[at:]

    def _drop_open(self) -> None:
        if self._open is not None:
            # What hangs on it may be known only by its id.
            self._open = None
            self.tally[Dropped.WITHDRAWN] += 1


class GeminiDocument:
    """The reader of an old session; see `ingest.transcripts.protocol.DocumentReader`."""

    def __init__(self, chat: _Chat) -> None:
        self.tally: Tally = Counter()
        self.waiting = False
        self._chat = chat
        self._known: set[str] = set()

    def turns(self, document: Any, window: Window) -> Iterator[Record]:
        session = mapping(document)
        chat = _described(self._chat, session)
        messages = session.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict) and _id(message, chat) not in self._known:
                self._known.add(_id(message, chat))
                record = _record(message, chat, self.tally)
                if record is not None:
                    yield record


def _described(chat: _Chat, head: Object) -> _Chat:
    """What is known of a session with what it says itself; a sub-agent's counts as its parent's."""
    folders = head.get("directories")
    first = string(folders[0]) if isinstance(folders, list) and folders else None
    own = plain_id(head.get("sessionId"))
    session = chat.session if chat.subagent or own is None else own
    return replace(chat, session=session, cwd=chat.cwd or first)


def _id(message: Object, chat: _Chat) -> str:
    own = plain_id(message.get("id"))
    if own is not None and len(own) > 30:
        return own
    # Old messages are numbered.
    return digest_id(NAME, chat.session, str(message.get("id")), str(message.get("timestamp")))


def _record(message: Object, chat: _Chat, tally: Tally) -> Record | None:
    kind = message.get("type")
    if kind in _CLIENTS_OWN or kind not in ("user", "gemini"):
        tally[Dropped.BOOKKEEPING] += 1
        return None
    typed = kind == "user"
    text = _text(message.get("displayContent")) if typed else ""
    written = text or _text(message.get("content"))
    text = without(written, _INJECTED) if typed else written
    text = text.strip() if text != written else text
    if is_blank(text):
        tools = bool(message.get("toolCalls"))
        why = Dropped.TOOL if tools else Dropped.THINKING if message.get("thoughts") else None
        tally[why or (Dropped.NO_TEXT if is_blank(written) else Dropped.INJECTED)] += 1
        return None
    return Record(
        Role.USER if typed and not chat.subagent else Role.ASSISTANT,
        text,
        _id(message, chat),
        human=typed and not chat.subagent,
        occurred_at=moment(message.get("timestamp")),
        model=None if typed else string(message.get("model")),
        session=chat.session,
        cwd=chat.cwd,
        venue="subagent" if chat.subagent else "terminal",
        subagent=chat.subagent,
    )


def _text(content: object) -> str:
    """A string, a part, or parts of which some are text and none of those thoughts."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part if isinstance(part, dict) else {"text": part} for part in content]
    said = [part.get("text") for part in parts if not part.get("thought")]
    return "\n\n".join(text for text in said if isinstance(text, str) and text)


def _is_done(message: Object) -> bool:
    return message.get("type") == "user" or bool(message.get("tokens"))


def _cwd(beside: Beside) -> str | None:
    """The folder that a project's short name or hash stands for."""
    project = beside.path.parts[1]
    named = string(beside.text(PurePath("tmp", project, ".project_root")))
    if named is not None:
        return named.strip() or None
    known = mapping(mapping(beside.document(PurePath("projects.json"))).get("projects"))
    for folder, name in known.items():
        digest = hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()
        if project in (name, digest):
            return folder
    return None
