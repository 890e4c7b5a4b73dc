"""Everything that Buzz's program is asked in a run, before anything is written."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ingest.buzz.cli import Buzz, unexpected
from ingest.buzz.pages import list_events
from ingest.buzz.plan import Placed
from ingest.buzz.rooms import list_rooms
from ingest.buzz.shapes import CHANGES, CHAT, UNSUPPORTED, Room

# What comes in late by more than this is not looked for.
LOOK_BACK = timedelta(hours=48)


@dataclass(slots=True)
class Read:
    """The rooms, and their messages and changes that are young enough.

    `unsupported` counts events of kinds that are not taken in, where it was asked for.
    """

    rooms: list[Room]
    messages: list[Placed] = field(default_factory=list)
    changes: list[Placed] = field(default_factory=list)
    unsupported: Counter[int] = field(default_factory=Counter)


async def read_rooms(
    buzz: Buzz, newest: Mapping[str, datetime], *, count_unsupported: bool
) -> Read:
    """Reads every room down to 48 hours before its newest known message. Raises MemoryFault."""
    read = Read(await list_rooms(buzz))
    seen: set[str] = set()
    for room in read.rooms:
        known = newest.get(room.id)
        since = 0 if known is None else int((known - LOOK_BACK).timestamp())
        messages = await list_events(buzz, room.id, (CHAT,), since)
        changes = await list_events(buzz, room.id, CHANGES, since)
        if any(event.id in seen for event in messages):
            raise unexpected("`buzz messages get`", "two rooms hold one message")
        seen.update(event.id for event in messages)
        read.messages += [Placed(event, room) for event in messages]
        read.changes += [Placed(event, room) for event in changes]
        if count_unsupported:
            events = await list_events(buzz, room.id, UNSUPPORTED, since)
            read.unsupported.update(event.kind for event in events)
    return read
