"""Backfill: what was said before capture began, once, and only because its owner asks."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agents_memory.clock import Clock
from agents_memory.domain.brief import one_line
from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Origin
from agents_memory.services.intake import prepare
from ingest.finding import Finder, Found
from ingest.opening import open_transcript
from ingest.records import Record, Tally
from ingest.storing import Kept, Storing, draft_of
from ingest.transcripts.protocol import Client, Shape

SAMPLES = 3
SAMPLE_CHARS = 160
# Turns are handed over in groups, between which the pace is kept: of a fifth of a second, and of
# no more than are stored in one transaction.
_GROUP_S = 0.2
_LEAST, _MOST = 20, 200


@dataclass(frozen=True, slots=True)
class Sample:
    """The first words a person said in a session, without secrets, cut."""

    said_at: datetime | None
    project: str | None
    text: str


@dataclass(slots=True)
class Survey:
    """What a client's transcripts hold: counts, the span of time, and a few samples.

    `turns` counts by role those that would be stored, each once however often it was copied;
    `owner` of them were typed by a person, `subagent` belong to sub-agents. `dropped` says what is
    left out, by kind; `redacted` what is taken out of the rest; `refused` turns have no text left.
    `problems` names files that cannot be read.
    """

    files: int = 0
    sessions: int = 0
    turns: Counter[str] = field(default_factory=Counter)
    owner: int = 0
    subagent: int = 0
    first: datetime | None = None
    last: datetime | None = None
    dropped: Tally = field(default_factory=Tally)
    copies: int = 0
    refused: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many turns would be stored."""
        return sum(self.turns.values())


def survey(client: Client, roots: Sequence[Path], device: str, now: datetime) -> Survey:
    """Reads everything and stores nothing; no database is asked."""
    found = Survey()
    seen: set[str] = set()
    sessions: dict[str | None, Sample | None] = {}
    for record in read(client, roots, found, now):
        if record.native_id in seen:
            found.copies += 1
            continue
        seen.add(record.native_id)
        draft = draft_of(record, client.name, device, origin=Origin.IMPORTED, now=now)
        prepared = prepare(draft)
        if isinstance(prepared, Refusal):
            found.refused += 1
            continue
        clean, redactions = prepared
        found.redacted.update(redactions)
        found.turns[clean.role.value] += 1
        found.owner += record.human
        found.subagent += record.subagent
        if (said := clean.occurred_at) is not None:
            found.first = min(found.first or said, said)
            found.last = max(found.last or said, said)
        sessions.setdefault(record.session)
        if record.human and sessions[record.session] is None:
            text = one_line(clean.text, SAMPLE_CHARS)
            sessions[record.session] = Sample(said, clean.project_hint, text)
    found.sessions = len(sessions)
    found.samples = _spread([sample for sample in sessions.values() if sample is not None])
    return found


async def store(
    client: Client,
    roots: Sequence[Path],
    storing: Storing,
    clock: Clock,
    *,
    rate: float,
    advance: Callable[[int], None] = lambda _: None,
) -> Counter[Kept]:
    """Stores every turn that is not there yet, at most `rate` a second; `advance` gets the steps.

    Raises MemoryFault; what was stored until then stays, and a second run goes on.
    """
    outcomes: Counter[Kept] = Counter()
    due = clock.monotonic()
    size = int(min(max(rate * _GROUP_S, _LEAST), _MOST))
    for group in _groups(read(client, roots, Survey(), clock.now()), size):
        kept = await storing.keep(group)
        outcomes.update(kept)
        advance(len(group))
        due = max(due, clock.monotonic()) + kept[Kept.STORED] / rate
        await asyncio.sleep(max(0.0, due - clock.monotonic()))
    return outcomes


def read(client: Client, roots: Sequence[Path], into: Survey, now: datetime) -> Iterator[Record]:
    """Every turn of every transcript; what is left out and what is wrong is noted in `into`."""
    for root in roots:
        finder = Finder(root, client)
        for found in finder.find():
            into.files += 1
            try:
                yield from _read_one(finder, found, client, into.dropped, now)
            except OSError as error:
                into.problems.append(f"{found.path}: cannot be read ({error.strerror or error})")
        into.problems += [f"{folder or '.'}: cannot be looked into" for folder in finder.unreadable]


def _read_one(
    finder: Finder, found: Found, client: Client, tally: Tally, now: datetime
) -> Iterator[Record]:
    """The turns of one file that stand in the end, not those that were taken back."""
    withdrawn: set[str] = set()
    if found.facts.shape is Shape.LINES:
        # Read twice, so that a file of any size is never held.
        for _, taken_back in _pieces(finder, found, client, Tally(), now):
            withdrawn |= taken_back
    for records, taken_back in _pieces(finder, found, client, tally, now):
        gone = withdrawn | taken_back
        yield from (record for record in records if record.native_id not in gone)


def _pieces(
    finder: Finder, found: Found, client: Client, tally: Tally, now: datetime
) -> Iterator[tuple[Sequence[Record], set[str]]]:
    """A file piece by piece, each with what was taken back until then."""
    transcript = open_transcript(finder.root, found, client, now=lambda: now, tally=tally)
    # Only files of lines tell what they end with in a second, quiet reading.
    for quiet in (False, True) if found.facts.shape is Shape.LINES else (True,):
        more = True
        while more:
            batch = transcript.read(quiet=quiet)
            yield batch.records, transcript.withdrawn
            more = batch.more


def _groups(records: Iterator[Record], size: int) -> Iterator[list[Record]]:
    group: list[Record] = []
    for record in records:
        group.append(record)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _spread(samples: list[Sample]) -> list[Sample]:
    """A few of many: the first, the last, and between."""
    if len(samples) <= SAMPLES:
        return samples
    return [samples[i * (len(samples) - 1) // (SAMPLES - 1)] for i in range(SAMPLES)]
