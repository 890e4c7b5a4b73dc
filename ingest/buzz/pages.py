"""All events of a room that are young enough, page by page, from the newest to the oldest."""

from collections.abc import Sequence
from datetime import UTC, datetime

from agents_memory.domain.errors import MemoryFault
from ingest.buzz.cli import Buzz, unexpected
from ingest.buzz.shapes import Event, events_of

PAGE = 200
MOST_PAGES = 500
_NAME = "`buzz messages get`"


async def list_events(buzz: Buzz, room: str, kinds: Sequence[int], since: int) -> list[Event]:
    """The events of these kinds since a time (seconds), the oldest first.

    A page says neither in what order it is nor whether more follows. So each overlaps the one
    before by a second, and one that does not hold what was seen there is no answer: the relay may
    have failed quietly. Raises MemoryFault for that, for more than 500 pages, and for a second of
    which a page shows only a part: the bound is in seconds, and there is no other.
    """
    words = ["messages", "get", "--channel", room, "--limit", str(PAGE)]
    words += ["--kinds", ",".join(map(str, kinds))]
    found: dict[str, Event] = {}
    before: int | None = None
    for _ in range(MOST_PAGES):
        bound = [] if before is None else ["--before", str(before)]
        page = events_of(_NAME, await buzz.ask(*words, *bound), kinds)
        oldest = min((event.at for event in page), default=None)
        if len(page) > PAGE or any(before is not None and e.at > before for e in page):
            raise unexpected(_NAME, "a page holds more than was asked for")
        if before is not None and (oldest is None or not any(e.id in found for e in page)):
            raise unexpected(_NAME, "a page does not go on where the one before ended")
        for event in page:
            if found.setdefault(event.id, event) != event:
                raise unexpected(_NAME, "an event has changed between two pages")
        if oldest is None or len(page) < PAGE or oldest < since:
            young = (event for event in found.values() if event.at >= since)
            return sorted(young, key=lambda event: event.order)
        if before == oldest and len(kinds) > 1:
            alone = [await list_events(buzz, room, (kind,), since) for kind in kinds]
            return sorted((e for events in alone for e in events), key=lambda event: event.order)
        if before == oldest:
            raise _crowded(room, oldest)
        # Both seconds may fill a page together, and not each alone.
        before = oldest + 1 if before is None or oldest + 1 < before else oldest
    raise MemoryFault(
        f"a room holds more than {MOST_PAGES} pages of events; nothing was written. Leave the room "
        "with this identity, or bring its beginning in from an export"
    )


def _crowded(room: str, second: int) -> MemoryFault:
    return MemoryFault(
        f"the room {room} holds {PAGE} events or more of one second "
        f"({datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S} UTC), of which Buzz's program "
        "shows no more; nothing was written. Have a moderator delete some of them, or take this "
        "identity out of the room: the others come in then (docs/buzz.md)"
    )
