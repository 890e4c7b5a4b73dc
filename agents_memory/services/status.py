"""How the pool is doing, in numbers."""

from dataclasses import dataclass
from typing import Any

from agents_memory import __version__
from agents_memory.domain.errors import MemoryFault
from agents_memory.embedding.choice import fitting
from agents_memory.embedding.protocol import Embedder
from agents_memory.storage import (
    leadership,
    memories,
    messages,
    migrate,
    traces,
    vectors,
    work,
)
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.leadership import Leader
from agents_memory.storage.work import StageSummary

STAGES = (
    "screen",
    "embed",
    "tag",
    "context",
    "embed_memory",
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


async def report(database: Database, embedder: Embedder | None, *, described: str) -> Report:
    """Reads the state of the pool; an unreachable database is part of the report, not an error."""
    try:
        return await database.run(
            lambda connection: _read(connection, database.schema, embedder, described)
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
            "degraded": [str(fault)],
        }
    )


def _profile(embedder: Embedder | None) -> str | None:
    return None if embedder is None else embedder.profile.id


async def _read(
    connection: Connection, schema: str, embedder: Embedder | None, described: str
) -> Report:
    compatible = await migrate.compatibility(connection)
    server = connection.get_server_version()
    led = await leadership.is_locked(connection, schema)
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
        "leader": _leader(await leadership.find_leader(connection), led=led),
        "stages": _stages(await work.summarise_work(connection)),
        "embedder": {
            "profile": _profile(embedder),
            "active_model": None if model is None else model.profile,
            "indexed": model is not None and model.indexed,
            "index_recall": None if model is None else model.index_recall,
        },
        "counts": {
            "messages": await messages.count_messages(connection),
            "memories": await memories.count_memories(connection),
            "used": await traces.count_used(connection),
        },
    }
    values["degraded"] = _degraded(values, led)
    return Report(values)


def _leader(leader: Leader, *, led: bool) -> dict[str, Any]:
    return {
        "holder": leader.holder if led else None,
        "epoch": leader.epoch,
        "pid": leader.pid if led else None,
        "since": leader.since.isoformat() if led and leader.since else None,
    }


def _stages(rows: list[StageSummary]) -> dict[str, dict[str, Any]]:
    stages: dict[str, dict[str, Any]] = {
        stage: {"pending": 0, "failed": 0, "parked": 0, "oldest_age_s": 0.0, "reason": None}
        for stage in STAGES
    }
    for row in rows:
        stages[row.stage] = {
            "pending": row.pending,
            "failed": row.failed,
            "parked": row.parked,
            "oldest_age_s": round(row.oldest_age_s, 1),
            "reason": row.reason,
        }
    return stages


def _degraded(values: dict[str, Any], led: bool) -> list[str]:
    reasons = []
    if not led:
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
    parked = sum(stage["parked"] for stage in values["stages"].values())
    if parked:
        reasons.append(f"{parked} rows of work are parked after repeated failures")
    return reasons
