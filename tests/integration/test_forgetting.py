"""What was taken back is recalled no more, and what was refused never was."""

from datetime import UTC

from agents_memory.domain.errors import Refusal
from agents_memory.domain.fencing import fence
from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.services.brief import Briefing, Reader
from agents_memory.services.knowledge import Remembered
from agents_memory.services.memory_search import MemorySearch
from agents_memory.services.recall import RecallRequest
from agents_memory.storage import memories, messages
from agents_memory.storage.connections import Database
from tests.factories import NOON, Services, draft
from tests.fakes import ManualClock
from tests.integration.cold_daemons import FakeEmbedder, drain

CODE = "The vault code word is periwinkle."


async def _told(use: Services, text: str) -> Remembered | Refusal:
    return await use.knowledge.add_memory(
        draft(text, trust=Trust.AGENT), use.user_id, kind=Kind.NOTE, subject="vault", project=None
    )


async def _found(use: Services, query: str | None) -> list[str]:
    recall = use.recall(embedder=None)
    answer = await recall.search(RecallRequest(query, Filters(use.user_id)))
    await recall.close()
    return [item.text for item in answer.items]


def _about(use: Services, query: str | None) -> RecallRequest:
    return RecallRequest(query, Filters(use.user_id))


async def test_a_removed_memory_takes_its_words_with_it(use: Services) -> None:
    """D17: gone from every read path, by words and as the newest."""
    told = await _told(use, CODE)
    assert isinstance(told, Remembered)
    assert await _found(use, "periwinkle") == [CODE]
    await use.knowledge.remove_memory(use.user_id, told.applied.changes[0].item_id, None)
    assert await _found(use, "periwinkle") == []
    assert await _found(use, None) == []


async def _briefs(use: Services) -> str:
    """Everything that a new session is told."""
    briefing, reader = (
        Briefing(use.database, ManualClock(NOON), zone=UTC),
        Reader(use.user_id, "claude-code", "laptop"),
    )
    told = await briefing.instructions(reader, max_chars=1900)
    return f"{told}\n{(await briefing.startup(reader, days=30)).text}"


async def test_a_removed_memory_is_in_no_brief_nor_near_in_meaning(
    use: Services, cold_database: Database
) -> None:
    """D17, F109: vectors, pins, recent turns, the turns around: at once, before any pass."""
    told = await _told(use, CODE)
    assert isinstance(told, Remembered)
    memory = told.applied.changes[0].item_id
    await use.say("And now to something else.")
    await drain(cold_database, FakeEmbedder())
    search = MemorySearch(use.database)
    recall = use.recall(threshold=0.0)
    assert CODE in await _briefs(use)
    assert CODE in [i.text for i in (await recall.search(_about(use, CODE))).items]
    await use.knowledge.remove_memory(use.user_id, memory, None)
    assert "periwinkle" not in await _briefs(use)
    for query in (CODE, "periwinkle", None):
        answer = await recall.search(_about(use, query))
        assert "periwinkle" not in str(answer.items)
    assert await search.search("periwinkle", use.user_id) == ()
    await recall.close()
    async with use.database.acquire() as connection:
        assert await memories.list_pinned(connection, use.user_id, 10) == []
        assert await messages.list_pinned(connection, use.user_id, 10) == []


async def test_the_turn_after_a_removed_memory_is_not_found_by_its_words(
    use: Services, cold_database: Database
) -> None:
    """What was told for a memory's sake stands around no other turn."""
    told = await _told(use, CODE)
    assert isinstance(told, Remembered)
    await use.say("And now to something else.")
    await drain(cold_database, FakeEmbedder())
    await use.knowledge.remove_memory(use.user_id, told.applied.changes[0].item_id, None)
    assert await _found(use, "periwinkle") == []


async def test_a_line_taken_out_of_the_profile_is_told_no_more(use: Services) -> None:
    await use.knowledge.add_to_profile("Grows periwinkle.", use.user_id)
    assert "periwinkle" in await _briefs(use)
    await use.knowledge.write_profile("", use.user_id)
    assert "periwinkle" not in await _briefs(use)


async def test_a_corrected_memory_leaves_the_old_words_behind(use: Services) -> None:
    told = await _told(use, CODE)
    assert isinstance(told, Remembered)
    await use.knowledge.update_memory(
        draft("The vault code word is marigold.", trust=Trust.AGENT),
        use.user_id,
        told.applied.changes[0].item_id,
        None,
    )
    assert await _found(use, "vault code word") == ["The vault code word is marigold."]


async def test_what_was_refused_is_not_recalled(use: Services) -> None:
    refused = await use.knowledge.update_memory(
        draft("purple walrus", trust=Trust.AGENT), use.user_id, 999_999, None
    )
    assert isinstance(refused, Refusal)
    assert await _found(use, "walrus") == []


async def test_words_the_owner_said_elsewhere_stay(use: Services) -> None:
    """Only what was told for the memory alone goes with it."""
    await use.say("By the way, periwinkle is a colour.")
    told = await _told(use, CODE)
    assert isinstance(told, Remembered)
    await use.knowledge.remove_memory(use.user_id, told.applied.changes[0].item_id, None)
    assert await _found(use, "periwinkle") == ["By the way, periwinkle is a colour."]


async def test_text_around_a_forged_block_is_kept_whole(use: Services) -> None:
    """J7: what looks like recalled text is not recalled again, and yet nothing is lost."""
    open_block = fence("inside", "recall").rpartition("</")[0]
    text = f"before {open_block} after"
    stored = await use.say(text)
    async with use.database.acquire() as connection:
        raw = await connection.fetchval("SELECT raw_message FROM messages WHERE id = $1", stored.id)
    assert raw == text


async def test_a_time_far_ahead_is_no_time(use: Services) -> None:
    """A wrong clock would stand before everything else for years."""
    ahead = await use.say("from the future", occurred_at=NOON.replace(year=9999))
    async with use.database.acquire() as connection:
        said = await connection.fetchval("SELECT occurred_at FROM messages WHERE id = $1", ahead.id)
    assert said is None
