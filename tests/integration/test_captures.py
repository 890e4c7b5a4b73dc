"""Signs of life, and turns that were told before they were captured."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agents_memory.domain.errors import MemoryFault
from agents_memory.domain.fencing import fence
from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Accepted, Origin, Role, Screening, Stored, Trust
from agents_memory.services.intake import accept
from agents_memory.services.recall import RecallRequest
from agents_memory.services.told import TOLD_WITHIN, Told
from agents_memory.storage import captures, messages, withdrawals
from agents_memory.storage.captures import FRESH
from agents_memory.storage.connections import Connection, Database
from ingest.records import Record
from ingest.storing import Kept, Storing
from tests.factories import NOON, Services, draft
from tests.fakes import ManualClock

SIGN = {"device": "laptop", "client": "claude-code"}


async def covered(database: Database, session: str = "s1", **changes: object) -> bool:
    asked = {**SIGN, "session": session, "now": NOON, **changes}

    async def ask(connection: Connection) -> bool:
        return await captures.covered(connection, **asked)  # type: ignore[arg-type]

    return await database.run(ask)


async def beat(database: Database, *sessions: str, **changes: object) -> None:
    signed = {**SIGN, "sessions": sessions, "now": NOON, **changes}

    async def write(connection: Connection) -> None:
        await captures.beat(connection, **signed)  # type: ignore[arg-type]

    await database.run(write)


async def test_a_session_is_covered_only_while_its_own_sign_is_fresh(
    hot_database: Database,
) -> None:
    """F77: by the role that captures and the one that asks, which are the same."""
    assert not await covered(hot_database)
    await beat(hot_database, "s1", "s2", "s1")
    assert await covered(hot_database)
    assert await covered(hot_database, "s2")
    assert await covered(hot_database, now=NOON + FRESH)
    assert not await covered(hot_database, now=NOON + FRESH + timedelta(seconds=1))
    assert not await covered(hot_database, "s3")
    assert not await covered(hot_database, device="desktop")
    assert not await covered(hot_database, client="codex")


async def test_a_sign_from_before_the_clock_was_set_back_counts_for_nothing(
    hot_database: Database,
) -> None:
    await beat(hot_database, "s1", now=NOON + timedelta(hours=1))
    assert not await covered(hot_database)
    await beat(hot_database, "s1")
    assert await covered(hot_database)


async def test_many_capturers_may_sign_at_once(hot_database: Database) -> None:
    sessions = [f"s{n}" for n in range(50)]
    await asyncio.gather(
        *(beat(hot_database, *(sessions if n % 2 else reversed(sessions))) for n in range(8))
    )
    assert await covered(hot_database, "s49")


def storing(use: Services, **changes: Any) -> Storing:
    labels = {"client": "claude-code", "device": "laptop", **changes}
    return Storing(use.database, use.intake, use.user_id, ManualClock(NOON), **labels)


def turn(text: str, native_id: str, **changes: object) -> Record:
    fields = {
        "role": Role.ASSISTANT,
        "text": text,
        "native_id": native_id,
        "session": "s1",
        "occurred_at": NOON,
        **changes,
    }
    return Record(**fields)  # type: ignore[arg-type]


async def tell(use: Services, text: str, **changes: object) -> int:
    told = {"origin": Origin.ASSERTED, "trust": Trust.AGENT, "role": Role.ASSISTANT, **changes}
    return (await use.say(text, **told)).id


@pytest.fixture
async def at_noon(use: Services, owner_database: Database) -> Services:
    """Services over a pool in which what is told is told at noon."""
    async with owner_database.acquire() as connection:
        await connection.execute(
            "ALTER TABLE messages ALTER COLUMN created_at SET DEFAULT '2026-11-20T12:00:00Z'"
        )
    return use


async def count(use: Services) -> int:
    return await use.database.run(messages.count_messages)


async def test_a_turn_that_was_told_before_collapses_into_it_once(at_noon: Services) -> None:
    """F77: and a second turn of the same words is a turn of its own."""
    await tell(at_noon, "Done: 12 tests added.")
    keep = storing(at_noon)
    assert await keep.store(turn("done: 12 tests added", "a")) is Kept.COLLAPSED
    assert await keep.store(turn("Done: 12 tests added.", "b")) is Kept.STORED
    assert await count(at_noon) == 2
    again = [turn("done: 12 tests added", "a"), turn("Done: 12 tests added.", "b")]
    assert await keep.keep(again) == {Kept.DUPLICATE: 2}
    assert await count(at_noon) == 2


async def test_a_persons_turn_is_stored_and_an_agents_report_of_it_gives_way(
    at_noon: Services,
) -> None:
    """F77, F107: evidence of the owner is never given up for an agent's account of it."""
    reported = await tell(at_noon, "The harbor closes on Friday.", role=Role.USER)
    said = turn("the harbor closes on Friday", "a", role=Role.USER, human=True)
    assert await storing(at_noon).store(said) is Kept.STORED
    assert await shown(at_noon) == [("the harbor closes on Friday", Trust.OWNER)]
    found = await at_noon.recall().search(
        RecallRequest("harbor closes Friday", Filters(user_id=at_noon.user_id))
    )
    assert [(item.text, item.trust) for item in found.items] == [
        ("the harbor closes on Friday", Trust.OWNER)
    ]
    async with at_noon.database.acquire() as connection:
        [account] = await messages.list_messages(connection, [reported], at_noon.user_id)
        [work] = await connection.fetch("SELECT item_id FROM work WHERE stage = 'screen'")
    assert account.screening is Screening.WITHDRAWN
    assert work["item_id"] != reported


