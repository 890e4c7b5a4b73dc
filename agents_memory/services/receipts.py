"""How far one message or memory has come: for each stage what was done, or why not yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Status
from agents_memory.domain.messages import Screening
from agents_memory.domain.tombstones import REPLACEMENT
from agents_memory.storage import (
    jobs,
    leadership,
    memories,
    messages,
    quarantine,
    summaries,
    vectors,
    work,
)
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.jobs import JobRow
from agents_memory.storage.messages import PassItem
from agents_memory.storage.quarantine import Decision
from agents_memory.storage.summaries import PassSummary
from agents_memory.storage.vectors import Model
from agents_memory.storage.work import ItemWork

# In the order of the daemon's passes: each asks for the next one.
MESSAGE_STAGES = ("screen", "embed", "tag", "context")
MEMORY_STAGES = ("embed_memory", "compare_memory")
SUMMARY_STAGES = ("summarise", "embed_summary")


class StageState(StrEnum):
    """Where an item stands at one stage."""

    SETTLED = "settled"
    WORKING = "working"
    WAITING = "waiting"
    FAILED = "failed"
    PARKED = "parked"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Settled:
    """Who did a stage and when; the time is not kept for memories.

    `reason` is why rules did it although a model was asked.
    """

    backend: str
    version: int | None
    at: datetime | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StageReceipt:
    """One stage. `reason`: why it waits, failed, is parked or not applicable; never content.

    `settled` is filled too where it is done anew. `since`: queued; `next_try`: not before then.
    `fix` says what to do where a person is needed.
    """

    stage: str
    state: StageState
    reason: str | None = None
    settled: tuple[Settled, ...] = ()
    since: datetime | None = None
    attempts: int = 0
    next_try: datetime | None = None
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """How far an item has come; `screening` of a message, with the rules that struck.

    `decisions` are the owner's about its quarantine. Holds no content.
    """

    id: int
    kind: str
    stages: tuple[StageReceipt, ...]
    screening: Screening | None = None
    reasons: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        done = (StageState.SETTLED, StageState.NOT_APPLICABLE)
        return all(stage.state in done for stage in self.stages)


class Receipts:
    """Asked of the pool as any role; whoever an item belongs to, as no content is told."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def receipt(self, item_id: int) -> Receipt | Refusal:
        """How far a message, memory, summary or job has come."""
        schema = self._database.schema
        return await self._database.run(lambda c: read_receipt(c, schema, item_id))


async def read_receipt(connection: Connection, schema: str, item_id: int) -> Receipt | Refusal:
    """The same on a connection that is at hand."""
    if 0 < item_id < 2**63:
        if found := await messages.list_for_pass(connection, [item_id]):
            return await _of_message(connection, schema, found[0])
        if known := await memories.list_for_pass(connection, [item_id]):
            return await _of_memory(connection, schema, item_id, known[0].status)
        if told := await summaries.list_for_pass(connection, [item_id]):
            return await _of_summary(connection, schema, told[0])
        if job := await jobs.find_any(connection, item_id):
            return await _of_job(connection, schema, job)
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{item_id} names no message, memory, summary or job; `mcp-agents-memory search` shows ids",
        {"id": item_id},
    )


async def _of_message(connection: Connection, schema: str, message: PassItem) -> Receipt:
    # Before the results, so that what is settled meanwhile is never in neither of them.
    rows = await work.list_work_of(connection, message.id)
    results = await messages.list_results(connection, message.id)
    decisions = await quarantine.list_decisions(connection, message.id)
    model = await vectors.find_active_model(connection)
    settled = {
        stage: tuple(
            Settled(one["backend"], one["version"], one["settled_at"], _unanswered(one["detail"]))
            for one in results
            if one["stage"] == stage and (stage != "embed" or _is_of(model, one["backend"]))
        )
        for stage in MESSAGE_STAGES
    }
    reasons = tuple(
        str(reason)
        for one in results
        if one["stage"] == "screen"
        for reason in one["detail"].get("reasons", ())
    )
    refused = None
    if message.screening is Screening.QUARANTINED:
        if message.text == REPLACEMENT:
            refused = "erased by the owner"
        else:
            refused = "quarantined; see `mcp-agents-memory quarantine list`"
    elif message.screening is Screening.WITHDRAWN:
        refused = "withdrawn: edited or deleted where it was said, or captured as well"
    led = await leadership.is_locked(connection, schema)
    stages = _stages(message.id, MESSAGE_STAGES, rows, settled, refused, led=led)
    return Receipt(message.id, "message", stages, message.screening, reasons, tuple(decisions))


async def _of_memory(
    connection: Connection, schema: str, memory_id: int, status: Status
) -> Receipt:
    rows = await work.list_work_of(connection, memory_id)
    settled: dict[str, tuple[Settled, ...]] = {}
    model = await vectors.find_active_model(connection)
    if model is not None and await vectors.list_memory_chunks(connection, model, [memory_id]):
        settled["embed_memory"] = (Settled(model.profile, None, None),)
        # Nothing keeps that two memories were compared, but whoever embeds one asks for it.
        if all(row.stage != "embed_memory" for row in rows):
            settled["compare_memory"] = (Settled("rules", None, None),)
    refused = None
    if status is not Status.ACTIVE:
        refused = f"the memory is {status}, so searches don't use it"
    led = await leadership.is_locked(connection, schema)
    stages = _stages(memory_id, MEMORY_STAGES, rows, settled, refused, led=led)
    return Receipt(memory_id, "memory", stages)


