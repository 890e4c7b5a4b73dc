"""What storing a turn costs, against a bare insert of the same row, and through MCP on top of it.

    python -m bench.insert [--turns N]

Each turn of the example conversations is stored three ways, one after the other, in an order that
changes from turn to turn: by one prepared `INSERT` into `messages` over a bare asyncpg connection
(lexemes ready, nothing redacted, no state and no work written), by `Intake.store`, and by
`save_message` of an MCP server on stdio. All three commit with the durability users get.
"""

import argparse
import asyncio
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg

from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Refusal
from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.messages import Draft, Stored
from agents_memory.embedding.profiles import HASHING
from agents_memory.services.intake import Intake, prepare
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import users
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from bench import report
from bench.measure import MS, Stopwatch, cpu_seconds, machine, percentile, ratio
from bench.pool import BenchPool, fresh_pool
from bench.stdio import Server
from bench.turns import example_drafts

USER = "bench"
INSERT = """\
INSERT INTO agents_memory.messages (intake_id, user_id, platform, model, device, session, role,
    message, origin, trust, cwd, occurred_at, lexemes, lexeme_count)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::tsvector, $14)
RETURNING id, created_at"""


class Bare:
    """The least that stores the row: one prepared statement on one connection."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]", user_id: int) -> None:
        self._connection = connection
        self._user_id = user_id

    async def store(self, draft: Draft, lexemes: str, lexeme_count: int) -> None:
        await self._connection.fetchrow(
            INSERT,
            uuid.uuid4(), self._user_id, draft.platform, draft.model, draft.device, draft.session,
            draft.role, draft.text, draft.origin, draft.trust, draft.cwd, draft.occurred_at,
            lexemes, lexeme_count,
        )  # fmt: skip


def sample() -> list[tuple[Draft, str, int]]:
    """The turns as an agent would hand them over, and the lexemes the bare insert is given."""
    found = []
    for draft in example_drafts():
        # Without an id of its own, so that every round stores a new row.
        turn = replace(draft, source=None, store_id=None, native_id=None)
        prepared = prepare(turn)
        if not isinstance(prepared, Refusal):
            analysis = analyse(prepared[0].text)
            found.append((turn, to_tsvector_literal(analysis.terms), analysis.length))
    return found


async def backends(database: Database) -> list[int]:
    """The server processes behind a database's connections."""

    async def find(connection: Any) -> list[int]:
        rows = await connection.fetch(
            "SELECT pid FROM pg_stat_activity WHERE application_name = "
            "current_setting('application_name')"
        )
        return [row["pid"] for row in rows]

    return await database.run(find)


def environment(pool: BenchPool, home: Path) -> dict[str, str]:
    """What the MCP server of this benchmark gets."""
    return {
        "PATH": inherited_environment()["PATH"],
        "HOME": str(home),
        "DATABASE_URL": pool.url("hot"),
        "EMBEDDING_MODEL": "hashing",
        "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        "USER_NAME": USER,
    }


async def measure(pool: BenchPool, server: Server, turns: int) -> dict[str, Any]:
    """Stores `turns` turns three ways and says what each way took."""
    hot = pool.database("hot")
    user_id = await hot.run(lambda connection: users.ensure_user(connection, USER))
    hints = Hints(hot)
    intake = Intake(hot, hints, SystemClock())
    connection = await asyncpg.connect(pool.url("hot"))
    bare = Bare(connection, user_id)
    messages = sample()
    watches = {"bare": Stopwatch(), "store": Stopwatch(), "stdio": Stopwatch()}

    async def store(draft: Draft) -> None:
        assert isinstance(await intake.store(draft, user_id), Stored)

    async def save(draft: Draft) -> None:
        server.call("save_message", role=draft.role.value, message=draft.text)

    async def one(number: int) -> None:
        draft, lexemes, count = messages[number % len(messages)]
        ways: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            ("bare", lambda: bare.store(draft, lexemes, count)),
            ("store", lambda: store(draft)),
            ("stdio", lambda: save(draft)),
        ]
        for name, way in ways[number % 3 :] + ways[: number % 3]:
            with watches[name]:
                await way()

    # Every text once: what is kept of words is there, as in a process that has run for a while.
    for number in range(len(messages)):
        await one(number)
    watches.update({name: Stopwatch() for name in watches})
    pids = {
        "bare": [connection.get_server_pid()],
        "store": await backends(hot),
        "server": [server.pid],
    }
    before = {name: cpu_seconds(of) for name, of in pids.items()}
    for number in range(turns):
        await one(number)
    spent = {name: (cpu_seconds(of) - before[name]) / turns * MS for name, of in pids.items()}
    await hints.close()
    await hot.close()
    await connection.close()
    return figures(watches, spent)


def figures(watches: Mapping[str, Stopwatch], spent: Mapping[str, float]) -> dict[str, Any]:
    """From the clocks to what is printed; `spent` is CPU in milliseconds a turn."""
    ways = {name: watch.milliseconds() for name, watch in watches.items()}
    for name in ("bare", "store"):
        ways[name]["server_cpu_ms"] = round(spent[name], 3)
    # The MCP server is the client of the database; ours only waits for it.
    ways["stdio"]["cpu_ms"] = round(spent["server"], 3)
    total = {name: ways[name]["cpu_ms"] + ways[name]["server_cpu_ms"] for name in ("bare", "store")}
    added = percentile(watches["stdio"].wall, 0.5) - percentile(watches["store"].wall, 0.5)
    return {
        "turns": len(watches["bare"].wall),
        **ways,
        "wall_ratio": ratio(ways["store"]["p50_ms"], ways["bare"]["p50_ms"]),
        "cpu_ratio": ratio(total["store"], total["bare"]),
        "stdio_added_ms": round(added * MS, 3),
    }


async def beside_a_server(pool: BenchPool, home: Path, turns: int) -> dict[str, Any]:
    """The figures; the MCP server lives as long as the measurement."""
    with Server(environment(pool, home), home) as server:
        server.initialize()
        return await measure(pool, server, turns)


async def run(turns: int) -> None:
    async with fresh_pool(HASHING) as pool:
        with tempfile.TemporaryDirectory() as home:
            found = await beside_a_server(pool, Path(home), turns)
    columns = ("p50_ms", "p95_ms", "cpu_ms", "server_cpu_ms")
    report.table(
        ["way", *columns],
        [
            (name, *(found[name].get(column, "") for column in columns))
            for name in ("bare", "store", "stdio")
        ],
    )
    report.result({**found, **machine()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=1000, help="how many turns (1000)")
    asyncio.run(run(parser.parse_args().turns))


if __name__ == "__main__":
    main()
