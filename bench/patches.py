"""What a patch costs, and what it keeps when many change the same memories at once.

    python -m bench.patches [--adds N] [--seconds S] [--clients N] [--memories N]

First, memories are added two ways in turn: by `Patching.apply` with one ADD that cites a message,
and by a bare transaction (BEGIN, a row in `memories`, a row in `memory_versions`, COMMIT; lexemes
and keys ready) over a bare asyncpg connection. Then clients change the same memories, each patch
expecting the version it has read, and again when somebody was faster; before and after it the same
clients do a bare `UPDATE … WHERE version = $1` on rows of a table of their own. At the end every
history is read: no version may be missing, and every acknowledged patch stands there once.
"""

import argparse
import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.memories import same_key
from agents_memory.domain.messages import Draft, Origin, Role, Stored, Trust
from agents_memory.domain.patches import Add, Applied, PatchRequest, Update
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.intake import Intake
from agents_memory.services.patching import Patching
from agents_memory.storage import users
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import Hints
from bench import report
from bench.insert import backends
from bench.measure import MS, Stopwatch, cpu_seconds, machine, ratio
from bench.pool import BenchPool, fresh_pool
from bench.turns import example_drafts

WARM_UP = 50
USER = "bench"
MEMORY = """\
INSERT INTO agents_memory.memories (user_id, subject, content, content_key, kind, importance,
    valence, intensity, trust, lexemes, lexeme_count)
VALUES ($1, $2, $3, $4, 'note', 5, 0, 0, 'owner', $5::text::tsvector, $6) RETURNING id"""
VERSION = """\
INSERT INTO agents_memory.memory_versions (memory_id, version, patch_id, subject, content, kind,
    importance, valence, intensity, trust, status, pinned, tags)
VALUES ($1, 1, $2, $3, $4, 'note', 5, 0, 0, 'owner', 'active', false, '{}')"""
BARE_TABLE = (
    "CREATE TABLE agents_memory.bench_rows (id int PRIMARY KEY, version int NOT NULL, content text)"
)
BARE_READ = "SELECT version FROM agents_memory.bench_rows WHERE id = $1"
BARE_WRITE = """\
UPDATE agents_memory.bench_rows SET version = version + 1, content = $3
WHERE id = $2 AND version = $1"""


@dataclass(frozen=True, slots=True)
class Bench:
    """What both parts work with; `message_id` is the evidence of every patch."""

    pool: BenchPool
    hot: Database
    patching: Patching
    user_id: int
    message_id: int

    async def patch(self, operation: Add | Update) -> Applied | Refusal:
        return await self.patching.apply(
            PatchRequest(
                self.user_id, "agent", "bench", "measured", (operation,), (self.message_id,)
            )
        )

    async def added(self, add: Add) -> Applied:
        applied = await self.patch(add)
        assert isinstance(applied, Applied), applied
        return applied


def statements(count: int) -> list[str]:
    """Sentences of the example conversations, each its own."""
    texts = [line.strip() for draft in example_drafts() for line in draft.text.splitlines()]
    lines = [line for line in texts if 40 <= len(line) <= 200]
    return [f"{lines[number % len(lines)]} ({number})" for number in range(count)]


