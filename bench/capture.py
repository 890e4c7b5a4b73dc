"""How soon capture stores what is written, what it costs at rest, and how fast a backfill is.

    python -m bench.capture [--only lag new idle memory backfill] [--turns N] [--files N] [--rest S]
                            [--gigabytes N] [--unwatched]

A real capturer follows one and twenty live transcripts, meets new ones beside `--files` old ones of
ten clients, rests over them, and reads one new transcript of a gigabyte; a backfill of one process
stores messages of 300 bytes and 2 KB, in turns with a bare COPY of the same rows, indexes and
durability alike.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agents_memory.embedding.profiles import HASHING
from agents_memory.settings.capturing import CAPTURE_CLIENTS
from agents_memory.storage.connections import Connection, Database
from bench import report
from bench.backfill_rate import rates
from bench.capturing import LIMIT_S, Home, Live, begin_sessions, session, write_giant
from bench.measure import MS, cpu_seconds, machine, peak_mb, percentile
from bench.pool import BenchPool, fresh_pool

PARTS = ("lag", "new", "idle", "memory", "backfill")
SESSIONS = (1, 20)
SIZES = (300, 2_000)
PAUSE_S = 1.5
SETTLE_S = 15.0
GLANCE_S = 0.02
ROUNDS = 7
NEW = "SELECT id, message FROM messages WHERE id > $1 ORDER BY id"


async def lag(pool: BenchPool, base: Path, turns: int) -> dict[str, Any]:
    """From a line written to its row seen by another connection, in milliseconds."""
    found: dict[str, Any] = {}
    home, watch = Home(base, pool), pool.database("cold")
    async with home.capturer():
        for sessions in SESSIONS:
            report.note(f"lag of {sessions}")
            live = Live(home.claude / f"live-{sessions}", sessions)
            seen = asyncio.create_task(_seen(watch, turns * sessions))
            await live.speak(turns, PAUSE_S)
            async with asyncio.timeout(LIMIT_S):
                stored = await seen
            found[f"lag_{sessions}"] = _lags(live.written, stored)
    await watch.close()
    return found


async def new(
    pool: BenchPool, base: Path, files: int, turns: int, *, watched: bool
) -> dict[str, Any]:
    """From the first line of a new session, every other one in a new folder, to its row."""
    home = Home(base, pool, ",".join(CAPTURE_CLIENTS), watched=watched)
    watch = pool.database("cold")
    count = home.fill(files)
    async with home.capturer():
        await asyncio.sleep(SETTLE_S)
        report.note(f"first turns of new sessions beside {count} files")
        seen = asyncio.create_task(_seen(watch, turns))
        written = await begin_sessions(home.claude, turns, PAUSE_S)
        async with asyncio.timeout(LIMIT_S):
            stored = await seen
    await watch.close()
    return {"new_session": _lags(written, stored), "beside_files": count}


def _lags(written: Mapping[str, float], stored: Mapping[str, float]) -> dict[str, int]:
    lags = [stored[text] - at for text, at in written.items()]
    return {
        "p50_ms": round(percentile(lags, 0.5) * MS),
        "p95_ms": round(percentile(lags, 0.95) * MS),
        "max_ms": round(max(lags) * MS),
    }


async def _seen(database: Database, count: int) -> dict[str, float]:
    """When each of the next `count` messages was first there."""
    seen: dict[str, float] = {}
    last = await database.run(lambda c: c.fetchval("SELECT coalesce(max(id), 0) FROM messages"))
    while len(seen) < count:
        rows = await database.run(partial(_new, after=last))
        for row in rows:
            seen[row["message"]] = time.perf_counter()
            last = row["id"]
        await asyncio.sleep(GLANCE_S)
    return seen


async def _new(connection: Connection, after: int) -> list[Any]:
    return list(await connection.fetch(NEW, after))


async def idle(
    pool: BenchPool, base: Path, files: int, rest_s: float, *, watched: bool
) -> dict[str, Any]:
    """CPU time over wall time of a capturer that has nothing to read, in percent of a core."""
    home = Home(base, pool, ",".join(CAPTURE_CLIENTS), watched=watched)
    count = home.fill(files)
    async with home.capturer() as process:
        await asyncio.sleep(SETTLE_S)
        report.note(f"at rest over {count} files")
        began, before = time.perf_counter(), cpu_seconds([process.pid])
        await asyncio.sleep(rest_s)
        spent = cpu_seconds([process.pid]) - before
        share = spent / (time.perf_counter() - began)
        return {
            "files": count,
            "rest_s": rest_s,
            "idle_cpu_percent": round(100 * share, 2),
            "idle_peak_mb": peak_mb(process.pid),
        }


async def memory(pool: BenchPool, base: Path, gigabytes: float) -> dict[str, Any]:
    """The most memory a capturer and a backfill hold over one giant transcript."""
    home, watch = Home(base, pool), pool.database("cold")
    path = home.claude / "folder" / f"{session(1)}.jsonl"
    path.parent.mkdir()
    async with home.capturer() as process:
        before = peak_mb(process.pid)
        report.note(f"writing {gigabytes:g} GB")
        turns = write_giant(base / path.name, int(gigabytes * 1e9))
        began = time.perf_counter()
        (base / path.name).rename(path)
        # The last turn waits for what does not come.
        await _counted(watch, turns - 1)
        took = time.perf_counter() - began
        peak = peak_mb(process.pid)
    await watch.close()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "ingest.backfill", "claude-code"),
        *("--run", "--rate", "1e9", "--json"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=base,
        env=home.environ,
    )
    assert process.stdout is not None
    backfill = await _peak(process)
    answer = json.loads(await process.stdout.read())
    await process.wait()
    path.unlink()
    return {
        "giant_gb": gigabytes,
        "giant_turns": turns,
        "giant_s": round(took, 1),
        "before_mb": before,
        "peak_mb": peak,
        "backfill_peak_mb": backfill,
        "backfill_duplicates": answer["duplicate"],
    }


async def _counted(database: Database, turns: int) -> None:
    while (  # noqa: ASYNC110 (the event is in the server)
        await database.run(lambda c: c.fetchval("SELECT count(*) FROM messages"))
    ) < turns:
        await asyncio.sleep(1)


async def _peak(process: asyncio.subprocess.Process) -> float:
    """The most that it held when it was last seen alive."""
    peak = 0.0
    while True:
        try:
            peak = peak_mb(process.pid)
        except ProcessLookupError:
            return peak
        await asyncio.sleep(GLANCE_S)


async def backfill(pool: BenchPool, base: Path, turns: int) -> dict[str, Any]:
    """Turns a second beside a bare COPY."""
    found = {}
    for size in SIZES:
        report.note(f"backfill of messages of {size} bytes")
        found[f"backfill_{size}"] = await rates(pool, base, size, turns, ROUNDS)
    return found


async def run(options: argparse.Namespace) -> None:
    found: dict[str, Any] = {}
    for part in options.only:
        async with fresh_pool(HASHING) as pool:
            with tempfile.TemporaryDirectory(prefix="agents-memory-capture-") as folder:
                base = Path(folder)
                match part:
                    case "lag":
                        found |= await lag(pool, base, options.turns)
                    case "new":
                        found |= await new(
                            pool, base, options.files, options.turns, watched=not options.unwatched
                        )
                    case "idle":
                        found |= await idle(
                            pool, base, options.files, options.rest, watched=not options.unwatched
                        )
                    case "memory":
                        found |= await memory(pool, base, options.gigabytes)
                    case _:
                        found |= await backfill(pool, base, options.rows)
    report.table(["figure", "value"], _rows(found))
    report.result({**found, **machine()})


def _rows(found: dict[str, Any]) -> Sequence[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in found.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        rows += [(f"{name} {part}".strip(), figure) for part, figure in parts]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts (all)")
    parser.add_argument("--turns", type=int, default=40, help="turns of a live session (40)")
    parser.add_argument("--files", type=int, default=2000, help="transcripts at rest (2000)")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds at rest (60)")
    parser.add_argument("--gigabytes", type=float, default=1.0, help="the giant transcript (1)")
    parser.add_argument("--rows", type=int, default=1000, help="turns of a round (1000)")
    parser.add_argument(
        "--unwatched", action="store_true", help="new and idle without the system's watch"
    )
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
