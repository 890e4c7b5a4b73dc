"""Messages that a model is asked about side by side: no lane waits for another, or for a write."""

import asyncio
from collections.abc import Iterator, Sequence

from agents_memory.storage.connections import Database
from cold.llm.port import Answer, Answered, Failure, Provider, Role, Turn, Why
from cold.stopping import Stop
from tests.factories import Services
from tests.fixtures.language_model import BACKEND, MODEL, Reply, ScriptedModel, failing, filed
from tests.integration.cold_daemons import FakeEmbedder, query, running, until, value, worker

SLOW = "The heron stood in the shallow water for a long time."
QUICK = [f"The heron number {number} flew away." for number in range(8)]
TAGGED = "SELECT count(*) = $1 FROM message_results WHERE stage = 'tag' AND backend = $2"
WITH_CONTEXT = "SELECT count(*) = $1 FROM message_results WHERE stage = 'context'"


class Uneven(ScriptedModel):
    """Answers at once, but about SLOW only when `let_go` is set."""

    def __init__(self) -> None:
        super().__init__(tagger=lambda _: filed(topics=["heron"]))
        self.let_go = asyncio.Event()
        self.now = self.most = 0

    async def complete(
        self, role: Role, messages: Sequence[Turn], schema: type[Answer]
    ) -> Answered[Answer] | Failure:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            if any(turn.source and turn.text == SLOW for turn in messages):
                self.asked.append(messages)
                self.reached.set()
                await self.let_go.wait()
                return Answered(schema.model_validate(filed()), Provider.LOCAL, MODEL)
            await asyncio.sleep(0)
            return await super().complete(role, messages, schema)
        finally:
            self.now -= 1


async def _tagged(database: Database, number: int) -> None:
    await until(database, lambda c: c.fetchval(TAGGED, number, BACKEND), f"{number} are tagged")


async def test_a_lane_goes_on_and_stores_while_its_neighbour_waits(
    use: Services, cold_database: Database
) -> None:
    """F71: beyond its batch, with what came meanwhile, and each has its context too."""
    model, stop = Uneven(), Stop()
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, at_once=2, batch_size=2)
    await use.say(SLOW)
    async with running(work, cold_database, stop):
        await model.reached.wait()
        for text in QUICK[:5]:
            await use.say(text)
        await _tagged(cold_database, 5)
        await until(
            cold_database, lambda c: c.fetchval(WITH_CONTEXT, 5), "those that are tagged go on"
        )
        for text in QUICK[5:]:
            await use.say(text)
        await _tagged(cold_database, len(QUICK))
        assert model.now == 1
        model.let_go.set()
        await _tagged(cold_database, len(QUICK) + 1)
    assert model.most == 2
    assert len(model.texts()) == len(QUICK) + 1


async def test_what_was_answered_before_a_stop_is_kept_and_the_rest_handed_back(
    use: Services, cold_database: Database
) -> None:
    model, stop = Uneven(), Stop()
    for text in (SLOW, *QUICK[:2]):
        await use.say(text)
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, at_once=2)
    async with running(work, cold_database, stop):
        await _tagged(cold_database, 2)
    rows = await query(
        cold_database, "SELECT attempts, claimed_epoch FROM work WHERE stage = 'tag'"
    )
    assert rows == [{"attempts": 0, "claimed_epoch": None}]


async def test_what_was_answered_before_the_model_went_away_is_kept(
    use: Services, cold_database: Database
) -> None:
    """F88: the stage rests, nothing is tried in vain, and no attempt counts."""
    answers: Iterator[Reply] = iter([filed(), *[failing(Why.OVER_CEILING)] * 20])
    model, stop = ScriptedModel(tagger=lambda _: next(answers)), Stop()
    for text in QUICK:
        await use.say(text)
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, batch_size=8)
    held = "SELECT count(*) = $1 FROM work WHERE stage = 'tag' AND last_error IS NOT NULL"
    async with running(work, cold_database, stop):
        await until(cold_database, lambda c: c.fetchval(held, 7), "the stage is held")
    assert await value(cold_database, TAGGED, 1, BACKEND) is True
    assert len(model.asked) == 2
    attempts = await value(cold_database, "SELECT max(attempts) FROM work WHERE stage = 'tag'")
    assert attempts == 0


async def test_one_that_a_daemon_ended_with_is_asked_about_alone_and_first(
    use: Services, cold_database: Database
) -> None:
    """E6: a suspect takes nobody along, and does not wait behind those that come."""
    model, stop = Uneven(), Stop()
    suspect = (await use.say(SLOW)).id
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, at_once=4)
    async with running(work, cold_database, stop):
        await model.reached.wait()
    await query(cold_database, "UPDATE work SET alone = true WHERE item_id = $1", suspect)
    model.reached.clear()
    stop = Stop()
    for text in QUICK[:3]:
        await use.say(text)
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, at_once=4)
    async with running(work, cold_database, stop):
        await model.reached.wait()
        waiting = "SELECT count(*) = 3 FROM work WHERE stage = 'tag' AND item_id <> $1"
        await until(cold_database, lambda c: c.fetchval(waiting, suspect), "the others wait")
        assert (model.now, len(model.texts())) == (1, 2)
        model.let_go.set()
        await _tagged(cold_database, 4)


async def test_a_hung_lane_and_a_summary_that_is_due_keep_no_message_waiting(
    use: Services, cold_database: Database
) -> None:
    """F71: what else waits for a model has a loop of its own."""
    model, stop = Uneven(), Stop()
    work = worker(cold_database, FakeEmbedder(), stop=stop, models=model, at_once=2)
    slow = (await use.say(SLOW)).id
    async with running(work, cold_database, stop):
        await model.reached.wait()
        due = "INSERT INTO work (item_id, stage) VALUES ($1, 'summarise')"
        await query(cold_database, due, slow)
        for text in QUICK[:3]:
            await use.say(text)
        await _tagged(cold_database, 3)
        gone = "SELECT count(*) = 0 FROM work WHERE stage = 'summarise'"
        await until(cold_database, lambda c: c.fetchval(gone), "the summary did not wait either")
        assert model.now == 1
