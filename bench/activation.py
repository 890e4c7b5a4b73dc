"""What it costs to compute how present everything is, and what logging exposure costs a search.

    python -m bench.activation [--memories N] [--traces N] [--parallel-seconds S]

Memories are made in SQL, with traces over two years: nine of ten exposures, the others uses. They
are folded (`fold_s`), and everything is computed from the bins in the daemon's transactions
(`recompute_s`, the best of three); then as many traces are added over the same two years, and all
is done again. Before each folding it is computed from the traces that are in no bin yet, once
(`single_s`), which says how far folding moves the values (`error_p99`, `error_max`). At the end 32
clients log exposure and use of the same items in random order, as parallel searches do.
"""

import argparse
import asyncio
import random
import time
from datetime import UTC, datetime
from typing import Any

from agents_memory.domain.errors import MemoryFault
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.forgetting import Forgetting
from agents_memory.storage import traces, users
from agents_memory.storage.connections import Database
from agents_memory.storage.traces import TraceKind
from bench import report
from bench.measure import machine, ratio
from bench.pool import BenchPool, fresh_pool

ROUNDS = 3
CLIENTS = 32
DAYS = 730
AT_ONCE = 500_000
# Built in one go at the end, which takes a fraction of the time.
INDEXES = ("traces_surfaced_hourly", "traces_item")
MEMORIES = """\
INSERT INTO memories (user_id, subject, content, content_key, kind, importance, valence, intensity,
    trust, lexemes, lexeme_count, created_at)
SELECT $1, 'bench', 'memory ' || n, sha256(convert_to(n::text, 'UTF8')),
    (ARRAY['fact', 'preference', 'decision', 'promise', 'milestone', 'pattern', 'note'])[1 + n % 7],
    1 + n % 10, (n % 21 - 10) / 10.0, (n % 11) / 10.0, 'agent', '', 0, now() - interval '730 days'
FROM generate_series(1, $2::bigint) n"""
CREATED = """\
INSERT INTO traces (item_id, kind, weight, hour, at)
SELECT id, 'created', 1, 0, created_at FROM memories ORDER BY id"""
# In the order of time, as they would have come; each in an hour of its own, however many there are.
TRACES = """\
INSERT INTO traces (item_id, kind, weight, hour, at)
SELECT (SELECT min(id) FROM memories) + floor(random() * $3::bigint)::bigint,
    CASE WHEN n % 10 = 0 THEN 'used' ELSE 'surfaced' END, CASE WHEN n % 10 = 0 THEN 1 ELSE 0.1 END,
    $6::bigint + n, now() - interval '1 day' * $4::float8 * (1 - n::float8 / $5::bigint)
FROM generate_series($1::bigint, $2::bigint) n"""
SNAPSHOT = (
    "DROP TABLE IF EXISTS exact; CREATE TABLE exact AS SELECT item_id, value FROM activations"
)
ERROR = """\
SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY off) AS p99, max(off) AS most FROM (
    SELECT abs(a.value - e.value) / e.value AS off
    FROM activations a JOIN exact e USING (item_id) WHERE e.value > 0) AS compared"""


async def _execute(owner: Database, sql: str, *arguments: Any) -> None:
    """A statement that may take as long as it takes."""
    connection = await owner.connect(statement_timeout="0")
    try:
        await connection.execute(sql, *arguments, timeout=3_600)
    finally:
        await connection.close()


async def _vacuum(owner: Database) -> None:
    # As autovacuum would have left them.
    for table in ("memories", "traces", "trace_bins", "activations"):
        await _execute(owner, f"VACUUM (ANALYZE) {table}")


