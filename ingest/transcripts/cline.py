"""Cline: `tasks/<id>/ui_messages.json` in VS Code, `sessions/<id>/<id>.messages.json` of its CLI.

Both are one JSON value that is written anew each time. What the model saw is not read: it is cut in
the middle when it grows long, and bears no times.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, Tally, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import inside, mapping, string, text_of, without
from ingest.transcripts.protocol import FileFacts, Shape, Window

NAME = "cline"
_FOLDERS = ("data", "tasks", "sessions")
_WRAPPERS = ("task", "feedback", "answer", "user_message")
_NOISE = ("environment_details",)
_TYPED = ("task", "user_feedback")
_ANSWERS = ("text", "completion_result")
# What it asks is JSON, in which this is the question.
_QUESTIONS = {"followup": "question", "plan_mode_respond": "response"}
_CWD = re.compile(r"# Current Working Directory \((.+?)\) Files")


class Cline:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        return folder.parts[0] in _FOLDERS and len(folder.parts) <= 3

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        if len(parts) < 3:
            return None
        kind, session, name = parts[-3:]
        fits = (kind == "tasks" and name == "ui_messages.json") or (
            kind == "sessions" and name.endswith(".messages.json")
        )
        if not fits:
            return None
        return FileFacts(plain_id(session) or digest_id(session), shape=Shape.DOCUMENT)

    def reader(self, facts: FileFacts, beside: Beside) -> "ClineTask | ClineSession":
        if beside.path.name == "ui_messages.json":
            return ClineTask(facts.session, beside)
        return ClineSession(facts.session, beside)


class ClineTask:
    """The reader of a task; see `ingest.transcripts.protocol.DocumentReader`."""

    def __init__(self, session: str, beside: Beside) -> None:
        self.tally: Tally = Counter()
        self.waiting = False
        self._session = session
        self._known: set[str] = set()
        self._cwd = _cwd_of_task(beside)
        used = mapping(beside.document(beside.path.with_name("task_metadata.json")))
        models = used.get("model_usage")
        last = models[-1] if isinstance(models, list) and models else None
        self._model = string(mapping(last).get("model_id"))

    def turns(self, document: Any, window: Window) -> Iterator[Record]:
        self.waiting = False
        for row in document if isinstance(document, list) else ():
            if not isinstance(row, dict):
                continue
            kind = str(row.get("say") if row.get("type") == "say" else row.get("ask"))
            said = moment(row.get("ts"))
            name = digest_id(NAME, self._session, str(row.get("ts")), str(row.get("type")), kind)
            if name in self._known:
                continue
            if row.get("partial") and (said is None or said > window.rested):
                self.waiting = True
                continue
            self._known.add(name)
            text = _shown(row, kind)
            if text is None or is_blank(text):
                self.tally[_why(kind)] += 1
                continue
            human = kind in _TYPED
            model = string(mapping(row.get("modelInfo")).get("modelId"))
            yield Record(
                Role.USER if human else Role.ASSISTANT,
                text,
                name,
                human=human,
                occurred_at=said,
                model=None if human else model or self._model,
                session=self._session,
                cwd=self._cwd,
                venue="editor",
            )


class ClineSession:
    """The reader of a session of the CLI; see `ingest.transcripts.protocol.DocumentReader`."""

    def __init__(self, session: str, beside: Beside) -> None:
        self.tally: Tally = Counter()
        self.waiting = False
        self._session = session
        self._known: set[str] = set()
        folder = beside.path.parent
        self._about = mapping(beside.document(folder / f"{folder.name}.json"))

    def turns(self, document: Any, window: Window) -> Iterator[Record]:
        session = mapping(document)
        agent = string(session.get("agent"))
        subagent = agent not in (None, "lead")
        messages = session.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict):
                continue
            when = message.get("ts")
            name = digest_id(NAME, self._session, str(agent), str(message.get("id")), str(when))
            if name in self._known:
                continue
            self._known.add(name)
            role = message.get("role")
            text = _typed(message.get("content")) if role == "user" else _told(message)
            if role not in ("user", "assistant") or is_blank(text):
                tool = "tool" in str(message.get("content"))[:10_000]
                self.tally[Dropped.TOOL if tool else Dropped.NO_TEXT] += 1
                continue
            human = role == "user" and not subagent
            model = string(mapping(message.get("modelInfo")).get("id"))
            yield Record(
                Role.USER if human else Role.ASSISTANT,
                text,
                name,
                human=human,
                occurred_at=moment(when),
                model=None if role == "user" else model or string(self._about.get("model")),
                session=self._session,
                cwd=string(self._about.get("cwd")),
                venue="subagent" if subagent else "terminal",
                subagent=subagent,
                subagent_role=agent if subagent else None,
            )


def _shown(row: Object, kind: str) -> str | None:
    """What a row shows as words; None for what is none."""
    text = row.get("text")
    if not isinstance(text, str):
        return None
    if row.get("type") == "say":
        return text if kind in _TYPED or kind in _ANSWERS else None
    if kind not in _QUESTIONS:
        return None
    try:
        return string(mapping(json.loads(text)).get(_QUESTIONS[kind]))
    except (ValueError, RecursionError):
        return text


def _typed(content: object) -> str:
    """What a person typed of a message to the model; results of tools are not."""
    text = without(text_of(content, "text"), _NOISE)
    return next((said for tag in _WRAPPERS if (said := inside(text, tag))), text).strip()


def _told(message: Object) -> str:
    return text_of(message.get("content"), "text")


def _why(kind: str) -> Dropped:
    if kind == "reasoning":
        return Dropped.THINKING
    tool = "tool" in kind or "command" in kind or "mcp" in kind or "browser" in kind
    return Dropped.TOOL if tool else Dropped.BOOKKEEPING


def _cwd_of_task(beside: Beside) -> str | None:
    """The folder of a task, as the list of all says, or what its model was told."""
    folder = beside.path.parent
    known = beside.document(folder.parent.parent / "state" / "taskHistory.json")
    for task in known if isinstance(known, list) else ():
        cwd = string(mapping(task).get("cwdOnTaskInitialization"))
        if cwd is not None and str(mapping(task).get("id")) == folder.name:
            return cwd
    found = _CWD.search(beside.text(folder / "api_conversation_history.json") or "")
    return None if found is None else found[1]
