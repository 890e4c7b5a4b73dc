"""`coldpath --once`, and the sign of life of the work."""

import asyncio
from pathlib import Path

import pytest

from agents_memory.storage import leadership, work
from agents_memory.storage.connections import Database
from agents_memory.storage.leadership import lock_key
from cold.app import WORK_LEFT
from cold.beat import EVERY_S, Beat
from cold.composition import compose
from cold.stopping import Stop, first
from cold.worker import Finish, Pace, Worker
from tests.conftest import Pool
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import (
    LIMIT_S,
    FakeEmbedder,
    begin_term,
    daemon,
    query,
    until,
    value,
)

TEXT = "The heron server moved to the new data centre in Graz."


def _once(database: Database, embedder: FakeEmbedder, clock: ManualClock | None = None) -> Worker:
    return compose(
        database, [embedder], Stop(), clock or ManualClock(),
        pace=Pace(5, 60.0, once=True), max_attempts=3,
    )  # fmt: skip


async def _run(worker: Worker, database: Database) -> Finish:
    async with asyncio.timeout(LIMIT_S):
        return await worker.run(await begin_term(database))


async def test_once_does_what_is_due_with_the_chores_and_says_so(
    use: Services, cold_database: Database
) -> None:
    await use.say(TEXT)
    worker = _once(cold_database, FakeEmbedder())
    assert await _run(worker, cold_database) is Finish.DRAINED
    assert await value(cold_database, "SELECT count(*) FROM work") == 0
    assert await value(cold_database, "SELECT counted_at IS NOT NULL FROM lexeme_totals") is True
    said = worker.account.render([])
    assert said.splitlines() == [
        "screen: 1 settled", "embed: 1 settled", "tag: 1 settled", "context: 1 settled",
    ]  # fmt: skip


async def test_once_does_what_its_chores_asked_for_too(
    use: Services, cold_database: Database
) -> None:
    """D7: a vector that is missing is asked for by a chore, and made in the same run."""
    await use.say(TEXT)
    await _run(_once(cold_database, FakeEmbedder()), cold_database)
    await query(cold_database, "DELETE FROM message_vectors_1")
    await query(cold_database, "UPDATE message_results SET version = 0 WHERE stage = 'embed'")
    await _run(_once(cold_database, FakeEmbedder()), cold_database)
    assert await value(cold_database, "SELECT count(*) FROM message_vectors_1") == 1


async def test_once_waits_neither_for_what_failed_nor_for_a_missing_model(
    use: Services, cold_database: Database
) -> None:
    await use.say(TEXT)
    embedder = FakeEmbedder()
    embedder.refuses = lambda text: text == TEXT
    failing = _once(cold_database, embedder)
    assert await _run(failing, cold_database) is Finish.DRAINED
    [left] = await cold_database.run(work.summarise_work)
    assert (left.failed, left.held) == (1, 0)
    assert "embed: 1 put off" in failing.account.render([left])

    await use.say(TEXT)
    embedder.down = True
    assert await _run(_once(cold_database, embedder), cold_database) is Finish.HELD
    [left] = await cold_database.run(work.summarise_work)
    assert (left.pending, left.failed, left.held) == (2, 1, 1)
    assert left.reason == "the model is not installed; install it"


async def test_the_program_says_what_it_did_and_ends_with_0(
    use: Services, pool: Pool, tmp_path: Path
) -> None:
    await use.say(TEXT)
    async with daemon(pool, tmp_path, "--once") as started:
        assert await started.ended() == 0
        assert (await started.printed()).decode().splitlines()[0] == "screen: 1 settled"


async def test_the_program_ends_with_4_when_something_is_parked(
    use: Services, pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """A7, A22: never silent about what it gave up."""
    await use.say(TEXT)
    await query(cold_database, "UPDATE work SET last_error = 'x', parked_reason = 'RuntimeError'")
    async with daemon(pool, tmp_path, "--once") as started:
        assert await started.ended() == WORK_LEFT
        assert b"left: screen: 1 parked; RuntimeError" in await started.printed()


async def test_a_second_daemon_says_who_leads_and_does_nothing(
    use: Services, pool: Pool, cold_database: Database, tmp_path: Path
) -> None:
    """F105: holder, process and since."""
    await use.say(TEXT)
    async with cold_database.acquire() as lock:
        await lock.execute("SELECT pg_advisory_lock($1)", lock_key("agents_memory"))
        await lock.execute(
            "UPDATE leader SET holder = 'desk', pid = 7, since = '2026-11-20 12:00Z'"
        )
        async with daemon(pool, tmp_path, "--once") as started:
            assert await started.ended() == 0
            said = (await started.printed()).decode()
        await lock.execute("SELECT pg_advisory_unlock_all()")
    assert "desk, process 7, since 2026-11-20 12:00:00 UTC" in said
    assert await value(cold_database, "SELECT count(*) FROM work WHERE stage = 'screen'") == 1


async def test_the_work_shows_life_in_its_term_and_no_more_often_than_needed(
    use: Services, cold_database: Database
) -> None:
    assert (await cold_database.run(leadership.find_beat)).beat_at is None
    clock = ManualClock()
    worker = _once(cold_database, FakeEmbedder(), clock)
    await _run(worker, cold_database)
    first = await cold_database.run(leadership.find_beat)
    assert first.beat_at is not None
    assert not first.late
    epoch = (await cold_database.run(leadership.find_leader)).epoch
    await worker.run(epoch)
    assert (await cold_database.run(leadership.find_beat)).beat_at == first.beat_at
    clock.advance(EVERY_S)
    await worker.run(epoch)
    later = (await cold_database.run(leadership.find_beat)).beat_at
    assert later is not None
    assert later > first.beat_at


async def test_a_long_chore_shows_life_too(
    cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cold.beat.EVERY_S", 0.0)
    epoch = await begin_term(cold_database)
    beat = Beat(ManualClock(), 60.0)
    chore = until(
        cold_database,
        lambda c: c.fetchval("SELECT epoch = $1 FROM leader_beat", epoch),
        "the beat is shown",
    )
    assert await first(chore, beat.keep(cold_database, epoch)) is True


async def test_a_promise_that_was_not_kept_is_late(cold_database: Database) -> None:
    await begin_term(cold_database)
    assert not (await cold_database.run(leadership.find_beat)).late
    await query(cold_database, "UPDATE leader SET since = now() - interval '2 hours'")
    assert (await cold_database.run(leadership.find_beat)).late, "not one look in two hours"
    await query(
        cold_database,
        "UPDATE leader_beat SET epoch = (SELECT epoch FROM leader), beat_at = now(), "
        "next_by = now() + interval '1 minute'",
    )
    assert not (await cold_database.run(leadership.find_beat)).late
    await query(cold_database, "UPDATE leader_beat SET next_by = now() - interval '1 minute'")
    assert (await cold_database.run(leadership.find_beat)).late
