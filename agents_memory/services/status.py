"""How the pool is doing, in numbers."""

from dataclasses import asdict, dataclass
from typing import Any

from agents_memory import __version__
from agents_memory.domain.errors import MemoryFault
from agents_memory.embedding.choice import fitting
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.alarms import OVERDUE_S, Facts, alarms
from agents_memory.storage import (
    holds,
    leadership,
    memories,
    messages,
    migrate,
    quarantine,
    summaries,
    use,
    vectors,
    work,
)
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.leadership import Beat, Leader
from agents_memory.storage.work import StageSummary

STAGES = (
    "screen",
    "embed",
    "tag",
    "context",
    "observe_use",
    "embed_memory",
    "compare_memory",
    "summarise",
    "embed_summary",
    "digest",
    "persona",
    "embed_other",
    "embed_memory_other",
)
LOWEST_INDEX_RECALL = 0.9


@dataclass(frozen=True, slots=True)
class Report:
    """The stable keys of `status --json`; see docs/operations.md."""

    values: dict[str, Any]

    @property
    def waiting(self) -> int:
        """Rows of work that are not settled and not parked."""
        return sum(stage["pending"] for stage in self.values["stages"].values())

    @property
    def alarming(self) -> bool:
        """Whether the daemon or its queue needs a person."""
        return bool(self.values["alarms"])


async def report(
    database: Database,
    embedder: Embedder | None,
    *,
    described: str,
    overdue_s: float = OVERDUE_S,
) -> Report:
    """Reads the state of the pool; an unreachable database is part of the report, not an error.

    `overdue_s`: how long due work may wait before that is an alarm, in seconds.
    """
    try:
        return await database.run(
            lambda connection: _read(connection, database.schema, embedder, described, overdue_s)
        )
    except MemoryFault as fault:
        return unreachable(embedder, fault, described=described)


def unreachable(embedder: Embedder | None, fault: MemoryFault, *, described: str) -> Report:
    """The report without a database; `fault` says why there is none."""
    return Report(
        {
            "version": __version__,
            "database": {"where": described, "reachable": False},
            "leader": None,
            "stages": {},
            "embedder": {"profile": _profile(embedder), "active_model": None},
            "counts": {},
            "holds": [],
            "quarantine": None,
            "alarms": [],
            "degraded": [str(fault)],
        }
    )


def _profile(embedder: Embedder | None) -> str | None:
    return None if embedder is None else embedder.profile.id


async def _read(
    connection: Connection,
    schema: str,
    embedder: Embedder | None,
    described: str,
    overdue_s: float,
) -> Report:
    compatible = await migrate.compatibility(connection)
    server = connection.get_server_version()
    led = await leadership.is_locked(connection, schema)
    beat = await leadership.find_beat(connection)
    stages = await work.summarise_work(connection)
    uses = await use.count_uses(connection)
    summarised, archived = await summaries.count(connection)
    found = alarms(Facts(led, beat, stages, overdue_s))
    model = await vectors.find_active_model(connection)
    if embedder is not None and model is not None:
        embedder = fitting(embedder, model.profile)
    values: dict[str, Any] = {
        "version": __version__,
        "database": {
            "where": described,
            "reachable": True,
            "schema": schema,
            "step": compatible.version,
            # Since PostgreSQL 10 the second number is the minor release.
            "server": f"{server.major}.{server.micro}",
        },
        "leader": _leader(await leadership.find_leader(connection), beat, led=led),
        "stages": _stages(stages),
        "embedder": {
            "profile": _profile(embedder),
            "active_model": None if model is None else model.profile,
            "indexed": model is not None and model.indexed,
            "index_recall": None if model is None else model.index_recall,
        },
        "counts": {
            "messages": await messages.count_messages(connection),
            "memories": await memories.count_memories(connection),
            "summaries": summarised,
            "archived": archived,
            "used": uses.cited,
            "inferred": uses.inferred,
        },
        "holds": [
            {
                **asdict(hold),
                "held_until": hold.held_until.isoformat(),
                "since": hold.since.isoformat(),
            }
            for hold in await holds.list_holds(connection)
        ],
        "quarantine": asdict(await quarantine.summarise(connection)),
        "alarms": [asdict(alarm) for alarm in found],
    }
    values["degraded"] = [
        *(f"{alarm.message}; {alarm.fix}" for alarm in found),
        *_degraded(values, led or any(alarm.name == "no_leader" for alarm in found)),
    ]
    return Report(values)


def _leader(leader: Leader, beat: Beat, *, led: bool) -> dict[str, Any]:
    return {
        "holder": leader.holder if led else None,
        "epoch": leader.epoch,
        "pid": leader.pid if led else None,
        "since": leader.since.isoformat() if led and leader.since else None,
        "beat_at": beat.beat_at.isoformat() if led and beat.beat_at else None,
    }


def _stages(rows: list[StageSummary]) -> dict[str, dict[str, Any]]:
    stages = {stage: StageSummary(stage, 0, 0, 0, 0, 0.0, 0.0, None) for stage in STAGES}
    stages |= {row.stage: row for row in rows}
    return {
        name: {
            "pending": row.pending,
            "held": row.held,
            "failed": row.failed,
            "parked": row.parked,
            "oldest_age_s": round(row.oldest_age_s, 1),
            "overdue_s": round(row.overdue_s, 1),
            "reason": row.reason,
        }
        for name, row in stages.items()
    }


def _degraded(values: dict[str, Any], told: bool) -> list[str]:
    """What does not work as it should and needs nobody at once; `told`: a daemon leads, or the
    alarm says that none does."""
    reasons = []
    if not told:
        reasons.append(
            "no daemon leads the pool now, so new messages get no tags and no vectors; with the "
            "embedded database it starts with the next editor, else run `mcp-agents-memory "
            "coldpath` on one machine"
        )
    active, ours = values["embedder"]["active_model"], values["embedder"]["profile"]
    if active is None:
        reasons.append("the pool has no active embedding model; run `mcp-agents-memory init`")
    elif ours != active:
        reasons.append(
            f"the pool uses the embedding model {active} and this machine has {ours}; "
            "searches from here go by keyword"
        )
    recall = values["embedder"]["index_recall"]
    if recall is not None and recall < LOWEST_INDEX_RECALL:
        reasons.append(
            f"the vector index finds only {recall:.0%} of the nearest messages; the owner should "
            "run REINDEX on it"
        )
    return reasons
