"""How the pool is doing, in numbers."""

from dataclasses import dataclass
from typing import Any

from agents_memory import __version__
from agents_memory.domain.errors import MemoryFault
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

STAGES = ("screen", "embed", "tag", "embed_memory")


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
    profile = None if embedder is None else embedder.profile.id
    values: dict[str, Any] = {
        "version": __version__,
        "database": {"where": described, "reachable": False},
        "leader": None,
        "stages": {},
        "embedder": {"profile": profile, "active_model": None},
        "counts": {},
        "degraded": [],
    }
    try:
        await database.run(lambda connection: _fill(connection, database.schema, values))
    except MemoryFault as fault:
        values["degraded"].append(str(fault))
    return Report(values)


async def _fill(connection: Connection, schema: str, values: dict[str, Any]) -> None:
    compatible = await migrate.compatibility(connection)
    server = connection.get_server_version()
    values["database"] |= {
        "reachable": True,
        "schema": schema,
        "step": compatible.version,
        "server": f"{server.major}.{server.minor}",
    }
    leader = await leadership.find_leader(connection)
    led = await leadership.is_locked(connection, schema)
    values["leader"] = {
        "holder": leader.holder if led else None,
        "epoch": leader.epoch,
        "pid": leader.pid if led else None,
        "since": leader.since.isoformat() if led and leader.since else None,
    }
    stages = {
        stage: {"pending": 0, "failed": 0, "parked": 0, "oldest_age_s": 0.0} for stage in STAGES
    }
    for row in await work.summarise_work(connection):
        stages[row.stage] = {
            "pending": row.pending,
            "failed": row.failed,
            "parked": row.parked,
            "oldest_age_s": round(row.oldest_age_s, 1),
        }
    values["stages"] = stages
    model = await vectors.find_active_model(connection)
    values["embedder"]["active_model"] = None if model is None else model.profile
    values["counts"] = {
        "messages": await messages.count_messages(connection),
        "memories": await memories.count_memories(connection),
        "used": await traces.count_used(connection),
    }
    values["degraded"] = _degraded(values, led)


def _degraded(values: dict[str, Any], led: bool) -> list[str]:
    reasons = []
    if not led:
        reasons.append(
            "no daemon leads the pool, so new messages get no tags and no vectors; "
            "start one with `mcp-agents-memory coldpath`"
        )
    active, ours = values["embedder"]["active_model"], values["embedder"]["profile"]
    if active is None:
        reasons.append("the pool has no active embedding model; run `mcp-agents-memory init`")
    elif ours != active:
        reasons.append(
            f"the pool uses the embedding model {active} and this machine has {ours}; "
            "searches from here go by keyword"
        )
    parked = sum(stage["parked"] for stage in values["stages"].values())
    if parked:
        reasons.append(f"{parked} rows of work are parked after repeated failures")
    return reasons
