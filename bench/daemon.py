"""What the daemon costs: around a model that takes its time, and with rules alone.

    python -m bench.daemon [--messages N] [--rows N]

First a scripted server of OpenAI's kind answers every question after a second, four at a time, and
the daemon (a process of its own) files messages by it: screened, embedded by hashing, tagged, given
a context. Its CPU time is all that it adds. What is loaded and opened at the first question is told
apart, by a few messages before. Then it files rows by rules, with its memory looked at
twenty times on the way. Tagging and context of all rows are done when `work` is empty.
"""

import argparse
import asyncio
import json
import sys
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import cycle, islice
from tempfile import TemporaryDirectory
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.intake import Intake
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import users
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from bench import report
from bench.measure import MS, cpu_seconds, machine, resident_mb
from bench.pool import BenchPool, fresh_pool
from bench.turns import example_drafts
from tests.fixtures.completions import completion, models
from tests.fixtures.endpoint import Answer, Request, scripted_endpoint

LATENCY_S, AT_ONCE = 1.0, 4
WARM_UP = 4
BATCH = 20
LOOKS = 20
APPLICATION = "mcp-agents-memory coldpath"
ANSWER = {"project": None, "topics": ["bench"], "importance": 5, "valence": 0, "intensity": 0}
LEADS = "SELECT count(*) > 0 FROM leader WHERE holder IS NOT NULL"
DONE = "SELECT count(*) = 0 FROM work"
SERVERS = "SELECT pid FROM pg_stat_activity WHERE application_name = $1"
STAGED = """\
CREATE TEMP TABLE staged (id bigint, intake_id uuid, message text, lexemes text, words integer)"""
MOVES = """\
INSERT INTO messages (id, intake_id, user_id, platform, session, role, message, origin, trust,
    lexemes, lexeme_count)
SELECT id, intake_id, $1, 'bench', 'session-' || id / 20, 'user', message, 'imported', 'owner',
    lexemes::tsvector, words FROM staged"""
STATES = "INSERT INTO message_state (message_id, screening) SELECT id, 'clear' FROM staged"
WORK = "INSERT INTO work (item_id, stage) SELECT id, 'tag' FROM staged"


@asynccontextmanager
async def daemon(pool: BenchPool, **told: str) -> AsyncIterator[int]:
    """The id of a daemon that leads; ended with the block."""
    with TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-m", "cold",
            stdin=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={
                "PATH": inherited_environment()["PATH"],
                "HOME": home,
                "DATABASE_URL": pool.url("cold"),
                "EMBEDDING_MODEL": "hashing",
                "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
                "COLD_PATH_BATCH_SIZE": str(BATCH),
                "LOG_LEVEL": "error",
                **told,
            },
        )  # fmt: skip
        try:
            yield process.pid
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def value(database: Database, sql: str) -> Any:
    async with database.acquire() as connection:
        return await connection.fetchval(sql)


async def servers(database: Database) -> list[int]:
    """The server processes behind the daemon."""
    async with database.acquire() as connection:
        return [row["pid"] for row in await connection.fetch(SERVERS, APPLICATION)]


async def until(database: Database, holds: str) -> None:
    """Asks again and again."""
    while True:
        if await value(database, holds):
            return
        await asyncio.sleep(0.1)


async def around_a_model(pool: BenchPool, count: int) -> dict[str, Any]:
    """Files `count` messages by a server that takes a second for each."""
    hot, cold = pool.database("hot"), pool.database("cold")
    now = most = 0

    async def answer(request: Request) -> Answer:
        nonlocal now, most
        if request.path.endswith("/models"):
            return models("bench")
        now += 1
        most = max(most, now)
        await asyncio.sleep(LATENCY_S)
        now -= 1
        return completion(json.dumps(ANSWER))

    async with scripted_endpoint(answer) as server:
        told = {"LOCAL_LLM_BASE_URL": server.url, "LLM_CONCURRENCY": str(AT_ONCE)}
        async with daemon(pool, **told) as pid:
            await until(cold, LEADS)
            led = cpu_seconds([pid])
            await store(hot, WARM_UP)
            await until(cold, DONE)
            before, began = cpu_seconds([pid]), time.perf_counter()
            await store(hot, count)
            await until(cold, DONE)
            wall, cpu = time.perf_counter() - began, cpu_seconds([pid]) - before
    await hot.close()
    await cold.close()
    return {
        "messages": count,
        "warm_up_cpu_ms": round((before - led) * MS),
        "wall_s": round(wall, 1),
        "messages_s": round(count / wall, 2),
        "most_at_once": most,
        "cpu_ms_per_message": round(cpu / count * MS, 1),
        "cpu_share_of_wall": round(cpu / wall, 3),
    }


