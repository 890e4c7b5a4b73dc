"""The context column: a message is found by what it answers, whatever order the turns came in."""

from datetime import timedelta

from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Role, Screening
from agents_memory.services.recall import RecallRequest
from agents_memory.storage import leadership, messages, patches, work
from agents_memory.storage.connections import Database
from cold.passes.context import Context
from tests.factories import NOON, Services


async def _settle(cold: Database, *ids: int) -> None:
    """Clears the messages, then does the pass until nothing waits for it."""
    built = Context()
    async with cold.transaction() as connection:
        await leadership.take_lead(connection, "test", 1)
        for message_id in ids:
            await messages.settle_screening(connection, message_id, Screening.CLEAR)
            await work.queue_work(connection, message_id, built.stage)
    epoch = (await cold.run(leadership.find_leader)).epoch
    while True:
        async with cold.transaction() as connection:
            claims = await work.claim_work(connection, built.stage, 10, epoch)
            items = await built.load(connection, [claim.item_id for claim in claims])
            for item, result in zip(items, await built.prepare(items), strict=True):
                await work.settle_work(connection, built.stage, [item.id])
                await built.settle(connection, item, result)
        if not claims:
            return


async def _found(use: Services, query: str) -> list[int]:
    recall = use.recall(embedder=None)
    answer = await recall.search(RecallRequest(query, Filters(use.user_id)))
    await recall.close()
    return [item.id for item in answer.items]


async def test_an_answer_is_found_by_the_words_of_its_question(
    use: Services, cold_database: Database
) -> None:
    asked = await use.say("Which zanzibar variant do we take?", session="s", occurred_at=NOON)
    answer = await use.say(
        "The second one.", role=Role.ASSISTANT, session="s", occurred_at=NOON + timedelta(minutes=1)
    )
    elsewhere = await use.say("Nothing here.", session="other", occurred_at=NOON)
    assert await _found(use, "zanzibar") == [asked.id]
    await _settle(cold_database, asked.id, answer.id, elsewhere.id)
    assert await _found(use, "zanzibar") == [asked.id, answer.id]
    async with use.database.acquire() as connection:
        assert await patches.list_sources(connection, answer.id, Context.version) == [asked.id]


async def test_a_turn_that_comes_in_late_reaches_the_one_after_it(
    use: Services, cold_database: Database
) -> None:
    answer = await use.say("The second one.", session="s", occurred_at=NOON + timedelta(minutes=1))
    await _settle(cold_database, answer.id)
    asked = await use.say("Which zanzibar variant?", session="s", occurred_at=NOON)
    await _settle(cold_database, asked.id)
    assert set(await _found(use, "zanzibar")) == {asked.id, answer.id}


async def test_a_message_is_found_by_the_day_it_was_said(
    use: Services, cold_database: Database
) -> None:
    """F54: only a day that is known; when it was imported says nothing."""
    dated = await use.say("We met the accountant.", occurred_at=NOON)
    undated = await use.say("We met the lawyer.")
    await _settle(cold_database, dated.id, undated.id)
    assert await _found(use, "20 November 2026") == [dated.id]


async def test_a_turn_long_before_is_no_context(use: Services, cold_database: Database) -> None:
    before = await use.say("zanzibar", venue="den", occurred_at=NOON - timedelta(hours=5))
    after = await use.say("Good morning.", venue="den", occurred_at=NOON)
    await _settle(cold_database, before.id, after.id)
    assert await _found(use, "zanzibar") == [before.id]


async def test_a_quarantined_turn_is_no_context(use: Services, cold_database: Database) -> None:
    """F48: what is quarantined feeds nothing."""
    bad = await use.say("zanzibar", session="s", occurred_at=NOON)
    after = await use.say("Fine.", session="s", occurred_at=NOON + timedelta(minutes=1))
    async with cold_database.transaction() as connection:
        await messages.settle_screening(connection, bad.id, Screening.QUARANTINED)
    await _settle(cold_database, after.id)
    assert await _found(use, "zanzibar") == []
