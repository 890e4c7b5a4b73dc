"""Codex: `sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`, and flat in `archived_sessions/`.

It logs what the model saw (`response_item`) and what the user saw (`event_msg`); which of the two
holds a turn depends on the release, so both are read and a turn that is in both is one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from agents_memory.domain.messages import Role
from agents_memory.domain.text import content_key, is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object, objects
from ingest.transcripts.line_reader import LineReader, mapping, string, texts
from ingest.transcripts.protocol import FileFacts, Shape

NAME = "codex"
_ROLLOUT = re.compile(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(\.zst)?")
# What the client puts before a prompt, in blocks of its own.
_INJECTED = (
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<hook_prompt",
    "<user_shell_command>",
    "<subagent_notification>",
    "<image",
    "</image>",
)
_IDE, _REQUEST = "# Context from my IDE setup", "## My request for Codex:"
_BEGINS_TURN = ("task_started", "turn_started")
_TOOLS = ("call", "output", "tool", "exec_", "patch_", "mcp_")


class Codex:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        first = folder.parts[0]
        return first in ("sessions", "archived_sessions") or first.isdigit()

    def facts(self, path: PurePath) -> FileFacts | None:
        match = _ROLLOUT.fullmatch(path.name)
        if match is None:
            return None
        if match[2]:
            return FileFacts(match[1], shape=Shape.PACKED, last=True)
        return FileFacts(match[1], context=True)

    def reader(self, facts: FileFacts, beside: Beside) -> "CodexReader":
        found, _ = objects(beside.head(), lambda _: False)
        meta = _Meta.of(_payload(found[0]) if found else {}, facts.session)
        return CodexReader(meta, beside)


@dataclass(frozen=True, slots=True)
class _Meta:
    """Whose session it is, and what it may begin with a copy of."""

    thread: str
    session: str
    cwd: str | None = None
    venue: str | None = None
    subagent: bool = False
    role: str | None = None
    parent: str | None = None

    @classmethod
    def of(cls, meta: Object, name: str) -> "_Meta":
        thread = plain_id(meta.get("id")) or name
        source, origin = meta.get("source"), string(meta.get("originator"))
        spawned = source.get("subagent") if isinstance(source, dict) else None
        spawn = mapping(mapping(spawned).get("thread_spawn"))
        base = mapping(meta.get("history_base"))
        parent = plain_id(spawn.get("parent_thread_id")) or plain_id(meta.get("forked_from_id"))
        above = [plain_id(one) for one in (meta.get("session_id"), spawn.get("parent_thread_id"))]
        session = next((one for one in above if one and one != thread), thread)
        terminal = origin in (None, "codex_cli_rs", "codex-tui", "codex_cli")
        driven = origin == "codex_exec" or source == "exec"
        return cls(
            thread,
            session if spawned is not None else thread,
            string(meta.get("cwd")),
            "auto" if driven else "terminal" if terminal else origin,
            spawned is not None,
            string(spawn.get("agent_role")) or string(spawned),
            None if base else parent,
        )


class CodexReader(LineReader):
    """The reader of one rollout; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self, meta: _Meta, beside: Beside) -> None:
        super().__init__()
        self._meta = meta
        self._beside = beside
        self._first: int | None = None
        self._turn: str | None = None
        self._turn_start = 0
        self._metas = 0
        # The turns of the session that this one begins with a copy of, while it is copied.
        self._copied: set[str] | None = None
        self._model: str | None = None
        self._cwd = meta.cwd
        self._seen: Counter[tuple[str, Role, str]] = Counter()
        self._told: Counter[tuple[Role, str]] = Counter()
        self._given: list[list[str]] = [[]]

    @property
    def held(self) -> int | None:
        # A turn is told by two logs, so reading begins with the turn.
        return self._first if self._copied is not None or self._turn is None else self._turn_start

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        self._first = start if self._first is None else self._first
        kind, payload = line.get("type"), _payload(line)
        what = payload.get("type")
        if kind == "session_meta" or (kind is None and "id" in line):
            self._begin(payload)
        elif kind == "turn_context":
            self._begin_turn(line, payload, start)
            self._model = string(payload.get("model")) or self._model
            self._cwd = string(payload.get("cwd")) or self._cwd
        elif kind == "event_msg" and what in _BEGINS_TURN:
            self._begin_turn(line, payload, start)
        elif self._copied is not None:
            self.tally[Dropped.REPEATED] += 1
        elif kind == "event_msg":
            yield from self._event(line, payload)
        elif kind in ("response_item", "message"):
            yield from self._item(line, payload)
        elif kind == "compacted":
            self.tally[Dropped.COMPACTION] += 1
        else:
            self.tally[_why(str(kind))] += 1

    def _begin(self, payload: Object) -> None:
        self._metas += 1
        if self._metas == 1 and plain_id(payload.get("id")):
            self._meta = _Meta.of(payload, self._meta.thread)
            self._cwd = self._meta.cwd
        elif self._metas == 2 and self._meta.parent is not None and self._turn is None:
            self._copied = _turns(self._beside, self._meta.parent)
        self.tally[Dropped.BOOKKEEPING] += 1

    def _begin_turn(self, line: Object, payload: Object, start: int) -> None:
        self.tally[Dropped.BOOKKEEPING] += 1
        # Old releases name no turns: the time of its beginning does.
        turn = plain_id(payload.get("turn_id")) or f"at {line.get('timestamp')}"
        if self._copied is not None and turn not in self._copied:
            self._copied = None
        if turn != self._turn:
            self._turn, self._turn_start = turn, start
            self._seen.clear()
            self._told.clear()
            self._given.append([])

    def _event(self, line: Object, payload: Object) -> Iterator[Record]:
        match payload.get("type"):
            case "user_message":
                yield from self._say("event", Role.USER, payload.get("message"), line)
            case "agent_message":
                yield from self._say("event", Role.ASSISTANT, payload.get("message"), line)
            case "thread_rolled_back":
                self._roll_back(payload.get("num_turns"))
            case "turn_aborted":
                self.tally[Dropped.INTERRUPTION] += 1
            case other:
                self.tally[_why(str(other))] += 1

    def _item(self, line: Object, payload: Object) -> Iterator[Record]:
        what, role = payload.get("type"), payload.get("role")
        if what != "message":
            self.tally[_why(str(what))] += 1
        elif role not in ("user", "assistant"):
            self.tally[Dropped.META] += 1
        else:
            blocks = list(texts(payload.get("content"), "input_text", "output_text", "text"))
            said = [block for block in blocks if not block.lstrip().startswith(_INJECTED)]
            if len(said) < len(blocks):
                self.tally[Dropped.INJECTED] += 1
            if said or not blocks:
                yield from self._say("item", Role(role), "\n\n".join(said), line)

    def _say(self, log: str, role: Role, said: object, line: Object) -> Iterator[Record]:
        text = said if isinstance(said, str) else ""
        if role is Role.USER and text.lstrip().startswith(_IDE) and _REQUEST in text:
            text = text.partition(_REQUEST)[2].strip()
        if is_blank(text):
            self.tally[Dropped.NO_TEXT] += 1
            return
        key = content_key(text)
        self._seen[log, role, key] += 1
        if self._seen[log, role, key] <= self._told[role, key]:
            # The other log has told it.
            return
        self._told[role, key] += 1
        where = self._turn or f"{self._meta.thread} {line.get('timestamp') or ''}"
        native_id = digest_id(NAME, where, role, key, str(self._told[role, key]))
        self._given[-1].append(native_id)
        yield self._record(role, text, native_id, line)

    def _record(self, role: Role, text: str, native_id: str, line: Object) -> Record:
        meta, typed = self._meta, role is Role.USER
        if meta.subagent and typed:
            # A sub-agent is told its task by its parent.
            role = Role.ASSISTANT
        return Record(
            role,
            text,
            native_id,
            human=typed and not meta.subagent and meta.venue != "auto",
            occurred_at=moment(line.get("timestamp")),
            model=None if typed else self._model,
            session=meta.session,
            cwd=self._cwd,
            venue="subagent" if meta.subagent else meta.venue,
            subagent=meta.subagent,
            subagent_role=meta.role if meta.subagent else None,
        )

    def _roll_back(self, turns: object) -> None:
        self.tally[Dropped.WITHDRAWN] += 1
        for _ in range(turns if isinstance(turns, int) else 0):
            while self._given and not self._given[-1]:
                self._given.pop()
            if not self._given:
                break
            self.withdrawn.update(self._given.pop())
        self._given.append([])


def _payload(line: Object) -> Object:
    """What a line says; the lines of old releases have no envelope."""
    payload = line.get("payload")
    return payload if isinstance(payload, dict) else line


def _why(kind: str) -> Dropped:
    if "reasoning" in kind:
        return Dropped.THINKING
    if "compact" in kind:
        return Dropped.COMPACTION
    return Dropped.TOOL if any(mark in kind for mark in _TOOLS) else Dropped.BOOKKEEPING


def _turns(beside: Beside, thread: str) -> set[str]:
    """The turns of another session, so far as its file is there."""
    path = beside.ending(f"{thread}.jsonl")
    found: set[str] = set()
    for line in () if path is None else beside.lines(path):
        if b'"turn_id"' in line and (b"turn_context" in line or b"_started" in line):
            for one in objects(line, lambda _: False)[0]:
                turn: Any = plain_id(_payload(one).get("turn_id"))
                found.update({turn} if turn else ())
    return found
