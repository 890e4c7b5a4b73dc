"""What goes wrong stays with the item, the stage or the term it belongs to."""

import asyncio
from typing import Any

import pytest

from agents_memory.domain.errors import DatabaseUnavailable, Deposed
from agents_memory.domain.messages import Screening
from agents_memory.embedding.profiles import HASHING, Profile
from agents_memory.services.status import report
from agents_memory.storage import leadership, messages, vectors, work
from agents_memory.storage.connections import Database
from cold.fence import fenced
from cold.guard import Hung
from cold.worker import Finish
from tests.conftest import Pool
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import (
    FakeEmbedder,
    PacedStop,
    begin_term,
    drain,
    query,
    running,
    until,
    value,
    worker,
)

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(7)]
POISON = "The poisoned heron stood there."


async def _rows(database: Database, stage: str) -> list[dict[str, Any]]:
    return await query(
        database,
        "SELECT item_id, attempts, claimed_epoch, last_error, parked_reason, run_after > now() AS "
        "later FROM work WHERE stage = $1 ORDER BY item_id",
        stage,
    )


async def _make_due(database: Database) -> None:
    await query(database, "UPDATE work SET run_after = now()")


async def _embedded(database: Database) -> set[int]:
    model = await database.run(vectors.find_active_model)
    assert model is not None
    rows = await query(database, f"SELECT DISTINCT message_id FROM {model.message_table}")
    return {row["message_id"] for row in rows}


async def test_a_poisoned_item_is_parked_while_the_others_proceed(
    use: Services, cold_database: Database
) -> None:
    """A1, A7, E6, E16: a batch that fails is tried one by one; the bad one ends with a reason."""
    ids = [(await use.say(text)).id for text in [*TURNS[:2], POISON, *TURNS[2:4]]]
    bad = ids[2]
    embedder, stop = FakeEmbedder(), PacedStop()
    embedder.refuses = lambda text: "poisoned" in text
    async with running(
        worker(cold_database, embedder, stop=stop, max_attempts=3), cold_database, stop
    ):
        for attempt in (1, 2):
            await stop.resting.wait()
            assert await _embedded(cold_database) == set(ids) - {bad}
            [row] = await _rows(cold_database, "embed")
            assert (row["item_id"], row["attempts"], row["later"]) == (bad, attempt, True)
            assert row["last_error"] == "the embedder has no vector for this text, but for others"
            await _make_due(cold_database)
            stop.let_time_pass()
        await until(
            cold_database,
            lambda c: c.fetchval("SELECT count(*) FROM work WHERE parked_reason IS NOT NULL"),
            "the item is parked",
        )
        said = await use.say(TURNS[5])
        stop.let_time_pass()
        await until(
            cold_database,
            lambda c: c.fetchval(
                "SELECT count(*) FROM message_results WHERE message_id = $1 AND stage = 'tag'",
                said.id,
            ),
            "later messages are worked on",
        )
    [row] = await _rows(cold_database, "embed")
    assert (row["item_id"], row["attempts"]) == (bad, 3)
    assert row["parked_reason"] == "the embedder has no vector for this text, but for others"


async def test_pending_failed_and_parked_are_told_apart(
    use: Services, cold_database: Database
) -> None:
    """E7, E12, A22: what waits, what failed, what is given up, and how old the oldest is."""
    await use.say(POISON)
    embedder = FakeEmbedder()
    embedder.refuses = lambda text: "poisoned" in text
    stop = PacedStop()
    async with running(
        worker(cold_database, embedder, stop=stop, max_attempts=2), cold_database, stop
    ):
        await stop.resting.wait()
        await query(cold_database, "UPDATE work SET queued_at = now() - interval '2 hours'")
        [failed] = await cold_database.run(work.summarise_work)
        assert (failed.pending, failed.failed, failed.parked) == (1, 1, 0)
        assert failed.oldest_age_s >= 7200
        assert failed.reason is not None
        await _make_due(cold_database)
        stop.let_time_pass()
        await until(
            cold_database,
            lambda c: c.fetchval("SELECT count(*) FROM work WHERE parked_reason IS NOT NULL"),
            "the item is parked",
        )
    [parked] = await cold_database.run(work.summarise_work)
    assert (parked.pending, parked.failed, parked.parked) == (0, 0, 1)
    assert parked.oldest_age_s == 0
    shown = await report(cold_database, None, described="here")
    assert shown.waiting == 0
    assert any("parked" in reason for reason in shown.values["degraded"])