async def measure_adds(bench: Bench, adds: int) -> dict[str, Any]:
    """Adds memories two ways in turn, and says what each way took."""
    first = await bench.added(Add("bench", "the first"))
    connection = await asyncpg.connect(bench.pool.url("hot"))
    sentences = statements(WARM_UP + adds)
    watches = {"bare": Stopwatch(), "add": Stopwatch()}
    ready = []
    for sentence in sentences:
        analysis = analyse(f"bare\n{sentence}")
        ready.append(
            (same_key("bare", sentence), to_tsvector_literal(analysis.terms), analysis.length)
        )

    async def bare(number: int) -> None:
        key, lexemes, length = ready[number]
        async with connection.transaction():
            memory_id = await connection.fetchval(
                MEMORY, bench.user_id, "bare", sentences[number], key, lexemes, length
            )
            await connection.execute(VERSION, memory_id, first.patch_id, "bare", sentences[number])

    async def one(number: int) -> None:
        for name in ("bare", "add") if number % 2 else ("add", "bare"):
            with watches[name]:
                if name == "bare":
                    await bare(number)
                else:
                    await bench.added(Add("user", sentences[number]))

    for number in range(WARM_UP):
        await one(number)
    watches.update({name: Stopwatch() for name in watches})
    pids = {"bare": [connection.get_server_pid()], "add": await backends(bench.hot)}
    before = {name: cpu_seconds(of) for name, of in pids.items()}
    for number in range(WARM_UP, WARM_UP + adds):
        await one(number)
    found: dict[str, Any] = {}
    for name, watch in watches.items():
        found[name] = watch.milliseconds()
        spent = (cpu_seconds(pids[name]) - before[name]) / adds * MS
        found[name]["server_cpu_ms"] = round(spent, 3)
        found[name]["total_cpu_ms"] = round(found[name]["cpu_ms"] + spent, 3)
    await connection.close()
    return {
        "adds": adds,
        **found,
        "cpu_ratio": ratio(found["add"]["total_cpu_ms"], found["bare"]["total_cpu_ms"]),
        "wall_ratio": ratio(found["add"]["p50_ms"], found["bare"]["p50_ms"]),
    }


@dataclass(slots=True)
class Tally:
    """What many clients did together."""

    done: int = 0
    conflicts: int = 0
    seconds: float = 0.0
    acknowledged: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds else 0.0


async def patch_together(
    bench: Bench, memory_ids: list[int], clients: int, seconds: float
) -> Tally:
    """Clients patch memories of their choice, reading again when somebody was faster."""
    tally, end = Tally(), time.perf_counter() + seconds

    async def version_of(memory_id: int) -> int:
        async def read(connection: Connection) -> int:
            return int(
                await connection.fetchval("SELECT version FROM memories WHERE id = $1", memory_id)
            )

        return await bench.hot.run(read)

    async def client(number: int) -> None:
        choose, turn = random.Random(number), 0
        while time.perf_counter() < end:
            memory_id, turn = choose.choice(memory_ids), turn + 1
            expected = await version_of(memory_id)
            while True:
                made = await bench.patch(
                    Update(memory_id, f"Client {number} says {turn} of {memory_id}.", expected)
                )
                if isinstance(made, Applied):
                    tally.done += 1
                    tally.acknowledged.append((made.patch_id, memory_id, made.changes[0].version))
                    break
                assert made.code is Code.VERSION_CONFLICT, made
                tally.conflicts += 1
                expected = made.details["version"]

    began = time.perf_counter()
    await asyncio.gather(*map(client, range(clients)))
    tally.seconds = time.perf_counter() - began
    return tally


