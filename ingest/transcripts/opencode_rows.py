"""OpenCode's database: `message` and `part`, and the whole messages of `session_message`."""

import sqlite3
from collections.abc import Iterator

from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.line_reader import mapping, string
from ingest.transcripts.opencode_turns import (
    MOST_PARENTS,
    Session,
    folder_of,
    record,
    turn,
    why_nothing,
)
from ingest.transcripts.protocol import Window
from ingest.transcripts.rows import RowReader, milliseconds, tables

_NO_TURN = {"compaction": Dropped.COMPACTION, "synthetic": Dropped.INJECTED}

_SESSIONS = "SELECT id FROM session WHERE time_updated >= ? ORDER BY time_created, id"
_SESSION = """
SELECT s.parent_id, s.directory, p.worktree
FROM session AS s LEFT JOIN project AS p ON p.id = s.project_id
WHERE s.id = ?"""
_MESSAGES = """
SELECT id FROM message WHERE session_id = ? AND time_created >= ? ORDER BY time_created, id"""
_MESSAGE = "SELECT data FROM message WHERE id = ?"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"
_WHOLE_MESSAGES = """
SELECT id FROM session_message WHERE session_id = ? AND time_created >= ? ORDER BY seq"""
_WHOLE_MESSAGE = "SELECT type, data FROM session_message WHERE id = ?"


class OpenCodeRows(RowReader):
    """The reader of `opencode.db`; see `ingest.transcripts.protocol.DatabaseReader`."""

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        if "session" not in tables(database):
            return []
        rows = database.execute(_SESSIONS, (milliseconds(window.changed),)).fetchall()
        return [name for (name,) in rows if isinstance(name, str)]

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        known, since = tables(database), milliseconds(window.since)
        described = self._session(database, session)
        if {"message", "part"} <= known:
            for name in self._unsettled(database, _MESSAGES, session, since):
                yield from self._new(name, self._message(database, name, described, window))
        if "session_message" in known:
            for name in self._unsettled(database, _WHOLE_MESSAGES, session, since):
                yield from self._new(name, self._whole(database, name, described, window))

    def _unsettled(
        self, database: sqlite3.Connection, statement: str, session: str, since: int
    ) -> Iterator[str]:
        for (name,) in database.execute(statement, (session, since)).fetchall():
            if name not in self._settled:
                yield name

    def _new(self, name: str, found: Record | Dropped | None) -> Iterator[Record]:
        if found is None:
            self.waiting = True
            return
        self._settled.add(name)
        if isinstance(found, Dropped):
            self.tally[found] += 1
        else:
            yield found

    def _message(
        self, database: sqlite3.Connection, name: str, session: Session, window: Window
    ) -> Record | Dropped | None:
        """A turn of `message`, or why it is none; None while it is not finished."""
        row = database.execute(_MESSAGE, (name,)).fetchone()
        if row is None:
            return Dropped.WITHDRAWN
        parts = [self._value(data) for (data,) in database.execute(_PARTS, (name,)).fetchall()]
        message = mapping(self._value(row[0]))
        return turn(_native(name), message, parts, session, window.rested)

    def _whole(
        self, database: sqlite3.Connection, name: str, session: Session, window: Window
    ) -> Record | Dropped | None:
        """The same of `session_message`."""
        row = database.execute(_WHOLE_MESSAGE, (name,)).fetchone()
        if row is None:
            return Dropped.WITHDRAWN
        kind, data = row[0], mapping(self._value(row[1]))
        if kind not in ("user", "assistant"):
            return _NO_TURN.get(kind, Dropped.BOOKKEEPING)
        times, content = mapping(data.get("time")), data.get("content")
        begun, typed = moment(times.get("created")), kind == "user"
        open_ = not typed and not (times.get("completed") or data.get("finish"))
        if open_ and (begun is None or begun > window.rested):
            return None
        blocks = [{"type": "text", "text": data.get("text")}] if typed else content
        parts = [block for block in blocks if isinstance(block, dict)] if blocks else []
        texts = [string(block.get("text")) for block in parts if block.get("type") == "text"]
        told = [text for text in texts if text is not None and text.strip()]
        if not told:
            return why_nothing(parts)
        return record(
            _native(name),
            "\n\n".join(told),
            typed=typed,
            session=session,
            cwd=None,
            begun=begun,
            model=string(mapping(data.get("model")).get("id")),
            role=string(data.get("agent")),
        )

    def _session(self, database: sqlite3.Connection, name: str) -> Session:
        top, subagent, cwd = name, False, None
        for _ in range(MOST_PARENTS):
            row = database.execute(_SESSION, (top,)).fetchone()
            if row is None:
                break
            above, directory, worktree = row
            cwd = cwd or folder_of(directory) or folder_of(worktree)
            if not isinstance(above, str) or not above:
                break
            top, subagent = above, True
        return Session(plain_id(top) or digest_id(top), subagent, cwd)


def _native(name: str) -> str:
    return plain_id(name) or digest_id(name)
