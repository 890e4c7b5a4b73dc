"""F103: what waits on the disk goes into the pool: once, in order, as the intake would store it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.errors import Code, DatabaseUnavailable, Refusal
from agents_memory.domain.messages import Accepted, Draft, Origin, Queued, Role, Trust
from agents_memory.services.captured import Kept
from agents_memory.services.intake import accept
from agents_memory.services.redacting import Redacting
from agents_memory.services.spooling import drain, queue
from agents_memory.storage import messages
from agents_memory.storage.connections import Database
from agents_memory.storage.messages import MessageView
from agents_memory.storage.spool.store import Spool
from tests.conftest import Pool
from tests.factories import NOON, Services, draft

AWAY = DatabaseUnavailable("nothing listens there")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "data", "here", 2**20)


def told(text: str, **changes: Any) -> Draft:
    asserted = {"origin": Origin.ASSERTED, "trust": Trust.AGENT, "session": "s1"}
    return draft(text, **{**asserted, **changes})


def captured(text: str, native_id: str, **changes: Any) -> Draft:
    identity = {"source": "claude-code", "store_id": "any", "native_id": native_id}
    return draft(text, **{**identity, "occurred_at": NOON, **changes})


async def put(spool: Spool, said: Draft, at_s: float = 0.0) -> Queued:
    turn = await accept(said, NOON + timedelta(seconds=at_s))
    assert isinstance(turn, Accepted)
    queued = await queue(spool, turn, "mara", AWAY)
    assert isinstance(queued, Queued)
    return queued


async def held(use: Services) -> list[MessageView]:
    """All that is stored, in the order of the ids."""
    async with use.database.acquire() as connection:
        ids = [row["id"] for row in await connection.fetch("SELECT id FROM messages ORDER BY id")]
        return await messages.list_messages(connection, ids, use.user_id)


async def test_turns_are_stored_once_in_their_order_with_the_time_they_were_told(
    use: Services, spool: Spool
) -> None:
    queued = [await put(spool, told(f"Turn {n}"), n) for n in range(5)]
    assert await drain(spool, use.database, use.intake) == {Kept.STORED: 5}
    views = await held(use)
    assert [view.text for view in views] == [f"Turn {n}" for n in range(5)]
    assert [view.occurred_at for view in views] == [one.at for one in queued]
    assert not spool.has_any()
    assert await drain(spool, use.database, use.intake) == {}


async def test_a_drain_that_was_killed_is_repeated_harmlessly(use: Services, spool: Spool) -> None:
    """A19: all was committed, and nothing of it noted down."""
    for number in range(3):
        await put(spool, told(f"Turn {number}"), number)
    with spool.drain() as entries:
        assert entries is not None
        for entry in entries:
            assert entry.waiting is not None
            await use.intake.insert(entry.waiting.turn, use.user_id)
    assert sum((await drain(spool, use.database, use.intake) or {}).values()) == 3
    assert len(await held(use)) == 3


async def test_a_stored_answer_that_was_lost_and_a_queued_one_are_one_message(
    use: Services, spool: Spool
) -> None:
    """The insert was slow, the turn was queued, and then the insert came through after all."""
    turn = await accept(told("Once."), NOON)
    assert isinstance(turn, Accepted)
    stored = await use.intake.insert(turn, use.user_id)
    await queue(spool, turn, "mara", AWAY)
    await drain(spool, use.database, use.intake)
    assert [view.id for view in await held(use)] == [stored.id]


async def test_what_the_owner_erased_meanwhile_does_not_come_in(
    use: Services, spool: Spool, owner_database: Database
) -> None:
    """F109: tombstones hold for what was said before them, too."""
    await put(spool, told("The heron nests by the old weir."))
    await Redacting(owner_database).erase_words("old weir", run=True)
    await drain(spool, use.database, use.intake)
    [view] = await held(use)
    assert "weir" not in view.text
    assert "heron" in view.text


async def test_no_secret_reaches_the_disk(spool: Spool) -> None:
    """F108: redaction comes before the first write."""
    token = "ghp_" + "a1B2" * 9
    queued = await put(spool, told(f"use {token} for the release", session=f"s {token}"))
    assert sum(queued.redactions.values()) == 1
    written = b"".join(path.read_bytes() for path in spool.folder.iterdir())
    assert b"for the release" in written
    assert token.encode() not in written


async def test_a_captured_turn_collapses_into_what_an_agent_told(
    use: Services, spool: Spool
) -> None:
    """F77: as it does without a spool; both waited for hours."""
    said = {"role": Role.ASSISTANT, "trust": Trust.AGENT}
    await put(spool, told("Done: 12 tests added.", role=Role.ASSISTANT), 1)
    await put(spool, captured("done: 12 tests added", "a", **said), 2)
    await put(spool, captured("Another.", "b", **said), 3)
    await put(spool, captured("Another.", "b", **said), 4)
    assert await drain(spool, use.database, use.intake) == {
        Kept.STORED: 2,
        Kept.COLLAPSED: 1,
        Kept.DUPLICATE: 1,
    }
    assert [view.text for view in await held(use)] == ["Done: 12 tests added.", "Another."]


async def test_what_the_database_will_never_take_is_set_aside_and_stops_nothing(
    use: Services, spool: Spool, owner_database: Database
) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute("ALTER TABLE messages ADD CHECK (message <> 'poison')")
    for number, text in enumerate(("Before.", "poison", "After.")):
        await put(spool, told(text), number)
    assert await drain(spool, use.database, use.intake) == {Kept.STORED: 2, Kept.FAILED: 1}
    assert [view.text for view in await held(use)] == ["Before.", "After."]
    census = spool.census()
    assert (census.queued, len(census.aside)) == (0, 1)
    assert b"poison" in census.aside[0].read_bytes()


async def test_everything_stays_while_the_database_is_away(
    use: Services, spool: Spool, pool: Pool
) -> None:
    await put(spool, told("Patience."))
    away = Database(
        pool.url("memory_hot").replace("?host=", "?host=/nowhere"),
        schema="agents_memory",
        application="test",
    )
    with pytest.raises(DatabaseUnavailable):
        await drain(spool, away, use.intake)
    await away.close()
    assert spool.census().queued == 1
    assert await drain(spool, use.database, use.intake) == {Kept.STORED: 1}


async def test_a_full_spool_says_so_and_that_nothing_was_stored(tmp_path: Path) -> None:
    turn = await accept(told("x" * 2_000), NOON)
    assert isinstance(turn, Accepted)
    refused = await queue(Spool(tmp_path / "data", "here", 1_000), turn, "mara", AWAY)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.LIMIT_EXCEEDED
    assert "nothing was stored" in refused.message
    assert "SPOOL_MAX_MB" in refused.message


async def test_a_disk_that_cannot_be_written_says_so_and_that_nothing_was_stored(
    tmp_path: Path,
) -> None:
    """A read-only home, for one."""
    (tmp_path / "data").write_text("no folder")
    turn = await accept(told("Hi"), NOON)
    assert isinstance(turn, Accepted)
    refused = await queue(Spool(tmp_path / "data", "here", 2**20), turn, "mara", AWAY)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.DATABASE_UNAVAILABLE
    assert "Nothing was stored" in refused.message
    assert "nothing listens there" in refused.message