async def _of_summary(connection: Connection, schema: str, summary: PassSummary) -> Receipt:
    rows = await work.list_work_of(connection, summary.id)
    settled: dict[str, tuple[Settled, ...]] = {}
    model = await vectors.find_active_model(connection)
    if summary.backend is not None:
        reason = _vain(summary.unanswered, summary.asked)
        settled["summarise"] = (Settled(summary.backend, None, summary.updated_at, reason),)
    if model is not None and await vectors.has_summary(connection, model, summary.id):
        settled["embed_summary"] = (Settled(model.profile, None, None),)
    refused = None
    if summary.status == summaries.WITHDRAWN:
        refused = (
            "withdrawn, as one of its messages was held back, erased, pinned or filed elsewhere; "
            "its messages are in everyday search until there is a new one"
        )
    led = await leadership.is_locked(connection, schema)
    stages = _stages(summary.id, SUMMARY_STAGES, rows, settled, refused, led=led)
    return Receipt(summary.id, "summary", stages)


async def _of_job(connection: Connection, schema: str, job: JobRow) -> Receipt:
    rows = await work.list_work_of(connection, job.id)
    settled: dict[str, tuple[Settled, ...]] = {}
    if job.settled_at is not None:
        settled[job.kind] = (Settled("cold", None, job.settled_at),)
    led = await leadership.is_locked(connection, schema)
    return Receipt(job.id, "job", _stages(job.id, (job.kind,), rows, settled, None, led=led))


def _is_of(model: Model | None, backend: str) -> bool:
    return model is not None and model.profile == backend


def _stages(
    item_id: int,
    expected: Sequence[str],
    rows: Sequence[ItemWork],
    settled: Mapping[str, tuple[Settled, ...]],
    refused: str | None,
    *,
    led: bool,
) -> tuple[StageReceipt, ...]:
    """The stages that an item goes through, and whatever else is asked for of it.

    `refused` says why the item goes no further.
    """
    asked = {row.stage: row for row in rows}
    receipts: list[StageReceipt] = []
    before: str | None = None
    for stage in (*expected, *(name for name in asked if name not in expected)):
        done = settled.get(stage, ())
        if stage in asked:
            receipts.append(_asked(item_id, asked[stage], done, led=led))
        elif refused is not None and not done:
            receipts.append(StageReceipt(stage, StageState.NOT_APPLICABLE, refused))
        elif done:
            receipts.append(_done(item_id, stage, done))
        elif before is not None:
            receipts.append(StageReceipt(stage, StageState.WAITING, f"{before} comes first"))
        else:
            receipts.append(
                StageReceipt(
                    stage,
                    StageState.WAITING,
                    "nothing asks for it yet; the daemon looks for missing vectors once an hour",
                    fix="`mcp-agents-memory doctor --deep` finds what is amiss",
                )
            )
        if before is None and receipts[-1].state is not StageState.SETTLED:
            before = stage
    return tuple(receipts)


def _done(item_id: int, stage: str, done: tuple[Settled, ...]) -> StageReceipt:
    """`reason` and `fix` where rules had to do what a model could not, and none has since."""
    if any(one.reason is None for one in done):
        return StageReceipt(stage, StageState.SETTLED, settled=done)
    return StageReceipt(
        stage,
        StageState.SETTLED,
        done[-1].reason,
        done,
        fix="another model is asked about it by itself, about a summary this one too; to ask now, "
        f"`mcp-agents-memory retry {item_id}`",
    )


def _unanswered(detail: Mapping[str, Any]) -> str | None:
    return _vain(detail.get("unanswered"), detail.get("asked"))


def _vain(why: str | None, model: str | None) -> str | None:
    if why is None:
        return None
    named = f" {model}" if model else ""
    return f"a model{named} was asked in vain: {why}"


def _asked(item_id: int, row: ItemWork, done: tuple[Settled, ...], *, led: bool) -> StageReceipt:
    def receipt(state: StageState, reason: str | None, fix: str | None = None) -> StageReceipt:
        put_off = row.run_after if row.put_off and row.parked_reason is None else None
        return StageReceipt(
            row.stage, state, reason, done, row.queued_at, row.attempts, put_off, fix
        )

    if row.parked_reason is not None:
        return receipt(
            StageState.PARKED,
            row.parked_reason,
            f"remove the cause, then `mcp-agents-memory retry {item_id}`",
        )
    if row.claimed and led:
        return receipt(StageState.WORKING, row.last_error)
    if row.last_error is not None and row.attempts > 0:
        return receipt(StageState.FAILED, row.last_error)
    if not led:
        return receipt(
            StageState.WAITING,
            "no daemon leads the pool"
            + ("" if row.last_error is None else f"; before that: {row.last_error}"),
            "run `mcp-agents-memory coldpath`, or start an editor that uses the embedded database",
        )
    # Whatever this row was told last: why the stage is held now is known from any of its rows.
    if row.held is not None and not row.put_off:
        return receipt(StageState.WAITING, row.held, "remove the cause; it then goes on by itself")
    return receipt(StageState.WAITING, "put off" if row.put_off else "not yet its turn")
