"""What a tool asks the daemon for: asked once, done once, waited for, kept as long as logs are."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from agents_memory.domain.errors import DatabaseUnavailable, Deposed, Refusal
from agents_memory.services.erasure import Report
from agents_memory.services.jobs import Asked, Jobs, JobState
from agents_memory.services.receipts import Receipt, Receipts, StageState
from agents_memory.services.redacting import Redacting
from agents_memory.storage import jobs, work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.jobs import Job
from agents_memory.storage.notify import Hints
from cold.fence import fenced
from cold.guard import Done, Guard, ItemFault
from cold.stopping import Stop
from cold.worker import Finish, Pace, Worker
from tests.conftest import Pool
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import LIMIT_S, begin_term, query, running, value

KIND = "digest"


class Echo:
    """A pass that answers with what it was asked; `gate` holds it back, `faults` make it fail."""

    stage = KIND
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.reached = asyncio.Event()
        self.faults: list[Exception] = []
        self.seen: list[Job] = []

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Job]:
        return await jobs.list_unsettled(connection, ids, self.stage)

    async def prepare(self, items: Sequence[Job]) -> list[dict[str, Any]]:
        self.seen += items
        self.reached.set()
        await self.gate.wait()
        if self.faults:
            raise self.faults.pop()
        return [{"echo": item.request} for item in items]

    async def settle(self, connection: Connection, item: Job, result: dict[str, Any]) -> Done:
        await jobs.settle_job(connection, item.id, result)
        return Done()


def worker(
    database: Database,
    echo: Echo,
    *,
    stop: Stop | None = None,
    drain: bool = False,
    max_attempts: int = 3,
) -> Worker:
    return Worker(
        database,
        [echo],
        [],
        guard=Guard(max_attempts),
        pace=Pace(5, 3600.0, drain=drain, once=not drain and stop is None),
        stop=stop or Stop(),
        clock=ManualClock(),
    )


async def work_once(database: Database, echo: Echo, **options: Any) -> Finish:
    async with asyncio.timeout(LIMIT_S):
        return await worker(database, echo, **options).run(await begin_term(database))


@pytest.fixture
async def asking(use: Services) -> AsyncIterator[Jobs]:
    hints = Hints(use.database)
    yield Jobs(use.database, hints)
    await hints.close()


async def test_a_daemon_that_runs_is_woken_and_its_result_waited_for(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    echo, stop = Echo(), Stop()
    # It looks again in an hour, so only a hint wakes it.
    async with running(worker(cold_database, echo, stop=stop), cold_database, stop):
        done = await asking.answer(use.user_id, KIND, {"number": 7}, within_s=LIMIT_S)
    assert (done.state, done.result) == (JobState.DONE, {"echo": {"number": 7}})
    assert [job.id for job in echo.seen] == [done.id]
    assert await value(cold_database, "SELECT count(*) FROM work") == 0


async def test_without_a_daemon_there_is_a_receipt_that_gives_the_result_later(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    asked = await asking.answer(use.user_id, KIND, {"number": 7}, within_s=0)
    assert (asked.state, asked.result) == (JobState.WAITING, None)
    assert asked.reason == "no daemon leads the pool"
    assert asked.fix is not None
    assert "mcp-agents-memory up" in asked.fix
    await work_once(cold_database, Echo())
    later = await asking.wait(use.user_id, KIND, asked.id, within_s=0)
    assert isinstance(later, Asked)
    assert (later.state, later.result) == (JobState.DONE, {"echo": {"number": 7}})


async def test_a_job_that_is_gone_or_anothers_is_refused(
    use: Services, asking: Jobs, owner_database: Database
) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    for user_id, kind, number in (
        (use.user_id + 1, KIND, job_id),
        (use.user_id, "monthly", job_id),
        (use.user_id, KIND, job_id + 1000),
        (use.user_id, KIND, 2**53 - 1),
    ):
        refused = await asking.wait(user_id, kind, number, within_s=0)
        assert isinstance(refused, Refusal)
        assert refused.code == "UNKNOWN_ITEM"


async def test_strings_are_made_storable_and_hold_no_secret(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    """J10: NUL, lone surrogates and keys come to no harm, however deep they stand."""
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    asked = await asking.ask(use.user_id, KIND, {"tags": ["a\0b", "\ud800", key], "n": [1, None]})
    request = await value(cold_database, "SELECT request FROM jobs WHERE id = $1", asked)
    assert request["n"] == [1, None]
    assert request["tags"][:2] == ["a\ufffdb", "\ufffd"]
    assert key not in str(request)


async def test_asking_again_after_a_lost_answer_asks_once(
    use: Services, cold_database: Database
) -> None:
    job_id = await use.database.run(jobs.draw_job)
    for _ in range(2):
        await use.database.run(lambda c: jobs.insert_job(c, job_id, use.user_id, KIND, {}))
    assert await value(cold_database, "SELECT count(*) FROM jobs") == 1
    assert await value(cold_database, "SELECT count(*) FROM work") == 1


async def test_a_failed_job_is_tried_again_then_parked_and_says_why(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    echo = Echo()
    echo.faults = [ItemFault("the text is in no language")]
    await work_once(cold_database, echo, max_attempts=2)
    [row] = await cold_database.run(lambda c: work.list_work(c, 10))
    assert (row.item_id, row.stage, row.state) == (job_id, KIND, "failed")
    await query(cold_database, "UPDATE work SET run_after = now()")
    echo.faults = [ItemFault("the text is in no language")]
    await work_once(cold_database, echo, max_attempts=2)
    # It does not wait for what nobody will do.
    parked = await asking.wait(use.user_id, KIND, job_id, within_s=LIMIT_S)
    assert isinstance(parked, Asked)
    assert (parked.state, parked.reason) == (JobState.PARKED, "the text is in no language")
    assert parked.fix is not None
    assert f"retry {job_id}" in parked.fix
    await cold_database.run(lambda c: work.retry_work(c, item_id=job_id))
    await work_once(cold_database, echo)
    done = await asking.wait(use.user_id, KIND, job_id, within_s=LIMIT_S)
    assert isinstance(done, Asked)
    assert done.state is JobState.DONE


async def test_a_daemon_that_ends_between_taking_and_settling_leaves_it_to_the_next(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    first = Echo()
    first.gate.clear()
    epoch = await begin_term(cold_database)
    task = asyncio.create_task(worker(cold_database, first).run(epoch))
    await asyncio.wait_for(first.reached.wait(), LIMIT_S)
    # As a kill does: nothing is handed back.
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    [row] = await query(cold_database, "SELECT attempts, claimed_epoch FROM work")
    assert (row["attempts"], row["claimed_epoch"]) == (0, epoch)
    second = Echo()
    await work_once(cold_database, second)
    # Nobody knows yet whose fault it was.
    assert [job.attempts for job in second.seen] == [1]
    assert await value(cold_database, "SELECT count(*) FROM jobs WHERE settled_at IS NOT NULL") == 1
    await work_once(cold_database, second)
    assert [job.id for job in second.seen] == [job_id]


async def test_a_deposed_leader_settles_nothing(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    echo = Echo()
    echo.gate.clear()
    deposed = asyncio.create_task(worker(cold_database, echo).run(await begin_term(cold_database)))
    await asyncio.wait_for(echo.reached.wait(), LIMIT_S)
    await begin_term(cold_database)
    echo.gate.set()
    with pytest.raises(Deposed):
        await asyncio.wait_for(deposed, LIMIT_S)
    asked = await asking.wait(use.user_id, KIND, job_id, within_s=0)
    assert isinstance(asked, Asked)
    assert asked.result is None


async def test_what_is_done_is_done_once(
    use: Services, asking: Jobs, cold_database: Database
) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    async with fenced(cold_database, await begin_term(cold_database)) as connection:
        assert await jobs.settle_job(connection, job_id, {"by": 1})
        assert not await jobs.settle_job(connection, job_id, {"by": 2})
        assert await jobs.list_unsettled(connection, [job_id], KIND) == []
    assert await value(cold_database, "SELECT result FROM jobs") == {"by": 1}


async def test_a_job_has_a_receipt(use: Services, asking: Jobs, cold_database: Database) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    receipts = Receipts(use.database)
    before = await receipts.receipt(job_id)
    assert isinstance(before, Receipt)
    assert (before.kind, before.complete) == ("job", False)
    await work_once(cold_database, Echo())
    after = await receipts.receipt(job_id)
    assert isinstance(after, Receipt)
    assert [(one.stage, one.state) for one in after.stages] == [(KIND, StageState.SETTLED)]


async def test_a_database_that_goes_away_meanwhile_is_a_reason_to_wait(
    use: Services, asking: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: Any, **__: Any) -> Asked:
        raise DatabaseUnavailable("it is gone; try again")

    monkeypatch.setattr(asking, "wait", lost)
    asked = await asking.answer(use.user_id, KIND, {})
    assert (asked.state, asked.reason) == (JobState.WAITING, "it is gone; try again")


async def test_what_the_owner_erases_is_erased_in_jobs_too(
    use: Services, asking: Jobs, cold_database: Database, owner_database: Database
) -> None:
    """F92: in what was asked, in what came of it, and in what is asked from then on."""
    request = {"tags": ["Operation Heron", "tide"], "number": 7}
    job_id = await asking.ask(use.user_id, KIND, request)
    await work_once(cold_database, Echo())
    done = await Redacting(owner_database).erase_words("operation heron", run=True)
    assert isinstance(done, Report)
    assert {"jobs.request": 1, "jobs.result": 1}.items() <= done.changed.items()
    struck = {"tags": ["[redacted]", "tide"], "number": 7}
    row = await query(cold_database, "SELECT request, result FROM jobs WHERE id = $1", job_id)
    assert row == [{"request": struck, "result": {"echo": struck}}]
    fresh = Jobs(use.database, use.hints)
    later = await fresh.ask(use.user_id, KIND, request)
    assert await value(cold_database, "SELECT request FROM jobs WHERE id = $1", later) == struck


async def test_a_wait_can_be_given_up(use: Services, asking: Jobs, pool: Pool) -> None:
    job_id = await asking.ask(use.user_id, KIND, {})
    waiting = asyncio.create_task(asking.wait(use.user_id, KIND, job_id, within_s=3600))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
