"""Antigravity: `brain/<id>/.system_generated/logs/transcript_full.jsonl`, its readable log.

The database beside it holds binary steps without a published form, and is left alone.
"""

from collections.abc import Iterator
from pathlib import PurePath

from agents_memory.domain.messages import Role
from agents_memory.domain.text import content_key, is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, moment, plain_id
from ingest.transcripts.json_lines import Object, objects
from ingest.transcripts.line_reader import LineReader, inside, mapping, string, without
from ingest.transcripts.protocol import FileFacts

NAME = "antigravity"
_LOGS = (".system_generated", "logs")
_FILE = "transcript_full.jsonl"
_UNFINISHED = ("RUNNING", "PENDING", "CANCELED", "ERROR")
_INJECTED = ("ADDITIONAL_METADATA", "SYSTEM_MESSAGE")


class Antigravity:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        below = _below(folder)
        if not below:
            return folder.parts[0].startswith("antigravity")
        return below[0] == "brain" and all(
            one == wanted for one, wanted in zip(below[2:], _LOGS, strict=False)
        )

    def facts(self, path: PurePath) -> FileFacts | None:
        below = _below(path)
        if len(below) != 5 or below[0] != "brain" or below[2:] != (*_LOGS, _FILE):
            return None
        return FileFacts(plain_id(below[1]) or digest_id(below[1]), context=True)

    def reader(self, facts: FileFacts, beside: Beside) -> "AntigravityReader":
        folder = PurePath(*beside.path.parts[: -len(_below(beside.path))])
        return AntigravityReader(facts.session, _workspaces(beside, folder))


class AntigravityReader(LineReader):
    """The reader of one log; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self, session: str, workspaces: dict[str, str]) -> None:
        super().__init__()
        self._session = session
        self._workspaces = workspaces
        self._cwd: str | None = None

    def _is_record(self, line: Object) -> bool:
        return isinstance(line.get("source"), str) and isinstance(line.get("type"), str)

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        kind, source, text = (line.get(name) for name in ("type", "source", "content"))
        text = text if isinstance(text, str) else ""
        typed = source == "USER_EXPLICIT" and kind == "USER_INPUT"
        self._cwd = self._cwd or _folder(line)
        if typed:
            asked = inside(text, "USER_REQUEST")
            text = without(text, _INJECTED).strip() if asked is None else asked
            self._cwd = self._workspaces.get(content_key(text), self._cwd)
        if not typed and not (source == "MODEL" and kind == "PLANNER_RESPONSE"):
            self.tally[_why(str(source), str(kind))] += 1
        elif line.get("status") in _UNFINISHED:
            self.tally[Dropped.ABORTED] += 1
        elif is_blank(text):
            thinking, tools = bool(line.get("thinking")), bool(line.get("tool_calls"))
            why = Dropped.THINKING if thinking else Dropped.NO_TEXT
            self.tally[Dropped.TOOL if tools else why] += 1
        else:
            self._held = start
            # Steps may be written anew from one on, under the same numbers.
            step = str(line.get("step_index"))
            yield Record(
                Role.USER if typed else Role.ASSISTANT,
                text,
                digest_id(NAME, self._session, step, content_key(text)),
                human=typed,
                occurred_at=moment(line.get("created_at")),
                session=self._session,
                cwd=self._cwd,
                venue="terminal",
            )


def _below(path: PurePath) -> tuple[str, ...]:
    """A path from `brain` on, which lies in the root or in a folder of its own."""
    parts = path.parts
    if parts[0] != "brain" and parts[0].startswith("antigravity"):
        return parts[1:]
    return parts if parts[0] == "brain" else ()


def _folder(line: Object) -> str | None:
    """The folder in which a tool was run, if the step runs one."""
    calls = line.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if found := string(mapping(mapping(call).get("args")).get("Cwd")):
            return found
    return None


def _workspaces(beside: Beside, folder: PurePath) -> dict[str, str]:
    """Which folder a prompt was typed in, by its words."""
    known: dict[str, str] = {}
    for line in beside.lines(folder / "history.jsonl"):
        for one in objects(line, lambda _: False)[0]:
            said, where = string(one.get("display")), string(one.get("workspace"))
            if said is not None and where is not None:
                known[content_key(said)] = where
    return known


def _why(source: str, kind: str) -> Dropped:
    if kind == "CHECKPOINT":
        return Dropped.COMPACTION
    if source == "SYSTEM":
        return Dropped.META
    return Dropped.TOOL if source == "MODEL" else Dropped.BOOKKEEPING
