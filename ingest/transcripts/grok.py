"""Grok: `sessions/<folder>/<uuid>/updates.jsonl` of Grok Build, and the `grok.db` of grok-cli.

`updates.jsonl` is the stream of what was said; the history beside it is rewritten when it is
compacted.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import PurePath
from urllib.parse import unquote

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import LineReader, inside, mapping, string, text_of
from ingest.transcripts.protocol import FileFacts, Shape, Window
from ingest.transcripts.rows import RowReader, columns

NAME = "grok"
_CHUNKS = {"user_message_chunk": Role.USER, "agent_message_chunk": Role.ASSISTANT}

_SESSIONS = """
SELECT id FROM sessions WHERE updated_at >= ? ORDER BY created_at, id"""
_SESSION = "SELECT cwd_last, model FROM sessions WHERE id = ?"
_MESSAGES = "SELECT seq, created_at FROM messages WHERE session_id = ? ORDER BY seq"
_MESSAGE = "SELECT message_json FROM messages WHERE session_id = ? AND seq = ?"


class Grok:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        return folder.parts[0] == "sessions"

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        if parts == ("grok.db",):
            return FileFacts("", shape=Shape.DATABASE)
        if len(parts) < 4 or parts[0] != "sessions" or path.name != "updates.jsonl":
            return None
        session = plain_id(parts[2]) or digest_id(parts[2])
        return FileFacts(session, subagent="subagents" in parts[3:-1], context=True)

    def reader(self, facts: FileFacts, beside: Beside) -> "GrokReader | GrokRows":
        if facts.shape is Shape.DATABASE:
            return GrokRows()
        summary = mapping(beside.document(beside.path.with_name("summary.json")))
        folder = beside.path.parts[1]
        info = mapping(summary.get("info"))
        named = unquote(folder) if folder.startswith("%2F") else None
        parent = plain_id(summary.get("parent_session_id"))
        return GrokReader(
            parent or facts.session,
            cwd=string(info.get("cwd")) or named,
            model=string(summary.get("current_model_id")),
            subagent=facts.subagent or parent is not None,
            role=string(summary.get("agent_name")),
        )


class GrokReader(LineReader):
    """The reader of one stream; see `ingest.transcripts.protocol.Reader`.

    A message comes in chunks. Its identity is its place within the prompt that it belongs to, so
    reading begins with that prompt.
    """

    def __init__(
        self,
        session: str,
        *,
        cwd: str | None,
        model: str | None,
        subagent: bool,
        role: str | None,
    ) -> None:
        super().__init__()
        self._session = session
        self._cwd = cwd
        self._model = model
        self._subagent = subagent
        self._agent = role
        self._prompt: str | None = None
        self._count = 0
        self._role: Role | None = None
        self._chunks: list[str] = []
        self._when: object = None

    @property
    def waiting(self) -> bool:
        return self._role is not None

    def settle(self, *, quiet: bool) -> list[Record]:
        return list(self._close()) if quiet else []

    def _is_record(self, line: Object) -> bool:
        return isinstance(line.get("method"), str) and isinstance(line.get("params"), dict)

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        params = mapping(line.get("params"))
        update, meta = mapping(params.get("update")), mapping(params.get("_meta"))
        kind = update.get("sessionUpdate")
        role = _CHUNKS.get(str(kind))
        prompt = string(meta.get("promptId"))
        changed = prompt is not None and prompt != self._prompt
        if role is None or role is not self._role or changed:
            yield from self._close()
        if changed or (role is Role.USER and self._role is None and prompt is None):
            self._prompt, self._count, self._held = prompt, 0, start
        if role is None:
            self.tally[_why(str(kind))] += 1
            return
        if self._role is None:
            self._role = role
            self._when = meta.get("agentTimestampMs") or line.get("timestamp")
            if self._prompt is None:
                self._prompt = f"at {self._when}"
        chunk = mapping(update.get("content")).get("text")
        self._chunks.append(chunk if isinstance(chunk, str) else "")

    def _close(self) -> Iterator[Record]:
        role, self._role = self._role, None
        text, self._chunks = "".join(self._chunks), []
        if role is None:
            return
        text = inside(text, "user_query") or text
        if is_blank(text):
            self.tally[Dropped.NO_TEXT] += 1
            return
        typed = role is Role.USER
        self._count += 1
        yield Record(
            Role.ASSISTANT if self._subagent else role,
            text,
            digest_id(NAME, self._session, str(self._prompt), role, str(self._count)),
            human=typed and not self._subagent,
            occurred_at=moment(self._when),
            model=None if typed else self._model,
            session=self._session,
            cwd=self._cwd,
            venue="subagent" if self._subagent else "terminal",
            subagent=self._subagent,
            subagent_role=self._agent if self._subagent else None,
        )


def _why(kind: str) -> Dropped:
    if "thought" in kind:
        return Dropped.THINKING
    return Dropped.TOOL if "tool" in kind else Dropped.BOOKKEEPING


class GrokRows(RowReader):
    """The reader of `grok.db`; see `ingest.transcripts.protocol.DatabaseReader`."""

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        if not columns(database, "sessions"):
            return []
        changed = "" if window.changed is None else f"{window.changed:%Y-%m-%dT%H:%M:%S}"
        rows = database.execute(_SESSIONS, (changed,)).fetchall()
        return [name for (name,) in rows if isinstance(name, str)]

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        cwd, model = database.execute(_SESSION, (session,)).fetchone() or (None, None)
        for number, created in database.execute(_MESSAGES, (session,)).fetchall():
            key, when = f"{session}/{number}", moment(created)
            early = window.since is not None and when is not None and when < window.since
            if early or key in self._settled:
                continue
            row = database.execute(_MESSAGE, (session, number)).fetchone()
            self._settled.add(key)
            message = mapping(self._value(None if row is None else row[0]))
            role, text = message.get("role"), text_of(message.get("content"), "text")
            if role not in ("user", "assistant"):
                self.tally[Dropped.TOOL if role == "tool" else Dropped.META] += 1
            elif is_blank(text):
                self.tally[Dropped.TOOL if role == "assistant" else Dropped.NO_TEXT] += 1
            else:
                yield Record(
                    Role(role),
                    text,
                    plain_id(key) or digest_id(NAME, key),
                    human=role == "user",
                    occurred_at=when,
                    model=string(model) if role == "assistant" else None,
                    session=plain_id(session) or digest_id(session),
                    cwd=string(cwd),
                    venue="terminal",
                )
