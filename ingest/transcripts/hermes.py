"""Hermes: `state.db`, and one more for each profile below `profiles`."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import PurePath

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.line_reader import string, text_of
from ingest.transcripts.protocol import FileFacts, Shape, Window
from ingest.transcripts.rows import RowReader, columns

NAME = "hermes"
_PARTS = "\0json:"
# Why a session ends that goes on in a child of its own; any other child is a sub-agent's.
_GOES_ON = ("compression", "branched", "reset")
_MOST_PARENTS = 50
# Where a person sits at this very machine; others may write through a gateway.
_TYPED = (None, "cli", "tui", "acp")

_SESSIONS = """
SELECT session_id, min(id) FROM messages WHERE id > ? AND timestamp >= ?
GROUP BY session_id ORDER BY 2"""
_LAST = "SELECT coalesce(max(id), 0) FROM messages"
_SESSION = "SELECT {} FROM sessions WHERE id = ?"
_MESSAGES = "SELECT id FROM messages WHERE session_id = ? AND timestamp >= ? ORDER BY id"
_MESSAGE = "SELECT {} FROM messages WHERE id = ?"
_OF_SESSIONS = ("parent_session_id", "end_reason", "cwd", "model", "source")
_OF_MESSAGES = ("role", "content", "timestamp", "active", "_compressed_summary", "display_kind")


class Hermes:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        return folder.parts[0] == "profiles" and len(folder.parts) <= 2

    def facts(self, path: PurePath) -> FileFacts | None:
        if path.name != "state.db" or len(path.parts) not in (1, 3):
            return None
        return FileFacts("", shape=Shape.DATABASE)

    def reader(self, facts: FileFacts, beside: Beside) -> "HermesRows":
        return HermesRows()


class HermesRows(RowReader):
    """The reader of `state.db`; see `ingest.transcripts.protocol.DatabaseReader`."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        if not columns(database, "messages"):
            return []
        changed = 0.0 if window.changed is None else window.changed.timestamp()
        (last,) = database.execute(_LAST).fetchone()
        # Smaller numbers than before: another file is in its place.
        after = self._last if last >= self._last else 0
        rows = database.execute(_SESSIONS, (after, changed)).fetchall()
        self._last = last
        return [name for name, _ in rows if isinstance(name, str)]

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        since = 0.0 if window.since is None else window.since.timestamp()
        described = self._described(database, session)
        statement = _chosen(database, "messages", _MESSAGE, _OF_MESSAGES)
        for (number,) in database.execute(_MESSAGES, (session, since)).fetchall():
            key = f"{session}/{number}"
            if key in self._settled:
                continue
            row = database.execute(statement, (number,)).fetchone()
            if row is None:
                continue
            self._settled.add(key)
            found = self._turn(key, dict(zip(_OF_MESSAGES, row, strict=True)), described)
            if isinstance(found, Dropped):
                self.tally[found] += 1
            else:
                yield found

    def _turn(
        self, key: str, row: dict[str, object], session: dict[str, object]
    ) -> Record | Dropped:
        role = row["role"]
        if role not in ("user", "assistant"):
            return Dropped.TOOL if role == "tool" else Dropped.META
        if row["_compressed_summary"]:
            return Dropped.COMPACTION
        if row["display_kind"] == "hidden":
            return Dropped.INJECTED
        if row["active"] == 0:
            return Dropped.WITHDRAWN
        text = _text(row["content"])
        if is_blank(text):
            return Dropped.TOOL if role == "assistant" else Dropped.NO_TEXT
        subagent, typed = bool(session["subagent"]), role == "user"
        source = string(session["source"])
        venue = "terminal" if source == "cli" else source
        return Record(
            Role.USER if typed and not subagent else Role.ASSISTANT,
            text,
            plain_id(key) or digest_id(NAME, key),
            human=typed and not subagent and source in _TYPED,
            occurred_at=moment(row["timestamp"]),
            model=None if typed else string(session["model"]),
            session=str(session["session"]),
            cwd=string(session["cwd"]),
            venue="subagent" if subagent else venue,
            subagent=subagent,
        )

    def _described(self, database: sqlite3.Connection, name: str) -> dict[str, object]:
        """A session, for a sub-agent with its parent's id, for one that goes on with its first."""
        statement = _chosen(database, "sessions", _SESSION, _OF_SESSIONS)
        own: dict[str, object] | None = None
        top, below = name, None
        subagent = False
        for _ in range(_MOST_PARENTS):
            row = database.execute(statement, (top,)).fetchone()
            if row is None:
                break
            found = dict(zip(_OF_SESSIONS, row, strict=True))
            own = own or found
            if below is not None and found["end_reason"] not in _GOES_ON:
                subagent = True
            own["cwd"] = own["cwd"] or found["cwd"]
            above = string(found["parent_session_id"])
            if above is None:
                break
            below, top = top, above
        session = top if subagent else name
        return {
            **(own or dict.fromkeys(_OF_SESSIONS)),
            "subagent": subagent,
            "session": plain_id(session) or digest_id(session),
        }


def _chosen(
    database: sqlite3.Connection, table: str, statement: str, wanted: tuple[str, ...]
) -> str:
    """A statement for the columns that this release has; the others are NULL."""
    known = columns(database, table)
    return statement.format(", ".join(one if one in known else "NULL" for one in wanted))


def _text(content: object) -> str:
    if not isinstance(content, str) or not content.startswith(_PARTS):
        return content if isinstance(content, str) else ""
    try:
        return text_of(json.loads(content[len(_PARTS) :]), "text")
    except (ValueError, RecursionError):
        return ""
