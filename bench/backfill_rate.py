"""How fast a backfill stores, beside a bare COPY of the same rows into the same table."""

import io
import math
from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import asyncpg

from agents_memory.clock import SystemClock
from agents_memory.domain.messages import Origin
from agents_memory.services.intake import Intake
from agents_memory.storage import users
from agents_memory.storage.notify import Hints
from bench.capturing import session, talk, words
from bench.insert import backends
from bench.measure import Stopwatch, cpu_seconds
from bench.pool import BenchPool
from ingest.backfilling import store
from ingest.storing import Kept, Storing
from ingest.transcripts import CLIENTS
from tests.fixtures.transcripts.writer import Writer

COLUMNS = (
    "intake_id", "user_id", "platform", "model", "device", "venue", "session", "role", "message",
    "origin", "trust", "cwd", "project_hint", "source", "store_id", "native_id", "redactions",
    "occurred_at", "lexemes", "lexeme_count",
)  # fmt: skip
LAST = "SELECT coalesce(max(id), 0) FROM agents_memory.messages"
# The rows that were just stored, as new ones.
TAKE = f"""\
SELECT {", ".join(COLUMNS)} FROM (
    SELECT gen_random_uuid() AS intake_id, 'copy-' || native_id AS native_id,
        {", ".join(name for name in COLUMNS if name not in ("intake_id", "native_id"))}
    FROM agents_memory.messages WHERE id > $1 ORDER BY id) AS stored"""  # noqa: S608 (names of columns, above)
INTO: dict[str, Any] = {"schema_name": "agents_memory", "columns": COLUMNS}
TABLE = "messages"


async def rates(pool: BenchPool, base: Path, size: int, turns: int, rounds: int) -> dict[str, Any]:
    """Turns a second of both ways, by turns; `share` is the backfill's as a share of COPY's."""
    hot = pool.database("hot")
    user_id = await hot.run(lambda connection: users.ensure_user(connection, "bench"))
    texts = words(size, seed=size)
    hints, clock = Hints(hot), SystemClock()
    storing = Storing(
        hot,
        Intake(hot, hints, clock),
        user_id,
        clock,
        client="claude-code",
        device="laptop",
        origin=Origin.IMPORTED,
    )
    watches = {"backfill": Stopwatch(), "copy": Stopwatch()}
    server = dict.fromkeys(watches, 0.0)

    connection = await asyncpg.connect(pool.url("hot"))
    pids = {"backfill": await backends(hot), "copy": [connection.get_server_pid()]}

    async def timed(name: str, way: Awaitable[object]) -> None:
        before = cpu_seconds(pids[name])
        with watches[name]:
            await way
        server[name] += cpu_seconds(pids[name]) - before

    for number in range(rounds):
        root = base / f"{size}-{number}"
        (root / "folder").mkdir(parents=True)
        write = Writer(
            session=session(1_000 * size + number), begun=datetime(2025, 1, 1 + number, tzinfo=UTC)
        )
        lines = b"".join(talk(write, texts, turns))
        (root / "folder" / f"{write.session}.jsonl").write_bytes(lines)
        last = await connection.fetchval(LAST)
        await timed("backfill", _backfill(root, storing, turns))
        rows = io.BytesIO()
        await connection.copy_from_query(TAKE, last, output=rows)
        rows.seek(0)
        await timed("copy", connection.copy_to_table(TABLE, source=rows, **INTO))
    await connection.close()
    await hints.close()
    await hot.close()
    return _figures(watches, server, turns, rounds)


def _figures(
    watches: dict[str, Stopwatch], server: dict[str, float], turns: int, rounds: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, watch in watches.items():
        found[f"{name}_s"] = round(turns / median(watch.wall))
        cpu = (sum(watch.cpu) + server[name]) / (rounds * turns)
        found[f"{name}_cpu_ms"] = round(cpu * 1000, 3)
    pairs = zip(watches["copy"].wall, watches["backfill"].wall, strict=True)
    found["share"] = round(median(copy / backfill for copy, backfill in pairs), 2)
    found["server_cpu_ms"] = round(server["backfill"] / (rounds * turns) * 1000, 3)
    return found


async def _backfill(root: Path, storing: Storing, turns: int) -> None:
    client = CLIENTS["claude-code"]
    kept = await store(client, [root], storing, SystemClock(), rate=math.inf)
    assert kept[Kept.STORED] == turns, kept
