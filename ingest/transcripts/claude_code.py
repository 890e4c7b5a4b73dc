"""Claude Code: `<root>/<folder>/<session>.jsonl`, and sub-agents below `<session>/subagents/`.

The format is the client's own affair and grows with its releases: whatever is not known to be a
person's or the model's words is left out and counted.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from agents_memory.domain.messages import Role
from agents_memory.domain.text import content_key, is_blank
from ingest.beside import Beside
from ingest.records import Dropped, Record, Tally, digest_id, plain_id
from ingest.transcripts import claude_code_lines as lines
from ingest.transcripts.claude_code_lines import Speaker
from ingest.transcripts.json_lines import Object, objects
from ingest.transcripts.protocol import FileFacts

NAME = "claude-code"
# Of so many answers since the last prompt the reader remembers what it gave out.
_REMEMBERED = 64
# The conversation itself, beside the sub-agents whose lines may stand between its own.
_MAIN = ""


class ClaudeCode:
    """The client, as `ingest.transcripts.protocol.Client` asks for."""

    name = NAME

    def enters(self, folder: PurePath) -> bool:
        return True

    def facts(self, path: PurePath) -> FileFacts | None:
        """A session's own file, or one of a sub-agent: at any depth below its folder, or beside."""
        parts = path.parts
        if path.suffix != ".jsonl" or len(parts) < 2:
            return None
        companion = path.with_suffix(".meta.json")
        if len(parts) == 2:
            if path.stem.startswith("agent-"):
                return FileFacts(_session(path.stem), subagent=True, companion=companion)
            return FileFacts(_session(path.stem))
        if "subagents" in parts[2:-1]:
            return FileFacts(_session(parts[1]), subagent=True, companion=companion)
        return None

    def reader(self, facts: FileFacts, beside: Beside) -> "ClaudeCodeReader":
        companion = None if facts.companion is None else beside.document(facts.companion)
        role = companion.get("agentType") if isinstance(companion, dict) else None
        return ClaudeCodeReader(facts, role if isinstance(role, str) else None)


@dataclass(slots=True)
class _Answer:
    """A message of the model, which the client writes in one line a block."""

    key: str
    start: int
    told: list[str]
    blocks: list[str] = field(default_factory=list)
    uuids: set[str] = field(default_factory=set)
    last: Object = field(default_factory=dict)
    stopped: bool = False

    def add(self, text: str, line: Object) -> bool:
        """Takes in a block; false for one that is known: written again, or an earlier state."""
        if any(known.startswith(text) for known in (*self.told, *self.blocks)):
            return False
        if self.blocks and text.startswith(self.blocks[-1]):
            self.blocks[-1] = text
        else:
            self.blocks.append(text)
        # The last line that added words names the turn: should it grow later, it is another one.
        self.last = line
        return True


@dataclass(slots=True)
class _Prompt:
    """The last prompt: its words, what it hangs on, and whether the model did anything since."""

    key: str
    parents: set[tuple[str, str]]
    answered: bool = False