class _Still:
    """A clock that stands, so that each round computes the same."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return time.monotonic()


async def _load(owner: Database, memories: int, count: int) -> None:
    """`count` more traces, evenly over the time."""
    async with owner.acquire() as connection:
        indexes = [
            await connection.fetchval("SELECT pg_get_indexdef($1::regclass)", name)
            for name in INDEXES
        ]
    await _execute(owner, f"DROP INDEX {', '.join(INDEXES)}")
    for first in range(1, count + 1, AT_ONCE):
        last = min(first + AT_ONCE - 1, count)
        await _execute(owner, TRACES, first, last, memories, DAYS, count, time.time_ns())
        report.note(f"{last} traces")
    for index in indexes:
        await _execute(owner, index)
    await _vacuum(owner)


async def _recompute(cold: Database) -> tuple[float, int]:
    """The best of some rounds, in seconds; each has its own time, so that every value changes."""
    best, items = float("inf"), 0
    for _ in range(ROUNDS):
        forgetting = Forgetting(cold.transaction, _Still(datetime.now(UTC)))
        began = time.perf_counter()
        done = await forgetting.recompute()
        best, items = min(best, time.perf_counter() - began), done.items
    return best, items


async def measure(pool: BenchPool, memories: int, count: int) -> list[dict[str, Any]]:
    """One pool with `count` traces, and with as many again, from single ones to folded ones."""
    owner, cold = pool.database("owner"), pool.database("cold")
    user_id = await owner.run(lambda connection: users.ensure_user(connection, "bench"))
    await _execute(owner, MEMORIES, user_id, memories)
    await _execute(owner, CREATED)
    found = []
    for _ in range(2):
        await _load(owner, memories, count)
        forgetting = Forgetting(cold.transaction, _Still(datetime.now(UTC)))
        # In smaller batches: from single traces one of the daemon's could take longer than it may.
        began = time.perf_counter()
        await forgetting.recompute(batch=5_000)
        single = time.perf_counter() - began
        await _execute(owner, SNAPSHOT)
        began = time.perf_counter()
        folded = await forgetting.fold()
        fold = time.perf_counter() - began
        await _vacuum(owner)
        await forgetting.recompute()
        async with owner.acquire() as connection:
            error = await connection.fetchrow(ERROR)
            bins = await connection.fetchval("SELECT count(*) FROM trace_bins")
            total = await connection.fetchval("SELECT count(*) FROM traces")
        assert error is not None
        seconds, items = await _recompute(cold)
        found.append(
            {
                "traces": total,
                "folded": folded,
                "fold_s": round(fold, 1),
                "single_s": round(single, 1),
                "bins": bins,
                "items": items,
                "recompute_s": round(seconds, 2),
                "error_p99": round(error["p99"], 5),
                "error_max": round(error["most"], 5),
            }
        )
        report.note(str(found[-1]))
    await owner.close()
    await cold.close()
    return found


async def expose(pool: BenchPool, seconds: float) -> dict[str, Any]:
    """Clients log exposure and use of the same items in random order; what went wrong."""
    hot = pool.database("hot", max_size=CLIENTS)
    rows = await hot.run(lambda c: c.fetch("SELECT id FROM memories ORDER BY id LIMIT 50"))
    ids = [row["id"] for row in rows]
    end, done, faults = time.perf_counter() + seconds, 0, 0

    async def client(number: int) -> None:
        nonlocal done, faults
        choose = random.Random(number)
        while time.perf_counter() < end:
            order = choose.sample(ids, k=20)
            try:
                async with hot.transaction() as connection:
                    kind = choose.choice([TraceKind.SURFACED, TraceKind.USED])
                    await traces.insert_traces(connection, order, kind, None)
                done += 1
            except MemoryFault as fault:
                faults += 1
                report.note(str(fault))

    await asyncio.gather(*map(client, range(CLIENTS)))
    await hot.close()
    return {"clients": CLIENTS, "seconds": seconds, "logged": done, "faults": faults}


async def run(memories: int, count: int, seconds: float) -> None:
    async with fresh_pool(HASHING) as pool:
        measured = await measure(pool, memories, count)
        parallel = await expose(pool, seconds)
    columns = list(measured[0])
    report.table(columns, [list(row.values()) for row in measured])
    report.result(
        {
            "memories": memories,
            "runs": measured,
            "recompute_ratio": ratio(measured[1]["recompute_s"], measured[0]["recompute_s"]),
            "parallel": parallel,
            **machine(),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memories", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--traces", type=int, default=10_000_000, help="how many (10000000)")
    parser.add_argument("--parallel-seconds", type=float, default=30.0, help="how long (30)")
    given = parser.parse_args()
    asyncio.run(run(given.memories, given.traces, given.parallel_seconds))


if __name__ == "__main__":
    main()