async def store(database: Database, count: int) -> None:
    """Real turns, as a capture hands them over."""
    user = await database.run(lambda connection: users.ensure_user(connection, "bench"))
    hints = Hints(database)
    intake = Intake(database, hints, SystemClock())
    for draft in islice(cycle(example_drafts()), count):
        # Without an id of its own, so that each is a new message.
        turn = replace(draft, source=None, store_id=None, native_id=None)
        await intake.store(turn, user)
    await hints.close()


async def by_rules(pool: BenchPool, rows: int) -> dict[str, Any]:
    """Files `rows` rows that nobody has filed, and looks at the memory on the way."""
    owner, cold = pool.database("owner"), pool.database("cold")
    await load(owner, rows)
    looks: list[float] = []
    async with daemon(pool, COLD_PATH_INTERVAL_SEC="1") as pid:
        await until(cold, LEADS)
        before, began = cpu_seconds([pid]), time.perf_counter()
        left = rows
        while left:
            await asyncio.sleep(1)
            left = await value(cold, "SELECT count(*) FROM work WHERE stage = 'tag'")
            if rows - left >= rows * (len(looks) + 1) / LOOKS:
                looks.append(resident_mb(pid))
                report.note(f"{rows - left} rows, {looks[-1]} MB")
        await until(cold, DONE)
        wall, cpu = time.perf_counter() - began, cpu_seconds([pid]) - before
        served = cpu_seconds(await servers(cold))
    await owner.close()
    await cold.close()
    return {
        "rows": rows,
        "wall_s": round(wall, 1),
        "rows_s": round(rows / wall, 1),
        "cpu_ms_per_row": round(cpu / rows * MS, 2),
        "server_cpu_ms_per_row": round(served / rows * MS, 2),
        "memory_mb": looks,
    }


async def load(owner: Database, rows: int) -> None:
    """Cleared messages without tags, and the work to be done with them."""
    texts = [draft.text for draft in example_drafts()]
    words = [analyse(text) for text in texts]
    async with owner.acquire() as connection:
        user = await users.ensure_user(connection, "bench")
        ids = await connection.fetch(
            "SELECT nextval('item_id') AS id FROM generate_series(1, $1)", rows
        )
        async with connection.transaction():
            await connection.execute(STAGED)
            await connection.copy_records_to_table(
                "staged",
                records=(
                    (row["id"], uuid.uuid4(), text, to_tsvector_literal(found.terms), found.length)
                    for row, text, found in zip(ids, cycle(texts), cycle(words), strict=False)
                ),
            )
            await connection.execute(MOVES, user, timeout=600)
            await connection.execute(STATES, timeout=600)
            await connection.execute(WORK, timeout=600)
        await connection.execute("VACUUM (ANALYZE) messages, message_state, work", timeout=600)


async def run(messages: int, rows: int) -> None:
    found: dict[str, Any] = {}
    async with fresh_pool(HASHING) as pool:
        if messages:
            found["around_a_model"] = await around_a_model(pool, messages)
    async with fresh_pool(HASHING) as pool:
        if rows:
            found["by_rules"] = await by_rules(pool, rows)
    for part in found.values():
        report.table(["figure", "value"], list(part.items()))
    report.result({**found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=200, help="filed by a model (200)")
    parser.add_argument("--rows", type=int, default=100_000, help="filed by rules (100000)")
    told = parser.parse_args()
    asyncio.run(run(told.messages, told.rows))


if __name__ == "__main__":
    main()
