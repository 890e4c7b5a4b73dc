"""What is told for the sake of a memory: evidence, and never a second voice beside the memory."""

from datetime import UTC
from typing import Any

import pytest

from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.patches import Add, Replace, Supersede, Update
from agents_memory.services.brief import Briefing, Reader
from agents_memory.services.knowledge import Remembered
from agents_memory.services.narrowing import Narrow
from agents_memory.services.project_tags import ProjectTags
from agents_memory.services.recall import Recall, RecallAnswer, RecallRequest
from agents_memory.services.recalled import Ranked, load_distinct
from agents_memory.storage import messages
from agents_memory.storage.connections import Database
from tests.factories import NOON, Services, draft, settle_by_hand
from tests.fakes import ManualClock
from tests.integration.cold_daemons import query
from tests.integration.patches import applied, check_diffs, versions
from tests.integration.test_project_tags import file

BIRTHDAYS = ("我的生日是5月4日。", "我的生日是6月4日。")
COLOURS = ("My favourite colour is green.", "My favourite colour is blue.")
EMPLOYERS = ("Ich arbeite bei Siemens.", "Ich arbeite bei Bosch.")
HAZELNUTS = "The planner must never suggest hazelnuts."


async def remember(use: Services, text: str, **fields: Any) -> Remembered:
    add = Add("user", text, **fields)
    said = draft(text, trust=Trust.AGENT, role=Role.ASSISTANT)
    done = await use.knowledge.remember(said, use.user_id, add, project=None)
    assert isinstance(done, Remembered), done
    return done


def memory_of(done: Remembered) -> int:
    return done.applied.changes[0].item_id


async def search(use: Services, asked: str | None, **options: Any) -> RecallAnswer:
    recall: Recall = use.recall()
    request = RecallRequest(asked, Filters(use.user_id), **options)
    answer = await recall.search(request)
    await recall.close()
    return answer


@pytest.mark.parametrize(
    ("told", "asked"),
    [(BIRTHDAYS, "我的生日"), (COLOURS, "favourite colour"), (EMPLOYERS, "Ich arbeite bei")],
)
async def test_words_of_a_memory_that_gave_way_are_found_no_more(
    use: Services, told: tuple[str, str], asked: str
) -> None:
    """A4, B12: nor by recency; the history and whoever names their id still read them."""
    older, newer = [await remember(use, text) for text in told]
    await applied(use, Replace(memory_of(older), memory_of(newer)))
    for answer in (await search(use, asked), await search(use, None)):
        assert [item.text for item in answer.items] == [told[1]]
    assert (await versions(use, memory_of(older)))[0].content == told[0]
    assert older.message_id is not None
    async with use.database.acquire() as connection:
        ids = [older.message_id]
        assert await messages.list_messages(connection, ids, use.user_id) == []
        [kept] = await messages.list_messages(connection, ids, use.user_id, outdated=True)
    assert kept.text == told[0]


async def test_what_rests_on_a_winner_that_was_merged_is_still_found(use: Services) -> None:
    older, newer = [await remember(use, text) for text in COLOURS]
    await applied(use, Replace(memory_of(older), memory_of(newer), merge=True))
    found = {item.text for item in (await search(use, "favourite colour")).items}
    assert found == set(COLOURS)


async def test_a_memory_stands_where_its_better_words_do_and_the_scores_fall(
    use: Services,
) -> None:
    done = await remember(use, HAZELNUTS)
    other = await use.say("Something else about hazelnuts.")
    assert done.message_id is not None
    ranked = Ranked(
        "hybrid",
        {done.message_id: 0.9, other.id: 0.6, memory_of(done): 0.4},
        frozenset({memory_of(done)}),
        {},
    )
    async with use.database.acquire() as connection:
        found = await load_distinct(
            connection, ranked, user_id=use.user_id, limit=5, terms=(), wanted=Narrow().keep
        )
    assert [(item.id, item.score) for item in found] == [(memory_of(done), 0.9), (other.id, 0.6)]


async def test_a_memory_that_was_not_found_itself_stands_for_its_words(use: Services) -> None:
    done = await remember(use, HAZELNUTS)
    assert done.message_id is not None
    ranked = Ranked("hybrid", {done.message_id: 0.9}, frozenset(), {done.message_id: 0.5})
    async with use.database.acquire() as connection:
        [found] = await load_distinct(
            connection, ranked, user_id=use.user_id, limit=5, terms=(), wanted=Narrow().keep
        )
        [only_said] = await load_distinct(
            connection, ranked, user_id=use.user_id, limit=5, terms=()
        )
    assert (found.id, found.version, found.role) == (memory_of(done), 1, None)
    assert (found.score, found.similarity) == (0.9, 0.5)
    assert only_said.id == done.message_id


