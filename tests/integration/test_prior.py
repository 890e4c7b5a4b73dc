"""The prior of recall: use, freshness and mood, and none of them without evidence."""

import asyncio
import random
from typing import Any

import pytest

from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import Pin, Resolve
from agents_memory.embedding.opening import open_embedder
from agents_memory.services.citing import Citing
from agents_memory.services.forgetting import Forgetting
from agents_memory.services.narrowing import Narrow
from agents_memory.services.recall import Recall, RecallAnswer, RecallRequest
from agents_memory.storage import traces
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.traces import TraceKind
from tests.factories import Services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import query
from tests.integration.patches import add, applied


async def _search(use: Services, text: str | None, **fields: Any) -> RecallAnswer:
    recall = use.recall(embedder=None)
    try:
        request = RecallRequest(text, Filters(user_id=use.user_id), **fields)
        return await recall.search(request)
    finally:
        await recall.close()


async def _recompute(use: Services) -> None:
    [row] = await query(use.database, "SELECT now() AS now")
    await Forgetting(use.database.transaction, ManualClock(row["now"])).recompute()


async def test_what_was_used_comes_before_what_fits_as_well(use: Services) -> None:
    """F20, F23: and what was only created, or shown to nobody, stays in the order of relevance."""
    older = await add(use, "The heron nests at the north pond.")
    newer = await add(use, "The heron nests at the south pond.")
    first = await _search(use, "heron nests")
    await _recompute_without_exposure(use)
    assert [item.id for item in first.items] == [newer, older]
    untouched = await _search(use, "heron nests")
    assert [(i.id, i.score) for i in untouched.items] == [(i.id, i.score) for i in first.items]
    await Citing(use.database).cite([older], use.user_id, None)
    await _recompute(use)
    assert [item.id for item in (await _search(use, "heron nests")).items] == [older, newer]


async def _recompute_without_exposure(use: Services) -> None:
    """As if it was created only."""
    await _recompute(use)
    await query(use.database, "UPDATE activations SET evidence = 0, touched_at = NULL")


async def test_relevance_is_not_buried_by_use(use: Services) -> None:
    used = await add(use, "The heron is a bird.")
    fits = await add(use, "The heron nests at the south pond near the mill.")
    for _ in range(50):
        await Citing(use.database).cite([used], use.user_id, None)
    await _recompute(use)
    found = await _search(use, "heron nests south pond mill")
    assert found.items[0].id == fits


async def test_a_mood_leans_towards_memories_of_like_valence(use: Services) -> None:
    """F28."""
    low = await add(use, "The heron left us.", valence=-0.8, intensity=0.3)
    good = await add(use, "The heron came back.", valence=0.8, intensity=0.3)
    gloomy = await _search(use, "heron", mood=-0.6)
    bright = await _search(use, "heron", mood="0.6")
    assert (gloomy.items[0].id, gloomy.mood) == (low, -0.6)
    assert (bright.items[0].id, bright.mood) == (good, 0.6)
    assert all(0 <= item.score <= 1 for item in gloomy.items)


@pytest.mark.parametrize(
    ("good", "bad", "asked"),
    [
        ("The garden party was a joy.", "The garden party was ruined by heavy rain.", "garden"),
        ("The new editor feels great!", "The new editor crashed and lost my work.", "new editor"),
        ("Mara called on Monday.", "Mara called on Tuesday.", "Mara called"),
    ],
)
async def test_a_mood_decides_between_what_fits_about_as_well(
    use: Services, good: str, bad: str, asked: str
) -> None:
    """F28: also where there are only these two, and one is some words longer."""
    high = await add(use, good, valence=0.9, intensity=0.6)
    low = await add(use, bad, valence=-0.9, intensity=0.6)
    for mood, first, second in ((0.9, high, low), (-0.9, low, high)):
        found = (await _search(use, asked, mood=mood)).items
        assert [item.id for item in found] == [first, second]
        assert found[0].score > found[1].score


async def test_a_feeling_that_is_still_unknown_is_not_taken_for_none(use: Services) -> None:
    """F18, F28: until the daemon has estimated it, a mood leaves it as it is."""
    calm = await add(use, "The heron nests at the north pond.", valence=0.0, intensity=0.0)
    unknown = await add(use, "The heron nests at the south pond.")
    without = (await _search(use, "heron nests")).items
    leaning = (await _search(use, "heron nests", mood=0.9)).items
    assert [item.id for item in without] == [unknown, calm]
    assert [item.id for item in leaning] == [calm, unknown]


async def test_a_mood_alone_brings_what_felt_like_it_after_what_is_open(use: Services) -> None:
    """F28: numbers and words; what is kept in view comes first, whatever it felt like."""
    pinned = await add(use, "Backups run at night.", pinned=True)
    bright = await add(use, "We won the race.", valence=0.9, intensity=0.8)
    mild = await add(use, "The soup was good.", valence=0.5, intensity=0.2)
    low = await add(use, "The cat died.", valence=-0.9, intensity=0.9)
    await add(use, "The port is 80.", valence=0.0, intensity=0.0)
    for mood, expected in ((0.9, [pinned, bright, mild]), (-0.8, [pinned, low])):
        found = await _search(use, None, mood=mood, opening=True)
        assert ([item.id for item in found.items], found.mood) == (expected, mood)
    only = await _search(use, None, mood=0.9, narrow=Narrow(("note",)))
    assert [item.id for item in only.items][:2] == [bright, mild]
    assert only.items[-1].id == low
    unread = await _search(use, None, mood=7, opening=True)
    assert ([item.id for item in unread.items], unread.mood) == ([pinned], None)
    assert "from -1" in str(unread.note)
    assert (await _search(use, None, mood=0.9, opening=True, limit=1)).items[0].id == pinned