async def test_an_embedder_that_is_down_holds_its_stage_and_blames_nobody(
    use: Services, cold_database: Database
) -> None:
    """D19, E6: nothing is parked however long it takes; the reason can be read; then it goes on."""
    ids = [(await use.say(text)).id for text in TURNS]
    embedder, stop, clock = FakeEmbedder(), PacedStop(), ManualClock()
    embedder.down = True
    daemon = worker(cold_database, embedder, stop=stop, clock=clock, max_attempts=2)
    async with running(daemon, cold_database, stop):
        for _ in range(6):
            await stop.resting.wait()
            rows = await _rows(cold_database, "embed")
            assert [row["item_id"] for row in rows] == ids
            assert {row["attempts"] for row in rows} == {0}
            assert {row["claimed_epoch"] for row in rows} == {None}
            assert not any(row["parked_reason"] or row["later"] for row in rows)
            assert "the model is not installed; install it" in {row["last_error"] for row in rows}
            clock.advance(300)
            stop.let_time_pass()
        embedder.down = False
        await stop.resting.wait()
        clock.advance(300)
        stop.let_time_pass()
        await until(cold_database, lambda c: c.fetchval("SELECT count(*) = 0 FROM work"), "done")
    assert await _embedded(cold_database) == set(ids)
    screened = await value(
        cold_database, "SELECT count(*) FROM message_state WHERE screening = 'clear'"
    )
    assert screened == len(ids)


async def test_a_model_that_is_not_the_pools_holds_the_stage_and_says_what_to_set(
    use: Services, cold_database: Database
) -> None:
    await use.say(TURNS[0])
    other = Profile(**{f: getattr(HASHING, f) for f in HASHING.__slots__} | {"id": "other:1"})
    embedder, clock, stop = FakeEmbedder(other), ManualClock(), PacedStop()
    async with running(
        worker(cold_database, embedder, stop=stop, clock=clock), cold_database, stop
    ):
        await stop.resting.wait()
        [row] = await _rows(cold_database, "embed")
    assert row["attempts"] == 0
    assert f"EMBEDDING_MODEL={HASHING.id}" in row["last_error"]
    assert "embedding use other:1" in row["last_error"]
    assert embedder.asked == []


async def test_a_drain_says_when_a_stage_cannot_be_emptied(
    use: Services, cold_database: Database
) -> None:
    await use.say(TURNS[0])
    embedder, stop, clock = FakeEmbedder(), PacedStop(), ManualClock()
    embedder.down = True
    daemon = worker(cold_database, embedder, stop=stop, clock=clock, drain=True)
    task = asyncio.create_task(daemon.run(await begin_term(cold_database)))
    for _ in range(2):
        await stop.resting.wait()
        clock.advance(300)
        stop.let_time_pass()
    assert await task is Finish.HELD
    [row] = await _rows(cold_database, "embed")
    assert (row["attempts"], row["claimed_epoch"]) == (0, None)


async def test_vectors_that_are_missing_from_an_answer_are_noticed(
    use: Services, cold_database: Database
) -> None:
    """A1: what comes back short is no success."""
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    embedder = FakeEmbedder()
    embedder.loses_one = lambda texts: list(texts) == TURNS[:3]
    assert await drain(cold_database, embedder) is Finish.DRAINED
    assert await _embedded(cold_database) == set(ids)


async def test_an_item_that_ends_the_process_each_time_is_parked_untried(
    use: Services, cold_database: Database
) -> None:
    """E6: whoever was worked on alone each time, and none of the batch that it was first in."""
    ids = [(await use.say(text)).id for text in TURNS[:5]]
    bad, claimed = ids[1], [await _claims_and_dies(cold_database)]
    for _ in range(3):
        # A daemon that can do all the others, and dies over this one.
        epoch = await begin_term(cold_database)
        assert await _lost(cold_database, epoch) == []
        await _make_due(cold_database)
        taken: list[int] = []
        while bad not in taken:
            async with fenced(cold_database, epoch) as connection:
                claims = await work.claim_work(connection, "screen", 5, epoch)
                taken = [claim.item_id for claim in claims]
                if bad not in taken:
                    await messages.settle_screening(connection, taken[0], Screening.CLEAR)
                    await work.settle_work(
                        connection, "screen", taken, proceeding=taken, next_stages=["embed"]
                    )
            assert len(taken) == 1
            claimed.append(taken)
    assert claimed[0] == ids
    # Once in the batch, then alone: first by its turn, later behind whoever was tried less.
    assert claimed[1:] == [[ids[0]], [bad], [ids[2]], [ids[3]], [ids[4]], [bad], [bad]]
    row = await _row(cold_database, "screen", bad)
    assert (row["attempts"], row["last_error"]) == (2, work.ENDED)
    assert await drain(cold_database, FakeEmbedder(), max_attempts=3) is Finish.DRAINED
    [row] = await _rows(cold_database, "screen")
    assert (row["item_id"], row["attempts"]) == (bad, 3)
    assert row["parked_reason"] == "the daemon ended while it worked on this alone"
    assert await _embedded(cold_database) == {*ids} - {bad}


