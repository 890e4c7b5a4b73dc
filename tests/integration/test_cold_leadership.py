"""One daemon leads a pool; the others wait, and take over."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.storage import leadership as rows
from agents_memory.storage.connections import Database
from cold.guard import Backoff
from cold.leadership import Held, Leadership
from cold.stopping import Stop, Stopped
from tests.conftest import Pool
from tests.integration.cold_daemons import LIMIT_S, query, until, value

WAITS = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    "AND wait_event = 'advisory' AND datname = current_database()"
)

TAKING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
    "AND query LIKE '-- take_lead%' AND datname = current_database()"
)


class Term:
    """Work that records its terms and goes on until it is let go or cancelled."""

    def __init__(self) -> None:
        self.begun: asyncio.Queue[int] = asyncio.Queue()
        self.cancelled: list[int] = []
        self.enough = asyncio.Event()

    async def __call__(self, epoch: int) -> int:
        self.begun.put_nowait(epoch)
        try:
            await self.enough.wait()
        except asyncio.CancelledError:
            self.cancelled.append(epoch)
            raise
        return epoch


@pytest.fixture
async def other_database(pool: Pool) -> AsyncIterator[Database]:
    database = pool.database("memory_cold")
    yield database
    await database.close()


def _candidate(database: Database, stop: Stop | None = None, **options: object) -> Leadership:
    options.setdefault("holder", "here")
    options.setdefault("backoff", Backoff(0.01, 1, 0.01))
    return Leadership(database, stop or Stop(), **options)  # type: ignore[arg-type]


@asynccontextmanager
async def _running(candidate: Leadership, term: Term) -> AsyncIterator["asyncio.Task[int]"]:
    task = asyncio.create_task(candidate.run(term))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _next(term: Term) -> int:
    async with asyncio.timeout(LIMIT_S):
        return await term.begun.get()


async def _end_session_of_the_lock(database: Database) -> None:
    key = rows.lock_key(database.schema)
    ended = await query(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted "
        "AND classid = ($1::bigint >> 32)::oid AND objid = ($1::bigint & 4294967295)::oid "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        key,
    )
    assert len(ended) == 1


async def test_the_second_waits_and_takes_over_when_the_first_loses_its_connection(
    cold_database: Database, other_database: Database
) -> None:
    """F72, F105, E13: the lock lives with its session, the epoch tells the terms apart."""
    first, second = Term(), Term()
    async with _running(_candidate(cold_database), first):
        epoch = await _next(first)
        async with _running(_candidate(other_database, holder="there"), second):
            await until(cold_database, lambda c: c.fetchval(WAITS), "the second waits")
            assert second.begun.empty()
            await _end_session_of_the_lock(cold_database)
            assert await _next(second) == epoch + 1
            leader = await cold_database.run(rows.find_leader)
            assert (leader.epoch, leader.holder) == (epoch + 1, "there")
            # The first stopped at once, and now waits in its turn.
            await until(cold_database, lambda c: c.fetchval(WAITS), "the first waits")
            assert first.cancelled == [epoch]
            second.enough.set()
            assert await _next(first) == epoch + 2


async def test_work_that_swallows_its_cancellation_is_cancelled_until_it_ends(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E13: before Python 3.12 a wait that ends as it is cancelled lets the work go on."""
    monkeypatch.setattr("cold.stopping.CANCEL_AGAIN_S", 0.01)
    begun: asyncio.Queue[int] = asyncio.Queue()
    deaf = 3

    async def work(epoch: int) -> int:
        nonlocal deaf
        begun.put_nowait(epoch)
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not deaf:
                    raise
                deaf -= 1

    task = asyncio.create_task(_candidate(cold_database).run(work))
    try:
        async with asyncio.timeout(LIMIT_S):
            epoch = await begun.get()
            await _end_session_of_the_lock(cold_database)
            assert await begun.get() == epoch + 1
        assert deaf == 0
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_stop_ends_a_take_over_that_is_held_up(
    cold_database: Database, owner_database: Database
) -> None:
    """E9: a migration, or an old write, may keep the term from beginning for a while."""
    stop = Stop()
    async with owner_database.transaction() as connection:
        await connection.execute("SELECT FROM leader FOR SHARE")
        taking = asyncio.create_task(_candidate(cold_database, stop).run(Term()))
        await until(cold_database, lambda c: c.fetchval(TAKING), "the take-over is held up")
        stop.ask()
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(Stopped):
                await taking
    assert await value(cold_database, "SELECT epoch FROM leader") == 0