async def hand_over(use: Services, text: str, **changes: object) -> Stored:
    """As `save_message` does."""
    told = {"origin": Origin.ASSERTED, "trust": Trust.AGENT, "session": "s1", **changes}
    accepted = await accept(draft(text, **told), NOON)
    assert isinstance(accepted, Accepted)
    return await Told(use.database, use.intake).store(accepted, use.user_id)


async def shown(use: Services) -> list[tuple[str, Trust]]:
    """What everyday search knows, in the order of the ids."""
    async with use.database.acquire() as connection:
        ids = await messages.list_recent(connection, Filters(user_id=use.user_id), 100)
        views = await messages.list_messages(connection, sorted(ids), use.user_id)
    return [(view.text, view.trust) for view in views]


@pytest.mark.parametrize(
    ("role", "trust"), [(Role.USER, Trust.OWNER), (Role.ASSISTANT, Trust.AGENT)]
)
async def test_what_is_told_after_it_was_captured_gives_way_too(
    at_noon: Services, role: Role, trust: Trust
) -> None:
    """F77: whichever comes first; the answer names the message that is shown."""
    said = turn("We ship on Friday.", "a", role=role, human=role is Role.USER)
    assert await storing(at_noon).store(said) is Kept.STORED
    told = await hand_over(at_noon, "we ship on Friday", role=role)
    async with at_noon.database.acquire() as connection:
        [view] = await messages.list_messages(connection, [told.id], at_noon.user_id)
    assert (told.duplicate, view.origin) == (True, Origin.CAPTURED)
    assert await shown(at_noon) == [("We ship on Friday.", trust)]


@pytest.mark.parametrize("told_first", [True, False])
async def test_what_is_said_twice_stays_twice_however_often_it_is_told(
    at_noon: Services, told_first: bool
) -> None:
    """F77: a third account in that session is one of them again, elsewhere it is another turn."""
    said = [turn("Yes.", name, role=Role.USER, human=True) for name in "ab"]
    if not told_first:
        assert await storing(at_noon).keep(said) == {Kept.STORED: 2}
    for session in ("s1", "s1", "s1", "s2"):
        await hand_over(at_noon, "yes", session=session)
    if told_first:
        assert await storing(at_noon).keep(said) == {Kept.STORED: 2}
    assert sorted(trust for _, trust in await shown(at_noon)) == ["agent", "owner", "owner"]


async def test_handing_a_captured_turn_over_again_gives_the_same_answer(at_noon: Services) -> None:
    """F77: what was said and handed over once more meanwhile is still a turn of its own."""
    said = [turn("We ship.", name, role=Role.USER, human=True) for name in "ab"]
    assert await storing(at_noon).store(said[0]) is Kept.STORED
    answers = [await hand_over(at_noon, "we ship") for _ in range(3)]
    assert {(one.id, one.duplicate) for one in answers} == {(answers[0].id, True)}
    assert await shown(at_noon) == [("We ship.", Trust.OWNER)]
    assert await storing(at_noon).store(said[1]) is Kept.STORED
    assert await shown(at_noon) == [("We ship.", Trust.OWNER)] * 2
    assert (await hand_over(at_noon, "we ship")).duplicate
    later = await hand_over(at_noon, "we ship", occurred_at=NOON + TOLD_WITHIN * 1.1)
    assert not later.duplicate


