"""What an agent hands over, and capture reads as well: one turn, of which one message is shown."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agents_memory.domain.messages import Accepted, Stored
from agents_memory.domain.text import content_key
from agents_memory.domain.trust import at_least
from agents_memory.services.intake import Intake
from agents_memory.storage import captures, withdrawals
from agents_memory.storage.captures import Twice
from agents_memory.storage.connections import Connection, Database

# An agent hands a turn over while it works on it: within this time of its being said, either way.
TOLD_WITHIN = timedelta(minutes=10)


class Told:
    """The way in for turns that an agent hands over."""

    def __init__(self, database: Database, intake: Intake) -> None:
        self._database = database
        self._intake = intake

    async def store(self, turn: Accepted, user_id: int, *, within_s: float | None = None) -> Stored:
        """Stores an accepted turn as `Intake.insert` does; where it was captured too, the captured
        message is shown and answered with, as a duplicate.

        Safe to repeat. Raises DatabaseUnavailable when the database stays away for `within_s`
        seconds, each time it is asked.
        """
        stored = await self._intake.insert(turn, user_id, within_s=within_s)
        at = _told_at(turn, stored)
        gone = await give_way(self._database, user_id, [(at, at)], within_s=within_s)
        return _standing(stored, gone)

    async def store_many(self, turns: Sequence[Accepted], user_id: int) -> list[Stored]:
        """Stores accepted turns in their order, each as `store` does."""
        stored = await self._intake.insert_many(turns, user_id)
        times = {_told_at(turn, one) for turn, one in zip(turns, stored, strict=True)}
        spans = [(at, at) for at in sorted(times)]
        gone = await give_way(self._database, user_id, spans)
        return [_standing(one, gone) for one in stored]


async def give_way(
    database: Database,
    user_id: int,
    spans: Sequence[tuple[datetime, datetime]],
    *,
    within_s: float | None = None,
) -> dict[int, int]:
    """Hides what agents handed over within `spans` and capture read as well; what stands for each.

    Asked after either of them is committed, so that whoever comes second sees the other, and what
    was broken off is made up for by the next. Nothing is deleted. No two spans overlap.
    """

    around = apart((since - TOLD_WITHIN, until + TOLD_WITHIN) for since, until in spans)

    async def hide(connection: Connection) -> dict[int, int]:
        # Nearly always there is none, and this is the cheapest way to know.
        for span in around:
            if await captures.any_captured(connection, user_id, *span):
                break
        else:
            return {}
        near = await captures.list_told_twice(connection, user_id, spans, around, TOLD_WITHIN)
        pairs = await asyncio.to_thread(same_turns, near) if near else {}
        return {
            told: said
            for told, said in pairs.items()
            if await withdrawals.withdraw(connection, told, said)
        }

    return await database.run(hide, within_s=within_s)


def same_turns(near: Sequence[Twice]) -> dict[int, int]:
    """Which captured turn each told one is the account of: the same words, trusted no less.

    Each has a captured turn of its own where there is one, so that what was said twice stays said
    twice. One for which there is none is what its session handed over before: its answer got lost.
    """
    # Once a text, which may have megabytes, however many pairs it is in.
    texts = {one.told_id: one.told for one in near} | {one.id: one.text for one in near}
    keys = {item: content_key(text) for item, text in texts.items()}
    same = [
        one
        for one in near
        if at_least(one.trust, one.told_trust) and keys[one.told_id] == keys[one.id]
    ]
    pairs: dict[int, int] = {}
    sessions: dict[int, str | None] = {}
    for one in same:
        if not (one.has_account or one.told_id in pairs or one.id in sessions):
            pairs[one.told_id] = one.id
            sessions[one.id] = one.session
    for one in same:
        again = one.session is not None and sessions.get(one.id) == one.session
        if one.told_id not in pairs and (one.has_account or again):
            pairs[one.told_id] = one.id
    return pairs


def apart(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Spans of time with those that meet made one."""
    merged: list[tuple[datetime, datetime]] = []
    for since, until in sorted(spans):
        if merged and since <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(until, merged[-1][1])
        else:
            merged.append((since, until))
    return merged


def _told_at(turn: Accepted, stored: Stored) -> datetime:
    return turn.draft.occurred_at or stored.created_at


def _standing(stored: Stored, gone: Mapping[int, int]) -> Stored:
    if stored.id not in gone:
        return stored
    return replace(stored, id=gone[stored.id], duplicate=True)