async def test_a_daemon_that_is_killed_again_and_again_costs_nobody_an_attempt(
    use: Services, cold_database: Database
) -> None:
    """E6: a batch of which nothing was settled is done all the same, each row by itself."""
    ids = [(await use.say(text)).id for text in TURNS]
    for _ in range(6):
        await _claims_and_dies(cold_database)
        await _make_due(cold_database)
    await _lost(cold_database, await begin_term(cold_database))
    assert max(row["attempts"] for row in await _rows(cold_database, "screen")) == 1
    await _make_due(cold_database)
    assert await drain(cold_database, FakeEmbedder(), max_attempts=3) is Finish.DRAINED
    assert await _embedded(cold_database) == set(ids)
    assert await _rows(cold_database, "screen") == []


async def test_fresh_rows_wait_for_one_that_is_due_alone_and_not_for_one_put_off(
    use: Services, cold_database: Database
) -> None:
    suspect = (await use.say(TURNS[0])).id
    await _claims_and_dies(cold_database)
    fresh = (await use.say(TURNS[1])).id
    epoch = await begin_term(cold_database)
    await _lost(cold_database, epoch)
    async with fenced(cold_database, epoch) as connection:
        assert await work.claim_work(connection, "screen", 5, epoch, beside=True) == []
        [first] = await work.claim_work(connection, "screen", 5, epoch)
        [second] = await work.claim_work(connection, "screen", 5, epoch, beside=True)
    assert (first, second) == (work.Claim(suspect, 1, alone=True), work.Claim(fresh, 1))
    await _lost(cold_database, await begin_term(cold_database))
    row = await _row(cold_database, "screen", suspect)
    assert (row["attempts"], row["later"]) == (1, True)


async def _claims_and_dies(database: Database) -> list[int]:
    epoch = await begin_term(database)
    await _lost(database, epoch)
    async with fenced(database, epoch) as connection:
        return [claim.item_id for claim in await work.claim_work(connection, "screen", 5, epoch)]


async def _lost(database: Database, epoch: int) -> list[tuple[int, str]]:
    async with fenced(database, epoch) as connection:
        return await work.suspect_lost(connection, epoch, ["screen"], 3)


async def _row(database: Database, stage: str, item_id: int) -> dict[str, Any]:
    [row] = [row for row in await _rows(database, stage) if row["item_id"] == item_id]
    return row