async def test_tags_and_recency_list_a_memory_once(use: Services, cold_database: Database) -> None:
    done = await remember(use, HAZELNUTS, tags=("LINA",))
    assert done.message_id is not None
    await file(cold_database, done.message_id, "paprika", "LINA")
    said = await use.say("Lina comes at eight.", occurred_at=NOON)
    for options in ({"narrow": Narrow(tags=("LINA",))}, {"narrow": Narrow()}):
        answer = await search(use, None, **options)
        assert [item.id for item in answer.items if item.id != said.id] == [memory_of(done)]
    as_said = await search(use, None, narrow=Narrow(kinds=("message",)))
    assert {item.id for item in as_said.items} == {done.message_id, said.id}


async def test_the_brief_tells_turns_and_not_what_was_told_for_memories(
    use: Services, cold_database: Database
) -> None:
    """F60"""
    turns = [(await use.say(f"Turn {n} of the talk.", occurred_at=NOON)).id for n in range(4)]
    told = [
        (await remember(use, f"The lagoon shelf number {n} holds.")).message_id for n in range(9)
    ]
    ids = [*turns, *(number for number in told if number is not None)]
    await settle_by_hand(cold_database, use.embedder, ids)
    briefing = Briefing(use.database, ManualClock(NOON), zone=UTC)
    brief = await briefing.startup(Reader(use.user_id, "claude-code", "laptop"), days=3)
    assert brief.counts["recent_here"] == 4
    assert "lagoon shelf" not in brief.text


async def test_all_count_the_same_messages_of_a_project(
    use: Services, cold_database: Database
) -> None:
    """What was told for memories is none of them, and keeps the project in the brief."""
    told = await remember(use, HAZELNUTS)
    assert told.message_id is not None
    await file(cold_database, told.message_id, "paprika")
    registry = ProjectTags(use.database, actor="mara", device="laptop", via="tool")
    briefing = Briefing(use.database, ManualClock(NOON), zone=UTC)
    reader = Reader(use.user_id, "claude-code", "laptop")
    day = f"{NOON:%Y}"
    assert [entry.messages for entry in await registry.list()] == [0]
    assert f"- paprika (last {day}" in (await briefing.startup(reader, days=3)).text
    for number in (1, 2):
        await file(cold_database, (await use.say(f"Turn {number}")).id, "paprika")
        assert [entry.messages for entry in await registry.list()] == [number]
        said = "1 message" if number == 1 else "2 messages"
        assert f"- paprika ({said}, last" in (await briefing.startup(reader, days=3)).text


async def test_tags_made_from_words_follow_them_and_others_stay(
    use: Services, owner_database: Database
) -> None:
    hansen, moeller = (
        f"Our espresso beans come from {name}." for name in ("Rösterei Hansen", "Kaffeehaus Möller")
    )

    async def tell(text: str) -> int:
        add = Add("kitchen", text, attribute="beans")
        said = draft(text, trust=Trust.AGENT)
        done = await use.knowledge.remember(said, use.user_id, add, project=None)
        assert isinstance(done, Remembered)
        return memory_of(done)

    async def tags(memory_id: int) -> set[str]:
        found = await use.knowledge.find(memory_id, use.user_id)
        assert found is not None
        return set(found.tags)

    memory_id = await tell(hansen)
    assert "rösterei-hansen" in await tags(memory_id)
    assert await tell(moeller) == memory_id
    assert await tags(memory_id) == {"kaffeehaus-möller", "espresso-beans"}
    await check_diffs(use, memory_id)
    await query(
        owner_database, "UPDATE memories SET tags = tags || '{mine}' WHERE id = $1", memory_id
    )
    await applied(use, Update(memory_id, hansen))
    assert await tags(memory_id) == {"mine", "rösterei-hansen", "espresso-beans"}
    own = memory_of(await remember(use, "Our tea comes from Rösterei Hansen.", tags=("tea",)))
    await applied(use, Supersede(own, "Our tea comes from Kaffeehaus Möller."))
    assert await tags(own) == {"tea"}
