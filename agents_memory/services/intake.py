"""The one way in: every writer hands its turns to this service."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any

from agents_memory.clock import Clock
from agents_memory.domain import ids
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.lexical import Analysis, analyse, to_tsvector_literal
from agents_memory.domain.messages import Accepted, Draft, Role, Stored
from agents_memory.domain.reading import read
from agents_memory.domain.redaction import redact
from agents_memory.domain.text import MAX_MESSAGE_BYTES, is_blank, repair
from agents_memory.domain.tombstones import REPLACEMENT, Tombstones, strike, strike_draft
from agents_memory.storage import messages
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import Hints
from agents_memory.storage.tombstones import KnownTombstones

FIRST_STAGE = "screen"
MAX_LABEL_CHARS = 500
MAX_KEPT_CHARS = 2_000
LARGE_CHARS = 50_000
FUTURE = timedelta(days=1)


class Intake:
    """Repairs, redacts and stores turns; a returned `Stored` is committed."""

    def __init__(self, database: Database, hints: Hints, clock: Clock) -> None:
        self._database = database
        self._hints = hints
        self._clock = clock
        self._tombstones = KnownTombstones(clock)

    async def store(self, draft: Draft, user_id: int) -> Stored | Refusal:
        """Stores one turn with the work it needs, exactly once.

        Refuses an empty turn and one of more than 16 MiB. Raises DatabaseUnavailable when the
        database stays away; nothing is stored then.
        """
        accepted = await accept(draft, self._clock.now())
        if isinstance(accepted, Refusal):
            return accepted
        return await self.insert(accepted, user_id)

    async def insert(
        self, turn: Accepted, user_id: int, *, within_s: float | None = None
    ) -> Stored:
        """Stores an accepted turn; as often as one likes, since its intake_id is known again.

        Raises DatabaseUnavailable when the database stays away for `within_s` seconds (as `run`).
        """
        known = turn.analysis or (await _analyses([turn]))[0]

        async def insert(connection: Connection) -> messages.Row:
            erased = await self._tombstones.now(connection)
            new = await _new(turn, known, erased) if erased else _as_it_is(turn, known)
            return await messages.insert_message(
                connection, new, user_id=user_id, first_stage=FIRST_STAGE
            )

        row = await self._database.run(insert, within_s=within_s)
        self._hints.send()
        return _acknowledged(turn, row)

    async def insert_many(self, turns: Sequence[Accepted], user_id: int) -> list[Stored]:
        """Stores accepted turns in their order and one transaction, each as `insert` does.

        Raises DatabaseUnavailable when the database stays away; none is stored then.
        """
        analyses = await _analyses(turns)

        async def insert(connection: Connection) -> list[messages.Row]:
            erased = await self._tombstones.now(connection)
            new = [
                await _new(turn, analysis, erased) if erased else _as_it_is(turn, analysis)
                for turn, analysis in zip(turns, analyses, strict=True)
            ]
            return await messages.insert_messages(
                connection, new, user_id=user_id, first_stage=FIRST_STAGE
            )

        rows = await self._database.run(insert)
        self._hints.send()
        return list(map(_acknowledged, turns, rows))


def _acknowledged(turn: Accepted, row: messages.Row) -> Stored:
    # A row of this very intake was ours, even when the first answer to it was lost.
    duplicate = not row.added and row.intake_id != turn.intake_id
    return Stored(
        row.id,
        row.intake_id,
        turn.draft.role,
        row.created_at,
        duplicate,
        turn.redactions,
        identical=row.identical,
    )


async def _analyses(turns: Sequence[Accepted]) -> list[Analysis]:
    """The lexemes of accepted turns; those that lay on the disk have none yet."""

    def analysed() -> list[Analysis]:
        return [turn.analysis or analyse(turn.draft.text) for turn in turns]

    if sum(len(turn.draft.text) for turn in turns if turn.analysis is None) > LARGE_CHARS:
        return await asyncio.to_thread(analysed)
    return analysed()


async def _new(turn: Accepted, analysis: Analysis, erased: Tombstones) -> messages.NewMessage:
    clean, raw, analysis = await _without(erased, turn.draft, turn.raw, analysis)
    return _as_it_is(replace(turn, draft=clean, raw=raw), analysis)


def _as_it_is(turn: Accepted, analysis: Analysis) -> messages.NewMessage:
    return messages.NewMessage(
        turn.intake_id,
        turn.draft,
        turn.raw,
        to_tsvector_literal(analysis.terms),
        analysis.length,
        sum(turn.redactions.values()) if turn.redactions else 0,
    )


async def accept(draft: Draft, now: datetime, original: str | None = None) -> Accepted | Refusal:
    """The draft as it may be stored, here or anywhere, with its id; asks no database.

    `original` is what was said where the text is not that itself; it is kept beside it. Refuses an
    empty turn and one of more than 16 MiB.
    """
    if draft.occurred_at is not None and draft.occurred_at > now + FUTURE:
        # A clock that is wrong; what it says would stand before everything else for years.
        draft = replace(draft, occurred_at=None)
    if max(len(draft.text), len(original or "")) > LARGE_CHARS:
        # A second of work on text must not hold up what else this process is asked.
        return await asyncio.to_thread(_ready, draft, original, now)
    return _ready(draft, original, now)


async def _without(
    erased: Tombstones, clean: Draft, raw: str | None, analysis: Analysis
) -> tuple[Draft, str | None, Analysis]:
    """The turn without what the owner erased; of one erased as a whole no words are left."""

    def strike_all() -> tuple[Draft, str | None, Analysis]:
        struck = strike_draft(clean, erased)
        if struck.text == REPLACEMENT:
            return struck, None, analyse("")
        kept = None if raw is None else strike(raw, erased)
        return struck, kept, analysis if struck.text == clean.text else analyse(struck.text)

    if len(clean.text) > LARGE_CHARS:
        return await asyncio.to_thread(strike_all)
    return strike_all()


def _ready(draft: Draft, original: str | None, now: datetime) -> Accepted | Refusal:
    whole = _storable(draft.text)
    if isinstance(whole, Refusal):
        return whole
    first = whole if original is None else _storable(original)
    if isinstance(first, Refusal):
        return first
    said = strip_fenced(whole)
    reading = read(said)
    clean = _prepared(draft, reading.text)
    if isinstance(clean, Refusal):
        return clean
    # What only looked like recalled text must not be lost either: the original is kept beside it.
    raw = None if said == first else redact(first).text
    return Accepted(ids.intake_id(now), now, clean, raw, reading.redactions, reading.analysis)


def prepare(draft: Draft) -> tuple[Draft, dict[str, int]] | Refusal:
    """The draft as it may be stored, and how many secrets of each sort were taken out."""
    whole = _storable(draft.text)
    if isinstance(whole, Refusal):
        return whole
    # What we told the agent ourselves is never taken in as something new.
    redacted = redact(strip_fenced(whole))
    clean = _prepared(draft, redacted.text)
    return clean if isinstance(clean, Refusal) else (clean, redacted.counts)


def _storable(text: str) -> str | Refusal:
    # Four bytes are the most that a character takes.
    may_exceed = 4 * len(text) > MAX_MESSAGE_BYTES
    if may_exceed and len(text.encode("utf-8", "surrogatepass")) > MAX_MESSAGE_BYTES:
        return Refusal(
            Code.LIMIT_EXCEEDED,
            f"a message may hold {MAX_MESSAGE_BYTES // 2**20} MiB; split it and save the parts",
            {"limit_bytes": MAX_MESSAGE_BYTES},
        )
    return repair(text).text


def _prepared(draft: Draft, text: str) -> Draft | Refusal:
    """The draft with a text that may be stored, and with such labels."""
    if is_blank(text):
        return Refusal(
            Code.INVALID_INPUT,
            "the message is empty once recalled text is left out; save only what was newly said",
        )
    labels, user = _LABELS(draft), draft.role is Role.USER
    short = sum(map(len, filter(None, labels))) <= MAX_KEPT_CHARS
    changed = (_kept_changes if short else _changes)(labels, draft.subagent, user)
    native_id = _label(draft.native_id)
    if changed or native_id != draft.native_id or text != draft.text:
        draft = replace(draft, text=text, native_id=native_id, **changed)
    return draft


_LABELLED = (
    *("model", "platform", "subagent_model", "subagent_role", "device", "venue", "session"),
    *("cwd", "project_hint", "source", "store_id"),
)
_LABELS = attrgetter(*_LABELLED)


def _changes(labels: tuple[str | None, ...], subagent: bool, user: bool) -> dict[str, Any]:
    """Which of these fields of a draft have to be stored otherwise, and how."""
    given = dict(zip(_LABELLED, labels, strict=True))
    clean = {name: _label(given[name], _LIMITS.get(name, MAX_LABEL_CHARS)) for name in _LABELLED}
    clean["platform"] = clean["platform"] or "unknown"
    if user:
        clean["model"] = None
    if not subagent:
        clean["subagent_model"] = clean["subagent_role"] = None
    return {name: value for name, value in clean.items() if value != given[name]}


_LIMITS = {"cwd": 4096}
# The labels of a session are the same turn after turn, and redacting them cost more than the text.
_kept_changes = lru_cache(maxsize=256)(_changes)


def _label(value: str | None, limit: int = MAX_LABEL_CHARS) -> str | None:
    if value is None:
        return None
    text = redact(repair(value).text).text.strip()[:limit]
    return text or None