async def test_a_take_over_that_lost_its_server_is_begun_again(
    cold_database: Database, owner_database: Database
) -> None:
    """E1: the database restarts while one is about to lead."""
    term = Term()
    async with owner_database.transaction() as connection:
        await connection.execute("SELECT FROM leader FOR SHARE")
        running = _running(_candidate(cold_database), term)
        await running.__aenter__()
        await until(cold_database, lambda c: c.fetchval(TAKING), "the take-over is held up")
        await _end_session_of_the_lock(cold_database)
    try:
        assert await _next(term) == 1
    finally:
        await running.__aexit__(None, None, None)


async def test_a_write_of_the_last_term_that_never_ends_is_undone_by_the_next(
    cold_database: Database, other_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B16: a client that froze inside a statement runs into no timeout of the server."""
    monkeypatch.setattr("cold.leadership.BLOCKED_S", 0.05)
    term = Term()

    async def write() -> None:
        async with other_database.transaction() as connection:
            await rows.hold_epoch(connection, 0)
            async with _running(_candidate(cold_database), term):
                assert await _next(term) == 1
            await connection.execute("UPDATE leader SET holder = 'deposed'")

    with pytest.raises(DatabaseUnavailable):
        await write()
    assert (await cold_database.run(rows.find_leader)).holder == "here"


async def test_the_result_counts_also_when_the_lead_cannot_be_resigned(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done is not done again because the server went away at the very end."""

    async def resign_lead(*_: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr("agents_memory.storage.leadership.resign_lead", resign_lead)
    term = Term()
    term.enough.set()
    assert await _candidate(cold_database).run(term) == 1
    assert term.begun.qsize() == 1


async def test_a_term_that_ends_in_order_is_resigned(cold_database: Database) -> None:
    term = Term()
    async with _running(_candidate(cold_database), term) as task:
        epoch = await _next(term)
        leader = await cold_database.run(rows.find_leader)
        assert (leader.holder, leader.pid) == ("here", os.getpid())
        assert await cold_database.run(lambda c: rows.is_locked(c, cold_database.schema))
        term.enough.set()
        assert await task == epoch
    leader = await cold_database.run(rows.find_leader)
    assert (leader.epoch, leader.holder, leader.pid) == (epoch, None, None)
    assert not await cold_database.run(lambda c: rows.is_locked(c, cold_database.schema))


async def test_a_stop_ends_the_wait_for_the_lead(
    cold_database: Database, other_database: Database
) -> None:
    """E9: a standby does not hang at its end."""
    first, stop = Term(), Stop()
    async with _running(_candidate(cold_database), first):
        await _next(first)
        waiting = asyncio.create_task(_candidate(other_database, stop).run(Term()))
        await until(cold_database, lambda c: c.fetchval(WAITS), "the second waits")
        stop.ask()
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(Stopped):
                await waiting
        await until(
            cold_database,
            lambda c: c.fetchval(WAITS.replace("count(*)", "count(*) = 0")),
            "nobody waits any more",
        )


async def test_whoever_does_not_want_to_wait_is_told_so(
    cold_database: Database, other_database: Database
) -> None:
    first = Term()
    async with _running(_candidate(cold_database), first):
        epoch = await _next(first)
        with pytest.raises(
            Held, match=rf"here, process {os.getpid()}, since .*stop that one first"
        ):
            await _candidate(other_database, wait=False).run(Term())
        assert (await cold_database.run(rows.find_leader)).epoch == epoch


async def test_the_wait_is_renewed_on_a_fresh_connection(
    cold_database: Database, other_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiting connection that died without a word would otherwise wait for ever."""
    monkeypatch.setattr("cold.leadership.WAIT_S", 0.05)
    first, second = Term(), Term()
    pids = WAITS.replace("count(*)", "min(pid)")
    async with _running(_candidate(cold_database), first):
        epoch = await _next(first)
        async with _running(_candidate(other_database), second):
            before = await until(cold_database, lambda c: c.fetchval(pids), "the second waits")
            await until(
                cold_database,
                lambda c: c.fetchval(f"SELECT pid <> {before} FROM ({pids}) AS w (pid)"),
                "it waits on another connection",
            )
            first.enough.set()
            assert await _next(second) == epoch + 1


async def test_signs_of_life_keep_the_session_alive(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heartbeat goes over the very connection that holds the lock."""
    beats = 0
    enough = asyncio.Event()
    real = rows.beat

    async def counted(connection: object) -> None:
        nonlocal beats
        await real(connection)  # type: ignore[arg-type]
        beats += 1
        if beats == 30:
            enough.set()

    monkeypatch.setattr("agents_memory.storage.leadership.beat", counted)
    session = {**rows.LOCK_SESSION, "idle_session_timeout": "500ms"}
    term = Term()
    candidate = _candidate(cold_database, session=session, heartbeat_s=0.05)
    async with _running(candidate, term):
        epoch = await _next(term)
        async with asyncio.timeout(LIMIT_S):
            await enough.wait()
        assert term.cancelled == []
        assert (await cold_database.run(rows.find_leader)).epoch == epoch


async def test_a_sign_of_life_that_fails_ends_the_term_at_once(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-open connection: no end is reported, but nothing comes back either."""
    silent = asyncio.Event()
    real = rows.beat

    async def beat(connection: object) -> datetime:
        if silent.is_set():
            silent.clear()
            await asyncio.Event().wait()
        return await real(connection)  # type: ignore[arg-type]

    monkeypatch.setattr("agents_memory.storage.leadership.beat", beat)
    monkeypatch.setattr("cold.leadership.BEAT_LIMIT_S", 0.05)
    term = Term()
    async with _running(_candidate(cold_database, heartbeat_s=0.02), term):
        epoch = await _next(term)
        silent.set()
        assert await _next(term) == epoch + 1
        assert term.cancelled[0] == epoch


async def test_a_lost_database_is_waited_for(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1, E18: nothing ends because the server is away for a while."""
    away = 3
    real = cold_database.connect

    async def connect(**settings: str) -> object:
        nonlocal away
        if away:
            away -= 1
            raise DatabaseUnavailable("the server is away; start it")
        return await real(**settings)

    monkeypatch.setattr(cold_database, "connect", connect)
    term = Term()
    async with _running(_candidate(cold_database), term):
        assert await _next(term) == 1
    assert away == 0


async def test_a_frozen_holder_loses_the_lead(
    pool: Pool, cold_database: Database, repository: Path
) -> None:
    """B16, F105: whoever shows no sign of life is deposed, and finds out when it wakes up."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.cold_holder", pool.url("memory_cold"),
        cwd=repository, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            assert await process.stdout.readline() == b"leads 1\n"
            term = Term()
            async with _running(_candidate(cold_database), term):
                await until(cold_database, lambda c: c.fetchval(WAITS), "we wait")
                process.send_signal(signal.SIGSTOP)
                assert await _next(term) == 2
                process.send_signal(signal.SIGCONT)
                assert await process.stdout.readline() == b"lost 1\n"
                assert term.cancelled == []
    finally:
        process.kill()
        await process.wait()


async def test_two_that_start_at_once_are_one_leader(
    cold_database: Database, other_database: Database
) -> None:
    """F72: started together, one works and one waits."""
    terms = [Term(), Term()]
    async with (
        _running(_candidate(cold_database), terms[0]),
        _running(_candidate(other_database), terms[1]),
    ):
        await until(cold_database, lambda c: c.fetchval(WAITS), "one waits")
        begun = [asyncio.ensure_future(term.begun.get()) for term in terms]
        done, waiting = await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        for other in waiting:
            other.cancel()
        assert len(done) == 1
        assert await value(cold_database, "SELECT epoch FROM leader") == 1
