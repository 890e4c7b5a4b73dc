"""Events: evidence that an agent hands over, once for each id it has outside of the pool."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.messages import Origin, Role, Stored, Trust
from agents_memory.services.events import Events
from agents_memory.services.redacting import Redacting
from agents_memory.storage import messages
from agents_memory.storage.connections import Database
from tests.conftest import Pool
from tests.factories import NOON, Services, draft, services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import value

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def record(
    use: Services, text: str, external_id: str | None = None, **changes: Any
) -> Stored | Refusal:
    said = draft(text, origin=Origin.ASSERTED, trust=Trust.AGENT, **changes)
    return await Events(use.intake, ManualClock(NOON)).record(said, use.user_id, external_id)


async def stored(
    use: Services, text: str, external_id: str | None = None, **changes: Any
) -> Stored:
    done = await record(use, text, external_id, **changes)
    assert isinstance(done, Stored), done
    return done


async def conflict(use: Services, text: str, external_id: str, **changes: Any) -> Refusal:
    done = await record(use, text, external_id, **changes)
    assert isinstance(done, Refusal), done
    assert done.code is Code.EVENT_CONFLICT
    return done


async def test_an_event_sent_again_is_the_one_that_is_there(use: Services) -> None:
    """F1: identical data under the same id is accepted, and nothing is added."""
    first = await stored(use, "We moved to Lisbon.", "chat-9/4")
    again = await stored(use, "We moved to Lisbon.", "chat-9/4")
    assert (again.id, again.duplicate, first.duplicate) == (first.id, True, False)
    assert await use.database.run(messages.count_messages) == 1


async def test_an_id_that_names_another_event_is_refused_and_changes_nothing(
    use: Services,
) -> None:
    """F1: another role, other words or another time."""
    first = await stored(use, "We moved to Lisbon.", "chat-9/4", occurred_at=NOON)
    for text, changes in (
        ("We moved to Porto.", {"occurred_at": NOON}),
        ("We moved to Lisbon.", {"occurred_at": NOON, "role": Role.ASSISTANT}),
        ("We moved to Lisbon.", {"occurred_at": NOON - timedelta(seconds=1)}),
        ("We moved to Lisbon.", {}),
    ):
        refusal = await conflict(use, text, "chat-9/4", **changes)
        assert refusal.details == {"event_id": first.id}
    again = await stored(use, "We moved to Lisbon.", "chat-9/4", occurred_at=NOON)
    assert again.id == first.id
    assert await use.database.run(messages.count_messages) == 1


async def test_what_is_the_same_once_cleaned_is_the_same(use: Services) -> None:
    """The words are compared as they are stored: without secrets, NUL and lone surrogates."""
    first = await stored(use, f"The token\0 is {TOKEN} \ud800", "e1")
    again = await stored(use, f"The token\0 is {TOKEN} \ud800", "e1")
    assert (again.id, again.duplicate) == (first.id, True)


async def test_without_an_id_every_event_is_one_of_its_own(use: Services) -> None:
    first, second = await stored(use, "Yes."), await stored(use, "Yes.")
    assert first.id != second.id


async def test_processes_that_record_one_event_at_once_agree(pool: Pool) -> None:
    """F1: exactly one row, whoever is first; only one word stands under an id."""
    databases = [pool.database("memory_hot") for _ in range(4)]
    uses = [await services(database) for database in databases]
    try:
        done = await asyncio.gather(*(stored(use, "Said once.", "x") for use in uses))
        assert len({event.id for event in done}) == 1
        assert sorted(event.duplicate for event in done) == [False, True, True, True]
        mixed = await asyncio.gather(
            *(record(use, f"Said by {number}.", "y") for number, use in enumerate(uses))
        )
        refusals = [one for one in mixed if isinstance(one, Refusal)]
        assert [one.code for one in refusals] == [Code.EVENT_CONFLICT] * 3
        assert await databases[0].run(messages.count_messages) == 2
    finally:
        for use, database in zip(uses, databases, strict=True):
            await use.close()
            await database.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a\0", "a"),
        (" a", "a"),
        ("\ud800", "\ud801"),
        (TOKEN, TOKEN[:-1] + "Z"),
        ("é", "e\u0301"),
        ("🜁" * 200, "🜁" * 199 + "🜂"),
    ],
)
async def test_two_ids_never_become_one(use: Services, one: str, other: str) -> None:
    """D10: any string is an id, and no cleaning makes two of them the same."""
    first, second = await stored(use, "One.", one), await stored(use, "Two.", other)
    assert first.id != second.id
    assert (await stored(use, "One.", one)).id == first.id


async def test_a_secret_used_as_an_id_is_not_stored(
    use: Services, owner_database: Database
) -> None:
    """F108."""
    await stored(use, "One.", TOKEN)
    assert TOKEN not in await value(owner_database, "SELECT native_id FROM messages")


@pytest.mark.parametrize(
    ("external_id", "code"),
    [
        ("x" * 201, Code.LIMIT_EXCEEDED),
        ("日" * 341, Code.LIMIT_EXCEEDED),
        (" ", Code.INVALID_INPUT),
    ],
)
async def test_an_impossible_id_is_refused(use: Services, external_id: str, code: Code) -> None:
    done = await record(use, "One.", external_id)
    assert isinstance(done, Refusal)
    assert done.code is code


async def test_an_event_of_the_future_is_refused(use: Services) -> None:
    """A wrong clock would put it before everything else for years."""
    done = await record(use, "One.", occurred_at=NOON + timedelta(days=2))
    assert isinstance(done, Refusal)
    assert done.code is Code.INVALID_INPUT
    assert "occurred_at" in done.message


async def test_an_event_that_was_erased_can_be_sent_again_and_stays_erased(
    use: Services, hot_database: Database, owner_database: Database
) -> None:
    """F109: the same words are struck again, and so the event is the same."""
    first = await stored(use, "The door code is 4711 today.", "door")
    await Redacting(owner_database).erase_words("code is 4711", run=True)
    later = await services(hot_database)
    again = await stored(later, "The door code is 4711 today.", "door")
    await later.close()
    assert (again.id, again.duplicate) == (first.id, True)
    assert "4711" not in await value(owner_database, "SELECT message FROM messages")