async def update_together(bench: Bench, rows: int, clients: int, seconds: float) -> Tally:
    """The same with bare rows: read the version, write if it still is."""
    tally, end = Tally(), time.perf_counter() + seconds

    async def client(number: int, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        choose, turn = random.Random(number), 0
        while time.perf_counter() < end:
            row, turn = choose.randrange(rows), turn + 1
            while True:
                async with pool.acquire() as connection:
                    version = await connection.fetchval(BARE_READ, row)
                async with pool.acquire() as connection:
                    answer = await connection.execute(
                        BARE_WRITE, version, row, f"Client {number} says {turn} of {row}."
                    )
                if answer == "UPDATE 1":
                    tally.done += 1
                    break
                tally.conflicts += 1

    async with asyncpg.create_pool(bench.pool.url("owner"), min_size=8, max_size=8) as pool:
        began = time.perf_counter()
        await asyncio.gather(*(client(number, pool) for number in range(clients)))
        tally.seconds = time.perf_counter() - began
    return tally


async def check(bench: Bench, memory_ids: list[int], tally: Tally) -> dict[str, Any]:
    """Whether the histories hold every version, and every acknowledged patch once."""

    async def read(connection: Connection) -> tuple[list[Any], list[Any]]:
        versions = await connection.fetch(
            "SELECT memory_id, version, patch_id FROM memory_versions "
            "WHERE memory_id = ANY ($1::bigint[]) ORDER BY memory_id, version",
            memory_ids,
        )
        current = await connection.fetch(
            "SELECT id, version FROM memories WHERE id = ANY ($1::bigint[])", memory_ids
        )
        return versions, current

    versions, current = await bench.hot.run(read)
    kept: dict[int, list[int]] = {}
    for row in versions:
        kept.setdefault(row["memory_id"], []).append(row["version"])
    gapless = all(kept[row["id"]] == list(range(1, row["version"] + 1)) for row in current) and len(
        current
    ) == len(memory_ids)
    standing = Counter((row["patch_id"], row["memory_id"], row["version"]) for row in versions)
    return {
        "gapless": gapless,
        "acknowledged": len(tally.acknowledged),
        "acknowledged_once": sum(standing[made] == 1 for made in tally.acknowledged),
        "versions_beyond_first": len(versions) - len(memory_ids),
    }


async def contend(bench: Bench, clients: int, memories: int, seconds: float) -> dict[str, Any]:
    """Many clients on the same memories, between two runs of bare updates of a third the time."""
    owner = await asyncpg.connect(bench.pool.url("owner"))
    await owner.execute(BARE_TABLE)
    await owner.executemany(
        "INSERT INTO agents_memory.bench_rows VALUES ($1, 1, '')",
        [(number,) for number in range(memories)],
    )
    await owner.close()
    memory_ids = [
        (await bench.added(Add("contended", f"Number {number}."))).changes[0].item_id
        for number in range(memories)
    ]
    before = await update_together(bench, memories, clients, seconds / 3)
    tally = await patch_together(bench, memory_ids, clients, seconds)
    after = await update_together(bench, memories, clients, seconds / 3)
    bare = (before.done + after.done) / (before.seconds + after.seconds)
    return {
        "clients": clients,
        "memories": memories,
        "seconds": round(tally.seconds, 1),
        "patches_per_s": round(tally.rate, 1),
        "conflicts": tally.conflicts,
        "bare_updates_per_s": round(bare, 1),
        "bare_conflicts": before.conflicts + after.conflicts,
        "throughput_ratio": ratio(tally.rate, bare),
        **await check(bench, memory_ids, tally),
    }


async def run(adds: int, seconds: float, clients: int, memories: int) -> None:
    async with fresh_pool(HASHING) as pool:
        hot = pool.database("hot")
        user_id = await hot.run(lambda connection: users.ensure_user(connection, USER))
        hints = Hints(hot)
        said = Draft(Role.USER, "Remember it all.", Origin.CAPTURED, Trust.OWNER, "bench")
        stored = await Intake(hot, hints, SystemClock()).store(said, user_id)
        assert isinstance(stored, Stored)
        bench = Bench(pool, hot, Patching(hot, hints), user_id, stored.id)
        added = await measure_adds(bench, adds)
        contended = await contend(bench, clients, memories, seconds)
        await hints.close()
        await hot.close()
    columns = ("p50_ms", "p95_ms", "cpu_ms", "server_cpu_ms", "total_cpu_ms")
    report.table(
        ["way", *columns],
        [(name, *(added[name][column] for column in columns)) for name in ("bare", "add")],
    )
    report.table(["contended", ""], list(contended.items()))
    report.result({**added, "contended": contended, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--adds", type=int, default=1000, help="how many memories (1000)")
    parser.add_argument("--seconds", type=float, default=60, help="how long to contend (60)")
    parser.add_argument("--clients", type=int, default=64, help="who contend (64)")
    parser.add_argument("--memories", type=int, default=100, help="what for (100)")
    given = parser.parse_args()
    asyncio.run(run(given.adds, given.seconds, given.clients, given.memories))


if __name__ == "__main__":
    main()