@pytest.mark.parametrize(
    "mood", [1.5, -1.01, float("nan"), "inf", "", "  ", "!!", "\x00", "7", "\ud800"]
)
async def test_a_mood_that_is_none_is_left_out_and_said(mood: float | str, use: Services) -> None:
    await add(use, "The heron left us.")
    found = await _search(use, "heron", mood=mood)
    assert len(found.items) == 1
    assert found.mood is None
    assert found.note is not None
    assert "from -1" in found.note


async def test_words_for_a_mood_need_a_model(use: Services) -> None:
    await add(use, "The heron left us.")
    found = await _search(use, "heron", mood="sad")
    assert found.mood is None
    assert "embedding model" in str(found.note)


async def test_words_for_a_mood_are_read_in_any_language(use: Services) -> None:
    """F28: by the regression that gives messages their affect."""
    embedder = open_embedder("local")
    recall = Recall(use.database, embedder, embed_deadline_s=60)
    try:
        read = {
            words: (
                await recall.search(
                    RecallRequest("heron", Filters(user_id=use.user_id), mood=words)
                )
            ).mood
            for words in (
                "traurig und verzweifelt",
                "很开心",
                "so happy, I love it",
                "je suis triste",
            )
        }
        nonsense = await recall.search(
            RecallRequest("heron", Filters(user_id=use.user_id), mood="qwxyz")
        )
    finally:
        await recall.close()
        await embedder.close()
    assert nonsense.mood is None
    assert "not understood" in str(nonsense.note)
    low = [read["traurig und verzweifelt"], read["je suis triste"]]
    high = [read["很开心"], read["so happy, I love it"]]
    assert all(value is not None and value < -0.1 for value in low)
    assert all(value is not None and value > 0.1 for value in high)


async def test_without_a_mood_the_last_messages_of_the_platform_tell_it(
    use: Services, cold_database: Database
) -> None:
    """F29."""
    low = await add(use, "The heron left us.", valence=-0.8, intensity=0.3)
    good = await add(use, "The heron came back.", valence=0.8, intensity=0.3)
    sad = await use.say("Everything went wrong today.")
    glad = await use.say("What a day!", platform="codex")
    for said, valence in ((sad, -0.7), (glad, 0.9)):
        await query(
            cold_database,
            "UPDATE message_state SET valence = $2, intensity = 0.8 WHERE message_id = $1",
            said.id,
            valence,
        )
    here = await _search(use, "heron", mood_of="claude-code")
    there = await _search(use, "heron", mood_of="codex")
    nowhere = await _search(use, "heron", mood_of="cursor")
    assert (here.items[0].id, here.mood, here.mood_derived) == (low, -0.7, True)
    assert (there.items[0].id, there.mood) == (good, 0.9)
    assert nowhere.mood is None
    assert (await _search(use, "heron")).mood is None


async def test_without_a_query_what_is_pinned_or_promised_comes(use: Services) -> None:
    """Recall without arguments: pinned and unresolved."""
    await add(use, "The port is 8080.")
    promise = await add(use, "I will send the report.", kind=Kind.PROMISE)
    kept = await add(use, "I will call the bank.", kind=Kind.PROMISE)
    pinned = await add(use, "Deploys happen on Tuesdays.")
    await applied(use, Pin(pinned, expected_version=1), Resolve(kept, 1))
    found = await _search(use, None, opening=True)
    assert {item.id for item in found.items} == {pinned, promise}


async def test_what_had_no_room_is_named(use: Services) -> None:
    """F33."""
    ids = [await add(use, f"The heron number {n} " + "stood in the water. " * 12) for n in range(4)]
    found = await _search(use, "heron", max_tokens=130)
    shown = [item.id for item in found.items]
    assert shown
    assert found.left_out == len(found.left_out_ids) == 4 - len(shown)
    assert {*shown, *found.left_out_ids} == set(ids)


async def test_parallel_searches_log_what_they_showed_without_deadlock(
    use: Services, pool: Any
) -> None:
    """F22: 32 at once over the same items in any order: one trace an item and hour."""
    items = [(await use.say(f"message {number}")).id for number in range(20)]
    database = pool.database("memory_hot", max_size=32)
    choose = random.Random(7)

    async def show() -> None:
        for _ in range(15):
            order = choose.sample(items, k=len(items))
            async with database.transaction() as connection:
                await traces.insert_traces(connection, order[:12], TraceKind.SURFACED, None)
                await traces.insert_traces(connection, order, TraceKind.USED, None)

    try:
        await asyncio.gather(*(show() for _ in range(32)))
    finally:
        await database.close()
    rows = await query(
        use.database,
        "SELECT kind, count(*) AS n, count(DISTINCT (item_id, hour)) AS hours FROM traces "
        "GROUP BY kind ORDER BY kind",
    )
    by_kind = {row["kind"]: row for row in rows}
    assert by_kind["surfaced"]["n"] == by_kind["surfaced"]["hours"]
    assert by_kind["used"]["n"] == 32 * 15 * 20


async def test_a_search_is_not_failed_by_its_log(
    use: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await use.say("The heron stood in the water.")

    async def broken(connection: Connection, *_: object, **__: object) -> None:
        await connection.execute("SELECT 1/0")

    monkeypatch.setattr(traces, "insert_traces", broken)
    assert len((await _search(use, "heron")).items) == 1