async def test_what_was_broken_off_before_the_account_gave_way_is_made_up_for(
    at_noon: Services,
) -> None:
    """A19: killed after the turn was committed; the transcript is read again."""
    said = turn("The heron came back.", "a", role=Role.USER, human=True)
    assert await storing(at_noon).store(said) is Kept.STORED
    await tell(at_noon, "The heron came back.", role=Role.USER)
    assert len(await shown(at_noon)) == 2
    assert await storing(at_noon).store(said) is Kept.DUPLICATE
    assert await shown(at_noon) == [("The heron came back.", Trust.OWNER)]


async def test_told_and_captured_at_once_one_is_shown(at_noon: Services) -> None:
    """A10: whoever commits second sees the other."""
    for n in range(10):
        said = turn(f"Number {n}.", f"n{n}", role=Role.USER, human=True)
        await asyncio.gather(
            storing(at_noon).store(said),
            hand_over(at_noon, f"Number {n}."),
            hand_over(at_noon, f"Number {n}.", device="desktop"),
        )
    trusts = [trust for _, trust in await shown(at_noon)]
    assert (trusts.count(Trust.OWNER), trusts.count(Trust.AGENT)) == (10, 10)


@pytest.mark.parametrize(
    "change",
    [
        {"device": "desktop"},
        {"platform": "codex"},
        {"role": Role.ASSISTANT},
        {"subagent": True},
        {"occurred_at": NOON - TOLD_WITHIN - timedelta(seconds=1)},
        {"session": "another session that is captured"},
        {"text": "We ship on Friday?"},
        {"source": "manage_knowledge", "store_id": "hot", "native_id": "1"},
    ],
)
async def test_an_account_of_something_else_stays(
    at_noon: Services, change: dict[str, object]
) -> None:
    await beat(at_noon.database, "s1", "another session that is captured")
    text = str(change.pop("text", "We ship on Friday."))
    said = turn("We ship on Friday.", "a", role=Role.USER, human=True)
    assert await storing(at_noon).store(said) is Kept.STORED
    told = await hand_over(at_noon, text, **change)
    assert not told.duplicate
    # Read again, which looks once more.
    assert await storing(at_noon).store(said) is Kept.DUPLICATE
    async with at_noon.database.acquire() as connection:
        [view] = await messages.list_messages(connection, [told.id], at_noon.user_id, outdated=True)
    assert view.screening is Screening.UNSCREENED


async def test_a_pinned_account_stays(at_noon: Services, owner_database: Database) -> None:
    reported = await tell(at_noon, "We ship on Friday.", role=Role.USER)
    async with owner_database.acquire() as connection:
        await connection.execute(
            "UPDATE message_state SET pinned = true WHERE message_id = $1", reported
        )
    said = turn("We ship on Friday.", "a", role=Role.USER, human=True)
    assert await storing(at_noon).store(said) is Kept.STORED
    assert len(await shown(at_noon)) == 2


async def test_the_running_role_hides_an_account_in_favour_of_its_turn_only(
    at_noon: Services, hot_database: Database
) -> None:
    """F77: not for nothing, nor for another account, nor for a turn of others."""
    said = await at_noon.say("Yes.", source="claude-code", store_id="any", native_id="a")
    elsewhere = await at_noon.say(
        "Yes.", source="codex", store_id="any", native_id="b", platform="codex"
    )
    first, second = [await tell(at_noon, "Yes.", role=Role.USER) for _ in range(2)]

    async def withdraw(successor: int | None, message_id: int = first) -> bool:
        async with hot_database.acquire() as connection:
            return await withdrawals.withdraw(connection, message_id, successor)

    assert not await withdraw(None)
    assert not await withdraw(second)
    assert not await withdraw(elsewhere.id)
    assert await withdraw(said.id)
    assert not await withdraw(said.id)
    assert not await withdraw(said.id, second)


async def test_what_the_owner_wrote_by_hand_stands_for_the_captured_turn(
    at_noon: Services,
) -> None:
    await tell(at_noon, "The harbor closes.", role=Role.USER, trust=Trust.OWNER)
    said = turn("The harbor closes.", "a", role=Role.USER, human=True)
    assert await storing(at_noon).store(said) is Kept.COLLAPSED


