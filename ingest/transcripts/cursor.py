"""Cursor: `state.vscdb` of the editor, `chats/…/store.db` of the command line, and exports of both.

The exports below `projects/<folder>/agent-transcripts` bear neither times nor ids, so in all three
places a turn is known by its conversation, its words, and how often they were said there before.
"""

from collections.abc import Iterator
from pathlib import PurePath

from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, digest_id, plain_id
from ingest.transcripts.cursor_rows import CursorChat, CursorEditor
from ingest.transcripts.cursor_words import NAME, Said, typed_text
from ingest.transcripts.json_lines import Object
from ingest.transcripts.line_reader import LineReader, mapping, text_of
from ingest.transcripts.protocol import AnyReader, FileFacts, Shape

_EXPORTS = "agent-transcripts"


class Cursor:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        parts = folder.parts
        match parts[0]:
            case "projects":
                return len(parts) < 3 or parts[2] == _EXPORTS
            case "User":
                return parts[1:] in ((), ("globalStorage",))
            case first:
                return first == "chats" and len(parts) <= 3

    def facts(self, path: PurePath) -> FileFacts | None:
        parts = path.parts
        if path.name == "state.vscdb" and parts[:-1] in ((), ("User", "globalStorage")):
            return FileFacts("", shape=Shape.DATABASE)
        if path.name == "store.db" and len(parts) == 4 and parts[0] == "chats":
            return FileFacts(_named(parts[2]), shape=Shape.DATABASE)
        if path.suffix != ".jsonl" or len(parts) < 4 or parts[2] != _EXPORTS:
            return None
        subagent = "subagents" in parts[4:-1]
        session = _named(parts[3] if subagent else path.stem)
        return FileFacts(session, subagent=subagent, context=True, last=True)

    def reader(self, facts: FileFacts, beside: Beside) -> AnyReader:
        if facts.shape is Shape.LINES:
            return CursorExport(facts, beside.path.stem)
        return CursorChat(facts.session) if facts.session else CursorEditor()


class CursorExport(LineReader):
    """The reader of an export; see `ingest.transcripts.protocol.Reader`.

    It waits for quiet, so that the client's own store, which knows more of a turn, comes first.
    """

    def __init__(self, facts: FileFacts, conversation: str) -> None:
        super().__init__()
        self._facts = facts
        self._conversation = conversation
        self._said = Said(conversation)
        self._ready: list[Record] = []

    @property
    def waiting(self) -> bool:
        return bool(self._ready)

    def settle(self, *, quiet: bool) -> list[Record]:
        if not quiet:
            return []
        ready, self._ready = self._ready, []
        return ready

    def _is_record(self, line: Object) -> bool:
        return isinstance(line.get("role"), str) and isinstance(line.get("message"), dict)

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        # Which saying of the same words this is can only be counted from the beginning.
        self._held = start if self._held is None else self._held
        role, content = line.get("role"), mapping(line.get("message")).get("content")
        if role not in ("user", "assistant"):
            self.tally[Dropped.BOOKKEEPING] += 1
            return
        written = text_of(content, "text")
        text = typed_text(written) if role == "user" else written
        if text is None or is_blank(text):
            blank = Dropped.TOOL if role == "assistant" else Dropped.NO_TEXT
            self.tally[blank if is_blank(written) else Dropped.META] += 1
            return
        subagent = self._facts.subagent
        human = role == "user" and not subagent
        self._ready.append(
            Record(
                Role.USER if human else Role.ASSISTANT,
                text,
                self._said.id_of(role, text),
                human=human,
                session=self._facts.session,
                venue="subagent" if subagent else None,
                subagent=subagent,
            )
        )
        yield from ()


def _named(name: str) -> str:
    return plain_id(name) or digest_id(name)
