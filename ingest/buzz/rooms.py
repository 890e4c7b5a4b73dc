"""The rooms that the identity is a member of."""

from agents_memory.domain.errors import MemoryFault
from ingest.buzz.cli import Buzz, unexpected
from ingest.buzz.shapes import Room, rooms_of

# The program's own limit: a list that long may be cut.
_CUT = 500


async def list_rooms(buzz: Buzz) -> list[Room]:
    """Every room, and whether it is private, which the listing itself does not say.

    Raises MemoryFault, also when there is none: a lost membership must not look like a quiet day.
    """
    name = "`buzz channels list`"
    known = rooms_of(name, await buzz.ask("channels", "list", "--member"))
    if not known:
        raise MemoryFault(
            "this identity is a member of no room, or the relay failed quietly; nothing was "
            "written. Have it invited to a room, or check BUZZ_PRIVATE_KEY and BUZZ_RELAY_URL"
        )
    private = rooms_of(
        name, await buzz.ask("channels", "list", "--member", "--visibility", "private")
    )
    if len(known) >= _CUT:
        raise unexpected(name, f"it lists {_CUT} rooms, and more may have been cut off")
    if not private.keys() <= known.keys():
        raise unexpected(name, "a private room is not among all rooms")
    return [Room(room, title, room in private) for room, title in known.items()]