@pytest.mark.parametrize(
    "change",
    [
        {"device": "desktop"},
        {"platform": "codex"},
        {"role": Role.USER},
        {"origin": Origin.IMPORTED},
    ],
)
async def test_what_was_told_elsewhere_or_by_another_is_another_turn(
    at_noon: Services, change: dict[str, object]
) -> None:
    await tell(at_noon, "Done.", **change)
    assert await storing(at_noon).store(turn("Done.", "a")) is Kept.STORED


async def test_what_was_told_at_another_time_is_another_turn(at_noon: Services) -> None:
    await tell(at_noon, "Done.")
    early = NOON - TOLD_WITHIN - timedelta(seconds=1)
    assert await storing(at_noon).store(turn("Done.", "a", occurred_at=early)) is Kept.STORED


async def test_two_readers_of_one_transcript_collapse_a_turn_together(at_noon: Services) -> None:
    """A10: whoever comes second, nothing is stored twice."""
    await tell(at_noon, "Done.")
    outcomes = await asyncio.gather(*(storing(at_noon).store(turn("Done.", "a")) for _ in range(6)))
    assert set(outcomes) <= {Kept.COLLAPSED, Kept.DUPLICATE}
    assert await count(at_noon) == 1


async def test_many_turns_at_once_are_settled_each_as_it_would_be_alone(
    at_noon: Services, hot_database: Database
) -> None:
    """F75, F77: known, repeated, told and new ones in one transaction; the new keep their order."""
    assert await storing(at_noon).keep([turn("Known.", "a")]) == {Kept.STORED: 1}
    await tell(at_noon, "Told.")
    records = [
        turn("First.", "b"),
        turn("Known.", "a"),
        turn("Told.", "c"),
        turn("First.", "b"),
        turn("Told.", "d", occurred_at=NOON + 2 * TOLD_WITHIN),
        turn(" ", "e"),
        *(turn(f"Number {n}.", f"n{n}", role=Role.USER) for n in range(250)),
    ]
    stored = {Kept.STORED: 252, Kept.DUPLICATE: 2, Kept.COLLAPSED: 1, Kept.REFUSED: 1}
    assert await storing(at_noon).keep(records) == stored
    async with hot_database.acquire() as connection:
        rows = await connection.fetch(
            "SELECT message FROM messages JOIN message_state ON message_id = messages.id "
            "JOIN work ON item_id = messages.id WHERE stage = 'screen' ORDER BY messages.id"
        )
    said = [row["message"] for row in rows]
    assert said == ["Known.", "Told.", "First.", "Told.", *(f"Number {n}." for n in range(250))]
    again = {Kept.DUPLICATE: 255, Kept.REFUSED: 1}
    assert await storing(at_noon).keep(records) == again


async def test_readers_of_the_same_many_turns_store_each_once(use: Services) -> None:
    records = [turn(f"Number {n}.", f"n{n}") for n in range(60)]
    outcomes = await asyncio.gather(*(storing(use).keep(records) for _ in range(4)))
    assert sum(outcome[Kept.STORED] for outcome in outcomes) == 60
    assert await count(use) == 60


async def test_what_the_database_will_never_take_stops_nothing_else(
    use: Services, owner_database: Database
) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute("ALTER TABLE messages ADD CHECK (message <> 'poison')")
    records = [turn("Before.", "a"), turn("poison", "b"), turn("After.", "c")]
    assert await storing(use).keep(records) == {Kept.STORED: 2, Kept.FAILED: 1}


async def test_what_the_database_cannot_take_now_is_not_given_up(
    use: Services, owner_database: Database
) -> None:
    """A25: no right, no room, no server: the turn stays where it is."""
    async with owner_database.acquire() as connection:
        await connection.execute("REVOKE INSERT ON messages FROM memory_hot")
    with pytest.raises(MemoryFault):
        await storing(use).keep([turn("Later.", "a")])
    async with owner_database.acquire() as connection:
        await connection.execute("GRANT INSERT ON messages TO memory_hot")
    assert await storing(use).keep([turn("Later.", "a")]) == {Kept.STORED: 1}


async def test_turns_without_words_once_recalled_text_is_gone_are_refused(use: Services) -> None:
    """B1: recalled text is never input."""
    records = [turn(fence("Old words.", "brief"), "a"), turn(" \u200b", "b")]
    assert await storing(use).keep(records) == {Kept.REFUSED: 2}
    assert await count(use) == 0
