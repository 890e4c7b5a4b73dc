"""Cursor's databases: the editor's key-value table, and a store of blobs for each chat.

The editor's database holds login tokens too, in a table that is never looked at.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.cursor_words import Said, typed_text
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import mapping, string, text_of
from ingest.transcripts.protocol import Window
from ingest.transcripts.rows import RowReader, milliseconds, tables

_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_GENERATING = ("generating", "streaming")

# Looked up by the index of keys: such a table is of gigabytes.
_COMPOSERS = """
SELECT key, length(CAST(value AS BLOB)) FROM cursorDiskKV
WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL"""
_VALUE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_META = "SELECT value FROM meta WHERE key = '0'"
_BLOBS = "SELECT rowid FROM blobs WHERE rowid > ? ORDER BY rowid"
_BLOB = "SELECT data FROM blobs WHERE rowid = ?"


class CursorEditor(RowReader):
    """The reader of `state.vscdb`; see `ingest.transcripts.protocol.DatabaseReader`."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: dict[str, int] = {}
        self._composers: dict[str, Object] = {}
        self._parents: dict[str, str] = {}
        # What each bubble that is settled says, None for no words.
        self._bubbles: dict[str, dict[str, tuple[str, str] | None]] = {}

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        if "cursorDiskKV" not in tables(database):
            return []
        found: list[tuple[int, str]] = []
        for key, size in database.execute(_COMPOSERS).fetchall():
            name = str(key).removeprefix(_COMPOSER)
            if self._sizes.get(name) == size:
                continue
            self._sizes[name] = size
            composer = mapping(self._json(database, str(key)))
            children = composer.get("subComposerIds")
            for child in children if isinstance(children, list) else ():
                self._parents[str(child)] = name
            if _number(composer.get("lastUpdatedAt")) >= milliseconds(window.changed):
                self._composers[name] = composer
                found.append((_number(composer.get("createdAt")), name))
        return [name for _, name in sorted(found)]

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        composer = self._composers.pop(session, {})
        settled, said = self._bubbles.setdefault(session, {}), Said(session)
        bubbles = _bubbles(composer)
        resting = _number(composer.get("lastUpdatedAt")) <= milliseconds(window.rested)
        for number, header in enumerate(bubbles, 1):
            name = str(header.get("bubbleId"))
            if name in settled:
                if (known := settled[name]) is not None:
                    said.id_of(*known)
                continue
            last = number == len(bubbles) and header.get("type") != 1
            if last and not resting and composer.get("status") in (None, *_GENERATING):
                self.waiting = True
                # It is looked at again although its size may stay.
                self._sizes.pop(session, None)
                break
            bubble = header if "text" in header else self._bubble(database, session, name)
            record = self._turn(session, composer, bubble, said)
            settled[name] = None if record is None else (_role(bubble), record.text)
            if record is not None:
                yield record

    def _bubble(self, database: sqlite3.Connection, session: str, name: str) -> Object:
        return mapping(self._json(database, f"{_BUBBLE}{session}:{name}"))

    def _turn(self, session: str, composer: Object, bubble: Object, said: Said) -> Record | None:
        text = bubble.get("text")
        if not isinstance(text, str) or is_blank(text):
            tool, thinking = bubble.get("toolFormerData"), bubble.get("thinking")
            why = Dropped.TOOL if tool else Dropped.THINKING if thinking else Dropped.NO_TEXT
            self.tally[why] += 1
            return None
        parent = self._parents.get(session)
        human = _role(bubble) == "user" and parent is None
        model = mapping(composer.get("modelConfig")).get("modelName")
        place = mapping(mapping(composer.get("workspaceIdentifier")).get("uri"))
        return Record(
            Role.USER if human else Role.ASSISTANT,
            text,
            said.id_of(_role(bubble), text),
            human=human,
            occurred_at=moment(bubble.get("createdAt")),
            model=None if _role(bubble) == "user" else string(model),
            session=_fit(parent or session),
            cwd=string(place.get("fsPath")),
            venue="editor" if parent is None else "subagent",
            subagent=parent is not None,
        )

    def _json(self, database: sqlite3.Connection, key: str) -> Any:
        row = database.execute(_VALUE, (key,)).fetchone()
        # A key may outlive its value.
        return None if row is None or row[0] is None else self._value(row[0])


class CursorChat(RowReader):
    """The reader of one `store.db`; see `ingest.transcripts.protocol.DatabaseReader`.

    Its blobs are messages, in the order in which they were written, and a binary index of them.
    """

    def __init__(self, session: str) -> None:
        super().__init__()
        self._session = session
        self._said = Said(session)
        self._last = 0
        self._when: object = None

    def sessions(self, database: sqlite3.Connection, window: Window) -> list[str]:
        return [self._session] if "blobs" in tables(database) else []

    def turns(self, database: sqlite3.Connection, session: str, window: Window) -> Iterator[Record]:
        meta = self._meta(database)
        for (number,) in database.execute(_BLOBS, (self._last,)).fetchall():
            (data,) = database.execute(_BLOB, (number,)).fetchone() or (None,)
            self._last = number
            if isinstance(data, str):
                data = data.encode("utf-8", "surrogatepass")
            if isinstance(data, bytes) and data.startswith(b"{"):
                record = self._turn(mapping(self._value(data)), meta)
                if record is not None:
                    yield record

    def _turn(self, message: Object, meta: Object) -> Record | None:
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            self.tally[Dropped.TOOL if role == "tool" else Dropped.META] += 1
            return None
        self._when = message.get("createdAt") or self._when
        written = text_of(content, "text")
        text = typed_text(written) if role == "user" else written
        if text is None or is_blank(text):
            blank = Dropped.TOOL if role == "assistant" else Dropped.NO_TEXT
            self.tally[blank if is_blank(written) else Dropped.META] += 1
            return None
        human = role == "user"
        named = mapping(mapping(message.get("providerOptions")).get("cursor")).get("modelName")
        return Record(
            Role(role),
            text,
            self._said.id_of(role, text),
            human=human,
            occurred_at=moment(self._when),
            model=None if human else string(named) or string(meta.get("lastUsedModel")),
            session=self._session,
            cwd=string(meta.get("workspacePath")),
            venue="terminal",
        )

    def _meta(self, database: sqlite3.Connection) -> Object:
        if "meta" not in tables(database):
            return {}
        row = database.execute(_META).fetchone()
        try:
            return mapping(json.loads(bytes.fromhex(row[0])))
        except (ValueError, TypeError, RecursionError):
            return {}


def _bubbles(composer: Object) -> list[Object]:
    """The bubbles of a conversation in their order; in old releases they are all in one value."""
    named = composer.get("fullConversationHeadersOnly") or composer.get("conversation")
    return [one for one in named if isinstance(one, dict)] if isinstance(named, list) else []


def _role(bubble: Object) -> str:
    return "user" if bubble.get("type") == 1 else "assistant"


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value == value else 0


def _fit(name: str) -> str:
    return plain_id(name) or digest_id(name)
