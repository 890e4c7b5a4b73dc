"""A language model that hangs keeps nothing waiting that can do without it (F71)."""

import asyncio
from datetime import timedelta

import pytest

from agents_memory.domain.errors import Deposed
from agents_memory.storage.connections import Database
from cold.llm.port import Why
from cold.stopping import Stop
from cold.worker import Finish
from tests.factories import Services
from tests.fakes import ManualClock
from tests.fixtures.language_model import BACKEND, ScriptedModel, failing, filed
from tests.integration.cold_daemons import (
    LIMIT_S,
    FakeEmbedder,
    PacedStop,
    begin_term,
    query,
    running,
    until,
    value,
    worker,
)

TURNS = [f"The heron number {number} stood in the shallow water." for number in range(12)]
EMBEDDED = "SELECT count(*) = $1 FROM message_results WHERE stage = 'embed'"
TAGGED = "SELECT count(*) = $1 FROM message_results WHERE stage = 'tag' AND backend = $2"
CLAIMED = "SELECT item_id, attempts FROM work WHERE claimed_epoch IS NOT NULL ORDER BY 1"


def _hanging() -> ScriptedModel:
    model = ScriptedModel(tagger=lambda _: filed(topics=["heron"]))
    model.gate.clear()
    return model


async def _embedded(database: Database, number: int) -> None:
    await until(database, lambda c: c.fetchval(EMBEDDED, number), f"{number} are embedded")


async def test_while_a_model_hangs_new_messages_are_screened_and_embedded(
    use: Services, cold_database: Database
) -> None:
    """More than a batch of them, and also those that come meanwhile; then the model goes on."""
    model, stop = _hanging(), Stop()
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model)
    for text in TURNS[:6]:
        await use.say(text)
    async with running(work, cold_database, stop):
        await model.reached.wait()
        await _embedded(cold_database, 6)
        for text in TURNS[6:]:
            await use.say(text)
        await _embedded(cold_database, len(TURNS))
        assert await value(cold_database, TAGGED, 0, BACKEND) is True
        model.gate.set()
        await until(
            cold_database, lambda c: c.fetchval(TAGGED, len(TURNS), BACKEND), "all are tagged"
        )
        # The stage after it belongs to the other loop.
        await until(
            cold_database, lambda c: c.fetchval("SELECT count(*) = 0 FROM work"), "all is done"
        )


async def test_a_stop_ends_a_hanging_call_and_hands_its_rows_back_untried(
    use: Services, cold_database: Database
) -> None:
    model, stop = _hanging(), Stop()
    await use.say(TURNS[0])
    async with running(
        worker(cold_database, FakeEmbedder(), stop=stop, models=model), cold_database, stop
    ):
        await model.reached.wait()
    rows = await query(cold_database, "SELECT stage, attempts, claimed_epoch FROM work")
    assert rows == [{"stage": "tag", "attempts": 0, "claimed_epoch": None}]


async def test_a_deposed_term_ends_with_the_call_that_hangs(
    use: Services, cold_database: Database
) -> None:
    """C5: one loop finds out, both end, and what was asked is left to the next term."""
    model, stop = _hanging(), PacedStop()
    await use.say(TURNS[0])
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model)
    task = asyncio.create_task(work.run(await begin_term(cold_database)))
    await model.reached.wait()
    await stop.resting.wait()
    await begin_term(cold_database)
    await use.say(TURNS[1])
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(Deposed):
            await task
    assert await value(cold_database, TAGGED, 0, BACKEND) is True


async def test_one_loop_that_tidies_up_hands_back_nothing_of_the_other(
    use: Services, cold_database: Database
) -> None:
    """A7: what the model is asked about stays claimed when the other loop lost its connection."""
    model, stop = _hanging(), PacedStop()
    await use.say(TURNS[0])
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model)
    async with running(work, cold_database, stop) as epoch:
        await model.reached.wait()
        before = await query(cold_database, CLAIMED)
        assert len(before) == 1
        await work._rounds[0].hand_back(epoch)
        assert await query(cold_database, CLAIMED) == before
        await work._rounds[-1].hand_back(epoch)
        assert await query(cold_database, CLAIMED) == []


async def test_a_run_that_ends_does_what_needs_no_model_first(
    use: Services, cold_database: Database
) -> None:
    """F105: `--once` and `--drain` come to an end with everything done."""
    for text in TURNS:
        await use.say(text)
    model = _hanging()
    work = worker(cold_database, FakeEmbedder(), models=model, drain=True)
    task = asyncio.create_task(work.run(await begin_term(cold_database)))
    await model.reached.wait()
    assert await value(cold_database, EMBEDDED, len(TURNS)) is True
    model.gate.set()
    async with asyncio.timeout(LIMIT_S):
        assert await task is Finish.DRAINED
    assert await value(cold_database, TAGGED, len(TURNS), BACKEND) is True
    assert await value(cold_database, "SELECT count(*) FROM work") == 0


async def test_a_stage_rests_no_longer_than_its_model_is_left_alone(
    use: Services, cold_database: Database
) -> None:
    """F88: what is said to be over by a time is looked at then."""
    await use.say(TURNS[0])
    clock = ManualClock()
    held = failing(Why.ON_HOLD, clock.now() + timedelta(seconds=1))
    model = ScriptedModel(tagger=lambda _: held)
    work = worker(cold_database, FakeEmbedder(), models=model, clock=clock)
    epoch = await begin_term(cold_database)
    await work._empty(epoch)
    assert await work._rounds[-1].ready_in(epoch, 60.0) == 1.0