class ClaudeCodeReader:
    """The reader of one file; see `ingest.transcripts.protocol.Reader`."""

    def __init__(self, facts: FileFacts, subagent_role: str | None) -> None:
        self.tally: Tally = Counter()
        # What was given out before it was taken back stays: it was said.
        self.withdrawn: set[str] = set()
        self._facts = facts
        self._subagent_role = subagent_role
        self._open: dict[str, _Answer] = {}
        self._prompts: dict[str, _Prompt] = {}
        self._told: OrderedDict[str, list[str]] = OrderedDict()
        self._given: int | None = None

    @property
    def held(self) -> int | None:
        given = () if self._given is None else (self._given,)
        return min((*given, *(answer.start for answer in self._open.values())), default=None)

    @property
    def waiting(self) -> bool:
        return bool(self._open)

    def feed(self, line: bytes, start: int) -> list[Record]:
        found, lost = objects(line, lines.is_record)
        if lost:
            self.tally[Dropped.BROKEN] += 1
        return [record for one in found for record in self._take(one, start)]

    def settle(self, *, quiet: bool) -> list[Record]:
        ready = [chain for chain, answer in self._open.items() if quiet or answer.stopped]
        return [record for chain in ready for record in self._close(chain)]

    def _take(self, line: Object, start: int) -> Iterator[Record]:
        match line.get("type"):
            case "user":
                yield from self._user(line, start)
            case "assistant":
                yield from self._assistant(line, start)
            case "attachment":
                yield from self._attachment(line, start)
            case _:
                self._withdraw(line.get("retractedMessageUuids"))
                self.tally[Dropped.BOOKKEEPING] += 1

    def _user(self, line: Object, start: int) -> Iterator[Record]:
        yield from self._close(self._chain(line))
        feedback = line.get("userFeedback")
        if line.get("isCompactSummary"):
            self.tally[Dropped.COMPACTION] += 1
        elif lines.is_meta(line):
            self.tally[Dropped.META] += 1
        elif not lines.is_tool_result(line) or lines.is_typed(line):
            yield from self._prompt(line, lines.texts(lines.content_of(line)), start)
        elif isinstance(feedback, str) and not is_blank(feedback):
            # Why a person would not let a tool run.
            said = {**line, "origin": {"kind": "human"}, "promptSource": None}
            yield from self._prompt(said, [feedback], start)
        else:
            self.tally[Dropped.TOOL] += 1

    def _attachment(self, line: Object, start: int) -> Iterator[Record]:
        attachment = line.get("attachment")
        kind = attachment.get("type") if isinstance(attachment, dict) else None
        if not isinstance(attachment, dict) or kind != "queued_command":
            injected = isinstance(kind, str) and kind.startswith("hook_")
            self.tally[Dropped.INJECTED if injected else Dropped.BOOKKEEPING] += 1
        elif attachment.get("commandMode", "prompt") != "prompt" or lines.is_meta(attachment):
            self.tally[Dropped.MACHINE_PROMPT] += 1
        else:
            # Typed while the agent was at work, and written down nowhere else.
            yield from self._close(self._chain(line))
            said = {"origin": attachment.get("origin"), **line, "sessionKind": None}
            yield from self._prompt(said, lines.texts(attachment.get("prompt")), start)

    def _prompt(self, line: Object, texts: Iterable[str], start: int) -> Iterator[Record]:
        written = "\n\n".join(texts)
        text, interrupted = lines.without_wrappers(written)
        if interrupted:
            self.tally[Dropped.INTERRUPTION] += 1
        if is_blank(text):
            if not interrupted:
                self.tally[Dropped.NO_TEXT if is_blank(written) else Dropped.COMMAND] += 1
            return
        chain, who = self._chain(line), lines.speaker(line)
        if chain == _MAIN and who is Speaker.CLIENT:
            self.tally[Dropped.MACHINE_PROMPT] += 1
        elif self._is_rewritten(chain, line, text):
            self.tally[Dropped.REPEATED] += 1
        else:
            self._told.clear()
            self._given = start
            yield self._record(_prompt_role(chain, who), text, line, start, who)

    def _is_rewritten(self, chain: str, line: Object, text: str) -> bool:
        """Whether the client wrote a prompt down again under another id.

        The same words, and nothing done since, or hanging on the same parent or prompt id.
        """
        key = content_key(text)
        hangs_on = {(name, line.get(name)) for name in ("parentUuid", "promptId")}
        parents = {(name, value) for name, value in hangs_on if isinstance(value, str)}
        last = self._prompts.get(chain)
        if last is not None and last.key == key and (not last.answered or last.parents & parents):
            last.parents |= parents
            return True
        self._prompts[chain] = _Prompt(key, parents)
        return False

    def _assistant(self, line: Object, start: int) -> Iterator[Record]:
        self._withdraw(line.get("supersedesUuids"))
        chain, message = self._chain(line), line.get("message")
        message = message if isinstance(message, dict) else {}
        uuid = plain_id(line.get("uuid")) or f"byte {start}"
        key = f"{chain}/{message.get('id') or uuid}/{line.get('requestId')}"
        answer = self._open.get(chain)
        if answer is not None and answer.key != key:
            yield from self._close(chain)
            answer = None
        if (prompt := self._prompts.get(chain)) is not None:
            prompt.answered = True
        if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            self.tally[Dropped.API_ERROR] += 1
            return
        if line.get("isAbortedMidStream"):
            self.tally[Dropped.ABORTED] += 1
            return
        said = [text for text in lines.texts(message.get("content")) if not is_blank(text)]
        if not said:
            self.tally[lines.why_no_text(message.get("content"))] += 1
        else:
            growing = answer or _Answer(key, start, self._told.get(key, []))
            added = [growing.add(text, line) for text in said]
            if any(added):
                answer = self._open[chain] = growing
            else:
                self.tally[Dropped.REPEATED] += 1
        if answer is not None:
            answer.uuids.add(uuid)
            answer.stopped |= isinstance(message.get("stop_reason"), str)

    def _close(self, chain: str) -> Iterator[Record]:
        """Gives out the open answer of a chain, as no more of it is expected."""
        answer = self._open.pop(chain, None)
        if answer is None:
            return
        self._told[answer.key] = [*answer.told, *answer.blocks]
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        self._given = answer.start
        model = answer.last["message"].get("model")
        yield self._record(
            Role.ASSISTANT,
            "\n\n".join(answer.blocks),
            answer.last,
            answer.start,
            model=model if isinstance(model, str) else None,
        )

    def _withdraw(self, uuids: object) -> None:
        """Forgets an open answer that was taken back; what was given out before stays evidence."""
        taken_back = {u for u in uuids if isinstance(u, str)} if isinstance(uuids, list) else set()
        for chain, answer in list(self._open.items()):
            if answer.uuids & taken_back:
                del self._open[chain]
                self.tally[Dropped.WITHDRAWN] += 1

    def _chain(self, line: Object) -> str:
        if line.get("isSidechain") or self._facts.subagent:
            return str(line.get("agentId") or "sidechain")
        return _MAIN

    def _record(
        self,
        role: Role,
        text: str,
        line: Object,
        start: int,
        who: Speaker | None = None,
        model: str | None = None,
    ) -> Record:
        subagent = self._chain(line) != _MAIN
        where = lines.said_where(line, self._facts.session)
        if subagent:
            where["venue"] = "subagent"
        elif who is not None and who is not Speaker.PERSON:
            where["venue"] = "auto"
        return Record(
            role,
            text,
            lines.identity(line, text, start),
            human=who is Speaker.PERSON and not subagent,
            model=model,
            subagent=subagent,
            subagent_role=self._subagent_role if subagent else None,
            **where,
        )


def _session(name: str) -> str:
    """The session that a file or a folder is named for; names of other sorts are made fit."""
    return plain_id(name) or digest_id(name)


def _prompt_role(chain: str, who: Speaker) -> Role:
    """A sub-agent is told its task by its parent; a schedule's prompts are nobody's words."""
    if chain != _MAIN:
        return Role.ASSISTANT
    return Role.SYSTEM if who is Speaker.SCHEDULE else Role.USER
