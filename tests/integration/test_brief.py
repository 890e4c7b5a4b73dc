"""The brief: only what is screened and current, inside what clients let through."""

from datetime import UTC, timedelta

from agents_memory.domain.fencing import strip_fenced
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.services.brief import Briefing, Reader, how_to_use
from agents_memory.storage.connections import Database
from tests.factories import NOON, Services, draft, settle_by_hand
from tests.fakes import ManualClock


def _briefing(use: Services) -> Briefing:
    return Briefing(use.database, ManualClock(NOON), zone=UTC)


def _reader(use: Services) -> Reader:
    return Reader(use.user_id, "claude-code", "laptop")


async def test_an_empty_pool_still_says_how_to_use_it(use: Services) -> None:
    briefing = _briefing(use)
    assert await briefing.instructions(_reader(use), max_chars=1900) == how_to_use()
    brief = await briefing.startup(_reader(use), days=3)
    assert "Nothing is pinned, promised or known yet." in brief.text


async def test_instructions_keep_the_client_limit_and_the_core(
    use: Services, owner_database: Database
) -> None:
    """F61: at most 1,900 characters, the core profile first."""
    async with owner_database.acquire() as connection:
        await connection.execute(
            "INSERT INTO profiles (user_id, kind, version, content) VALUES ($1, 'core', 1, $2)",
            use.user_id,
            "Mara writes backends in Rust.\n" + "She has many more traits. " * 100,
        )
    for n in range(30):
        await use.knowledge.add_memory(
            draft(f"Pinned thing number {n} " + "with details " * 20, trust=Trust.AGENT),
            use.user_id,
            kind=Kind.NOTE,
            subject=f"thing {n}",
            project=None,
        )
    text = await _briefing(use).instructions(_reader(use), max_chars=1900)
    assert len(text) <= 1900
    assert text.startswith(how_to_use())
    assert "Mara writes backends in Rust." in text


async def test_unscreened_and_quarantined_turns_feed_no_brief(
    use: Services, cold_database: Database
) -> None:
    clear = await use.say("A clear turn.", occurred_at=NOON)
    await settle_by_hand(cold_database, use.embedder, [clear.id])
    await use.say("An unscreened turn.", occurred_at=NOON)
    brief = await _briefing(use).startup(_reader(use), days=3)
    assert "A clear turn." in brief.text
    assert "unscreened" not in brief.text


async def test_recent_turns_are_of_this_platform_and_device_first(
    use: Services, cold_database: Database
) -> None:
    """F62: continuity is of this machine; others come after, shorter."""
    here = await use.say("Said here.", occurred_at=NOON - timedelta(hours=2))
    there = await use.say(
        "Said there.", occurred_at=NOON - timedelta(hours=1), device="desktop", platform="codex"
    )
    old = await use.say("Said long ago.", occurred_at=NOON - timedelta(days=9))
    await settle_by_hand(cold_database, use.embedder, [here.id, there.id, old.id])
    brief = await _briefing(use).startup(_reader(use), days=3)
    assert brief.text.index("Said here.") < brief.text.index("Said there.")
    assert "long ago" not in brief.text
    assert (brief.counts["recent_here"], brief.counts["recent_elsewhere"]) == (1, 1)


async def test_pins_and_open_promises_are_always_there(use: Services) -> None:
    """F60."""
    await use.knowledge.add_memory(
        draft("I will send the report on Monday.", trust=Trust.AGENT),
        use.user_id,
        kind=Kind.PROMISE,
        subject="report",
        project=None,
    )
    brief = await _briefing(use).startup(_reader(use), days=1)
    assert brief.text.count("I will send the report on Monday.") == 2
    assert brief.counts["promises"] == 1


async def test_a_brief_is_fenced_and_bounded(use: Services, cold_database: Database) -> None:
    """B1, J7: one marker around everything, so that it is never taken in again."""
    ids = [
        (await use.say(f"Turn {n}: " + "words " * 200, occurred_at=NOON - timedelta(minutes=n))).id
        for n in range(20)
    ]
    await settle_by_hand(cold_database, use.embedder, ids)
    brief = await _briefing(use).startup(_reader(use), days=3)
    assert len(brief.text) <= 8_000
    assert strip_fenced(brief.text).strip() == ""
