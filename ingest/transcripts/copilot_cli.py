"""GitHub Copilot CLI: `session-state/<id>/events.jsonl`, older `session-state/<id>.jsonl`.

One file holds a session and all its sub-agents, event by event.
"""

from collections.abc import Iterator
from pathlib import PurePath

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object, objects
from ingest.transcripts.line_reader import LineReader, mapping, string
from ingest.transcripts.protocol import FileFacts

NAME = "copilot-cli"
_FOLDERS = ("session-state", "history-session-state")
_BEGINS = ("session.start", "session.resume", "session.context_changed")


class CopilotCli:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        # What else a session keeps lies one folder deeper.
        return folder.parts[0] in _FOLDERS and len(folder.parts) <= 2

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        if path.suffix != ".jsonl" or parts[0] not in _FOLDERS:
            return None
        if len(parts) == 3 and path.name == "events.jsonl":
            return FileFacts(plain_id(parts[1]) or digest_id(parts[1]), context=True)
        if len(parts) == 2:
            return FileFacts(plain_id(path.stem) or digest_id(path.stem), context=True)
        return None

    def reader(self, facts: FileFacts, beside: Beside) -> "CopilotCliReader":
        found, _ = objects(beside.head(), lambda _: False)
        return CopilotCliReader(facts.session, found[0] if found else {})


class CopilotCliReader(LineReader):
    """The reader of one session; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self, session: str, head: Object) -> None:
        super().__init__()
        self._session = session
        self._cwd: str | None = None
        self._model: str | None = None
        self._agents: dict[str, tuple[str | None, int]] = {}
        self._events: list[tuple[str, str | None]] = []
        if head.get("type") == "session.start":
            self._describe(mapping(head.get("data")))

    @property
    def held(self) -> int | None:
        # The names of the sub-agents that are still at work must be read again.
        working = [start for _, start in self._agents.values()]
        return min((*working, *(() if self._held is None else (self._held,))), default=None)

    def _is_record(self, line: Object) -> bool:
        return all(isinstance(line.get(name), str) for name in ("type", "id", "timestamp"))

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        data, given = mapping(line.get("data")), None
        match line.get("type"):
            case "user.message":
                given = self._user(line, data, start)
            case "assistant.message":
                given = self._assistant(line, data, start)
            case "session.snapshot_rewind":
                self._rewind(data.get("upToEventId"))
            case "abort":
                self.tally[Dropped.INTERRUPTION] += 1
            case kind:
                self._note(str(kind), data, start)
        if (event := plain_id(line.get("id"))) is not None:
            self._events.append((event, None if given is None else given.native_id))
        if given is not None:
            self._held = start
            yield given

    def _note(self, kind: str, data: Object, start: int) -> None:
        if kind in _BEGINS:
            self._describe(data)
        elif kind == "session.model_change":
            self._model = string(data.get("newModel")) or self._model
        elif (agent := string(data.get("toolCallId"))) and kind == "subagent.started":
            self._agents[agent] = (string(data.get("agentName")), start)
        elif agent and kind in ("subagent.completed", "subagent.failed"):
            self._agents.pop(agent, None)
        compaction, tool = "compaction" in kind, kind.startswith("tool.")
        thinking = "reasoning" in kind
        self.tally[
            Dropped.COMPACTION
            if compaction
            else Dropped.TOOL
            if tool
            else Dropped.THINKING
            if thinking
            else Dropped.BOOKKEEPING
        ] += 1

    def _user(self, line: Object, data: Object, start: int) -> Record | None:
        if data.get("source") not in (None, "", "user"):
            self.tally[Dropped.MACHINE_PROMPT] += 1
            return None
        return self._record(Role.USER, line, data, start)

    def _assistant(self, line: Object, data: Object, start: int) -> Record | None:
        self._model = string(data.get("model")) or self._model
        return self._record(Role.ASSISTANT, line, data, start)

    def _record(self, role: Role, line: Object, data: Object, start: int) -> Record | None:
        text = data.get("content")
        if not isinstance(text, str) or is_blank(text):
            tools = bool(data.get("toolRequests"))
            thinking = bool(data.get("reasoningText"))
            self.tally[
                Dropped.TOOL if tools else Dropped.THINKING if thinking else Dropped.NO_TEXT
            ] += 1
            return None
        agent = string(data.get("parentToolCallId")) or string(line.get("agentId"))
        name, _ = self._agents.get(agent or "", (None, 0))
        when = line.get("timestamp")
        return Record(
            Role.ASSISTANT if agent else role,
            text,
            plain_id(line.get("id")) or digest_id(NAME, self._session, str(when), role, text),
            human=role is Role.USER and not agent,
            occurred_at=moment(when),
            model=None
            if role is Role.USER
            else string(data.get("model")) or (None if agent else self._model),
            session=self._session,
            cwd=self._cwd,
            venue="subagent" if agent else "terminal",
            subagent=agent is not None,
            subagent_role=name,
        )

    def _describe(self, data: Object) -> None:
        context = mapping(data.get("context")) or data
        self._session = plain_id(data.get("sessionId")) or self._session
        self._cwd = string(context.get("cwd")) or self._cwd
        self._model = string(data.get("selectedModel")) or self._model

    def _rewind(self, event: object) -> None:
        """Everything behind an event was taken back; nothing, where it is not known."""
        self.tally[Dropped.WITHDRAWN] += 1
        names = [name for name, _ in self._events]
        if event in names:
            at = len(names) - names[::-1].index(str(event))
            self.withdrawn.update(given for _, given in self._events[at:] if given)
            del self._events[at:]
