"""Each way to stand still, really brought about: what turns red, what it says, and what ends it."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agents_memory.clock import Clock
from agents_memory.domain.errors import Refusal
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.diagnosis import Diagnosis
from agents_memory.services.diagnosis.check import Check, Outcome
from agents_memory.services.retrying import Retried, retry
from agents_memory.services.status import report
from agents_memory.settings import Settings
from agents_memory.storage import work
from agents_memory.storage.connections import Database
from agents_memory.storage.leadership import lock_key
from agents_memory.storage.work import State
from cold.composition import compose
from cold.llm.opening import open_models
from cold.llm.port import LanguageModel
from cold.stopping import Stop
from cold.worker import Finish, Pace
from tests.conftest import SCHEMA, Pool
from tests.factories import Services
from tests.fakes import ManualClock
from tests.fixtures.completions import completion, in_turn
from tests.fixtures.endpoint import scripted_endpoint
from tests.fixtures.language_model import filed
from tests.integration.cold_daemons import FakeEmbedder, begin_term, query

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(4)]
POISON = "This one is poisoned."


@dataclass
class Ward:
    """A pool that looks led, and what a person sees of it."""

    pool: Pool
    cold: Database
    hot: Database
    home: Path

    async def alarms(self, overdue_s: float = 900.0) -> dict[str, str]:
        """What `status` is red for."""
        found = await report(self.hot, None, described="here", overdue_s=overdue_s)
        return {alarm["name"]: alarm["message"] for alarm in found.values["alarms"]}

    async def checks(self, embedder: Embedder | None = None) -> dict[str, Check]:
        """What `doctor` finds."""
        settings = Settings.load({"DATABASE_URL": self.pool.url("memory_hot")}, home=self.home)
        examined = await Diagnosis(settings, embedder or FakeEmbedder()).examine(lambda _: None)
        return {check.name: check for check in examined}

    async def work(
        self,
        embedder: Embedder | None = None,
        *,
        max_attempts: int = 5,
        models: LanguageModel | None = None,
        clock: Clock | None = None,
    ) -> Finish:
        """All that is due now, by a daemon that just started."""
        daemon = compose(
            self.cold,
            [embedder or FakeEmbedder()],
            Stop(),
            clock or ManualClock(),
            pace=Pace(5, 60.0, once=True),
            max_attempts=max_attempts,
            models=models,
        )
        return await daemon.run(await begin_term(self.cold))

    async def let_pass(self, interval: str) -> None:
        """As if the queue were looked at so much later."""
        await query(
            self.cold,
            "UPDATE work SET run_after = run_after - $1::text::interval, "
            "queued_at = queued_at - $1::text::interval RETURNING 1",
            interval,
        )


@asynccontextmanager
async def led(database: Database) -> AsyncIterator[None]:
    """The lock of the leader is held beside the block."""
    async with database.acquire() as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", lock_key(SCHEMA))
        try:
            yield
        finally:
            await connection.execute("SELECT pg_advisory_unlock_all()")


@pytest.fixture
async def ward(
    pool: Pool, cold_database: Database, hot_database: Database, tmp_path: Path
) -> AsyncIterator[Ward]:
    async with led(cold_database):
        yield Ward(pool, cold_database, hot_database, tmp_path)


async def test_a_dead_embedder_turns_status_and_doctor_red_until_it_is_back(
    use: Services, ward: Ward
) -> None:
    """D4, D19, E12: with its reason; nothing is blamed on the messages."""
    for text in TURNS:
        await use.say(text)
    embedder = FakeEmbedder()
    embedder.down = True
    assert await ward.work(embedder) is Finish.HELD
    assert await ward.alarms() == {}, "a short rest is everyday"
    await ward.let_pass("2 minutes")
    alarms = await ward.alarms()
    assert set(alarms) == {"stage_held"}
    assert "cannot work on embed: the model is not installed; install it" in alarms["stage_held"]
    assert f"{len(TURNS)} rows wait" in alarms["stage_held"]
    checks = await ward.checks(embedder)
    for name in ("queue", "embedding"):
        assert checks[name].outcome is Outcome.FAILED
        assert "the model is not installed; install it" in checks[name].detail
    embedder.down = False
    assert await ward.work(embedder) is Finish.DRAINED
    assert await ward.alarms() == {}
    checks = await ward.checks(embedder)
    assert {checks[name].outcome for name in ("queue", "embedding")} == {Outcome.OK}


async def test_a_queue_that_grows_turns_both_red_although_the_daemon_works(
    use: Services, ward: Ward
) -> None:
    """E12: health includes how long work has been due, by the limit that was set."""
    await use.say(TURNS[0])
    await ward.work()
    for text in TURNS[1:]:
        await use.say(text)
    await ward.let_pass("10 minutes")
    assert await ward.alarms() == {}
    assert (await ward.checks())["queue"].outcome is Outcome.OK
    assert set(await ward.alarms(overdue_s=300)) == {"queue_overdue"}
    for text in TURNS:
        await use.say(text + " Again.")
    await ward.let_pass("10 minutes")
    alarms = await ward.alarms()
    assert set(alarms) == {"queue_overdue"}
    assert alarms["queue_overdue"].startswith("7 rows wait for screen, one has been due for 20 min")
    check = (await ward.checks())["queue"]
    assert (check.outcome, "7 rows wait for screen" in check.detail) == (Outcome.FAILED, True)
    await ward.work()
    assert await ward.alarms() == {}


async def test_a_row_that_was_really_parked_is_shown_with_its_reason_until_retry_frees_it(
    use: Services, ward: Ward
) -> None:
    """A7, E7: from the failure to the cure, without a hand in the database."""
    bad = (await use.say(POISON)).id
    good = (await use.say(TURNS[0])).id
    embedder = FakeEmbedder()
    embedder.refuses = lambda text: "poisoned" in text
    await ward.work(embedder, max_attempts=1)
    reason = "the embedder has no vector for this text, but for others"
    [row] = await ward.hot.run(lambda c: work.list_work(c, 10))
    assert (row.item_id, row.stage, row.state, row.reason) == (bad, "embed", State.PARKED, reason)
    assert set(await ward.alarms()) == {"parked"}
    check = (await ward.checks())["queue"]
    assert check.outcome is Outcome.FAILED
    assert f"{bad} (embed): {reason}" in check.detail
    await ward.work()
    assert set(await ward.alarms()) == {"parked"}, "it is not tried again by itself"
    assert isinstance(await retry(ward.cold, item_id=good), Refusal)
    assert await retry(ward.cold, item_id=bad) == Retried(Counter(embed=1))
    await ward.work()
    assert await ward.hot.run(lambda c: work.list_work(c, 10)) == []
    assert await ward.alarms() == {}
    assert (await ward.checks())["queue"].outcome is Outcome.OK


@pytest.mark.parametrize(
    ("ceiling", "waits"),
    [
        ({"LOCAL_LLM_REQUESTS_PER_DAY": "1"}, timedelta(hours=12)),
        ({"LOCAL_LLM_TOKENS_PER_DAY": "2000"}, timedelta(hours=12)),
        ({"LOCAL_LLM_REQUESTS_PER_HOUR": "1"}, timedelta(hours=1)),
        ({"LOCAL_LLM_TOKENS_PER_HOUR": "2000"}, timedelta(hours=1)),
    ],
)
async def test_at_a_ceiling_messages_wait_untried_and_it_is_said_why_and_until_when(
    use: Services, ward: Ward, ceiling: dict[str, str], waits: timedelta
) -> None:
    """F110, G2: of requests and tokens, by hour and by day; then the work goes on by itself."""
    for text in TURNS[:2]:
        await use.say(text)
    [(name, most)] = ceiling.items()
    spent = {"prompt_tokens": 1900, "completion_tokens": 60}
    answers = in_turn(then=completion(json.dumps(filed()), usage=spent))
    clock = ManualClock()
    until = clock.now() + waits
    async with scripted_endpoint(answers) as server:
        told = {"LOCAL_LLM_BASE_URL": server.url, "LOCAL_LLM_DIALECT": "generic", **ceiling}
        models = open_models(Settings.load(told, home=ward.home), ward.cold, clock)
        try:
            finish = await ward.work(models=models, clock=clock)
            assert finish is Finish.HELD
            rows = await ward.hot.run(lambda c: work.list_work(c, 10))
            assert [(row.stage, row.state, row.attempts) for row in rows] == [
                ("tag", State.WAITING, 0)
            ]
            await ward.let_pass("2 minutes")
            [message] = (await ward.alarms()).values()
            for words in (f"the ceiling of {most} ", name, f"until {until:%Y-%m-%d %H:%M} UTC"):
                assert words in message
                assert words in (await ward.checks())["queue"].detail
            clock.advance(waits.total_seconds())
            await ward.work(models=models, clock=clock)
        finally:
            await models.close()
    assert await ward.hot.run(lambda c: work.list_work(c, 10)) == []
    assert await ward.alarms() == {}