async def test_work_that_hangs_ends_the_daemon_and_is_taken_alone_by_the_next(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E16: a hung thread goes only with its process, and the lead must not hang with it."""
    monkeypatch.setattr("cold.attempt.HUNG_S", 0.5)
    await use.say(TURNS[0])
    embedder = FakeEmbedder()
    embedder.gate.clear()
    with pytest.raises(Hung, match="start the daemon again"):
        await drain(cold_database, embedder)
    epoch = await begin_term(cold_database)
    async with fenced(cold_database, epoch) as connection:
        await work.suspect_lost(connection, epoch, ["embed"], 3)
        [claim] = await work.claim_work(connection, "embed", 5, epoch)
    assert claim.alone


async def test_rows_of_a_dead_term_are_taken_at_once(
    use: Services, cold_database: Database
) -> None:
    """B16: no lease has to run out first; the epoch says whose claim it was."""
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    dead = await begin_term(cold_database)
    async with fenced(cold_database, dead) as connection:
        claimed = await work.claim_work(connection, "screen", 10, dead)
        again = await work.claim_work(connection, "screen", 10, dead)
    assert [claim.item_id for claim in claimed] == ids
    assert again == []
    epoch = await begin_term(cold_database)
    async with fenced(cold_database, epoch) as connection:
        taken = await work.claim_work(connection, "screen", 10, epoch)
    assert [(claim.item_id, claim.attempts) for claim in taken] == [(item, 1) for item in ids]


async def test_a_deposed_daemon_writes_nothing(use: Services, cold_database: Database) -> None:
    """F105, B16: the work of a lost term is dropped at the moment it would be written."""
    await use.say(TURNS[0])
    embedder = FakeEmbedder()
    embedder.gate.clear()
    task = asyncio.create_task(worker(cold_database, embedder).run(await begin_term(cold_database)))
    await embedder.reached.wait()
    successor = await begin_term(cold_database)
    embedder.gate.set()
    with pytest.raises(Deposed):
        await task
    assert await _embedded(cold_database) == set()
    assert (
        await value(cold_database, "SELECT count(*) FROM message_results WHERE stage = 'embed'")
        == 0
    )
    async with fenced(cold_database, successor) as connection:
        [claim] = await work.claim_work(connection, "embed", 5, successor)
    assert claim.attempts == 1


async def test_a_deposed_daemon_takes_no_work_and_finds_out_by_the_look(
    use: Services, cold_database: Database
) -> None:
    """F105: claims and looks are fenced in themselves."""
    await use.say(TURNS[0])
    deposed = await begin_term(cold_database)
    await begin_term(cold_database)
    before = await _rows(cold_database, "screen")
    async with cold_database.acquire() as connection:
        with pytest.raises(Deposed):
            await work.list_due_stages(connection, ["screen"], deposed)
        with pytest.raises(Deposed):
            await work.claim_work(connection, "screen", 5, deposed)
    assert await _rows(cold_database, "screen") == before


async def test_a_term_cannot_begin_in_the_middle_of_a_fenced_write(
    use: Services, cold_database: Database
) -> None:
    """F105: a successor waits for the write that is under way, and sees it whole."""
    item = (await use.say(TURNS[0])).id
    epoch = await begin_term(cold_database)
    async with fenced(cold_database, epoch) as connection:
        limit = await connection.fetchval("SHOW idle_in_transaction_session_timeout")
        await messages.settle_screening(connection, item, Screening.CLEAR)
        taking = asyncio.create_task(begin_term(cold_database))
        await until(
            cold_database,
            lambda c: c.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND query LIKE '-- take_lead%' AND datname = current_database()"
            ),
            "the successor waits for the lock of the row",
        )
        assert not taking.done()
    assert await taking == epoch + 1
    # A holder that freezes here gives way.
    assert limit == "10s"
    with pytest.raises(Deposed):
        async with fenced(cold_database, epoch):
            raise AssertionError("a deposed term got into its transaction")
    assert (await cold_database.run(leadership.find_leader)).epoch == epoch + 1


async def test_a_lost_database_gives_the_attempt_back(
    use: Services, cold_database: Database, owner_database: Database, pool: Pool
) -> None:
    """E6: only a failure of the item's own counts."""
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    embedder, stop = FakeEmbedder(), PacedStop()
    embedder.gate.clear()
    async with running(worker(cold_database, embedder, stop=stop), cold_database, stop):
        await embedder.reached.wait()
        other = pool.database("memory_cold")
        await query(
            other,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE usename = current_user AND datname = current_database() "
            "AND pid <> pg_backend_pid()",
        )
        await other.close()
        embedder.gate.set()
        await stop.resting.wait()
        handed_back = await _rows(owner_database, "embed")
        stop.let_time_pass()
        await until(
            owner_database, lambda c: c.fetchval("SELECT count(*) = 0 FROM work"), "all is done"
        )
    assert all(row["attempts"] == 0 and row["parked_reason"] is None for row in handed_back)
    assert await _embedded(owner_database) == set(ids)


async def test_a_stop_hands_back_what_was_claimed_and_not_done(
    use: Services, cold_database: Database
) -> None:
    """E9: the stop cuts the work short, and no attempt is lost."""
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    embedder, stop = FakeEmbedder(), PacedStop()
    embedder.gate.clear()
    async with running(worker(cold_database, embedder, stop=stop), cold_database, stop):
        await embedder.reached.wait()
    rows = await _rows(cold_database, "embed")
    assert [row["item_id"] for row in rows] == ids
    assert {(row["attempts"], row["claimed_epoch"]) for row in rows} == {(0, None)}


@pytest.mark.parametrize("fault", [RuntimeError("no"), DatabaseUnavailable("no right to do so")])
async def test_a_chore_that_fails_stops_nothing(
    use: Services, cold_database: Database, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    async def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr("cold.passes.lexeme_statistics.LexemeStatistics.run", broken)
    item = (await use.say(TURNS[0])).id
    assert await drain(cold_database, FakeEmbedder()) is Finish.DRAINED
    assert await _embedded(cold_database) == {item}


async def test_a_right_that_is_missing_holds_one_stage_and_no_other(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """E16: whatever is wrong with one stage, the others go on and nothing is given up."""
    ids = [(await use.say(text)).id for text in TURNS[:3]]
    model = await cold_database.run(vectors.find_active_model)
    assert model is not None
    await query(owner_database, f"REVOKE INSERT ON {model.message_table} FROM memory_cold")
    stop, clock = PacedStop(), ManualClock()
    async with running(
        worker(cold_database, FakeEmbedder(), stop=stop, clock=clock), cold_database, stop
    ):
        await stop.resting.wait()
        rows = await _rows(cold_database, "embed")
        assert [row["item_id"] for row in rows] == ids
        assert {(row["attempts"], row["parked_reason"]) for row in rows} == {(0, None)}
        assert any("42501" in (row["last_error"] or "") for row in rows)
        assert await value(cold_database, "SELECT count(*) FROM work WHERE stage = 'screen'") == 0
        await query(owner_database, f"GRANT INSERT ON {model.message_table} TO memory_cold")
        clock.advance(300)
        stop.let_time_pass()
        await until(cold_database, lambda c: c.fetchval("SELECT count(*) = 0 FROM work"), "done")
    assert await _embedded(cold_database) == set(ids)
