"""Everything that Buzz's program is asked in a run, before anything is written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from agents_memory.domain.errors import MemoryFault
from agents_memory.storage.withdrawals import Heard
from ingest.buzz.cli import Buzz, unexpected
from ingest.buzz.pages import list_events
from ingest.buzz.plan import Placed
from ingest.buzz.rooms import list_rooms
from ingest.buzz.shapes import CHANGES, CHAT, EDIT, UNSUPPORTED, Event, Room

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


async def read_rooms(buzz: Buzz, known: Mapping[str, Heard], *, count_unsupported: bool) -> Read:
    """Reads every room down to 48 hours before its newest known message.

    Raises MemoryFault, also for a room without messages, of which some are known and standing: a
    relay that lost it, or failed quietly, must not look idle.
    """
    read = Read(await list_rooms(buzz))
    seen: set[str] = set()
    for room in read.rooms:
        heard = known.get(room.id)
        since = 0 if heard is None else int((heard.newest - LOOK_BACK).timestamp())
        messages = await list_events(buzz, room.id, (CHAT,), since)
        changes = await list_events(buzz, room.id, CHANGES, since)
        if heard is not None and not messages and heard.standing > _deleted(changes):
            raise MemoryFault(
                f"the room {room.name!r} looks emptied or lost: Buzz shows no message of it, and "
                f"{heard.standing} are known here; nothing was written. If the relay is well, and "
                "it was emptied, take this identity out of the room (docs/buzz.md)"
            )
        if any(event.id in seen for event in messages):
            raise unexpected("`buzz messages get`", "two rooms hold one message")
        seen.update(event.id for event in messages)
        read.messages += [Placed(event, room) for event in messages]
        read.changes += [Placed(event, room) for event in changes]
        if count_unsupported:
            events = await list_events(buzz, room.id, UNSUPPORTED, since)
            read.unsupported.update(event.kind for event in events)
    return read


def _deleted(changes: Sequence[Event]) -> int:
    """How many messages were deleted, not long ago."""
    return len({target for event in changes if event.kind != EDIT for target in event.targets})
