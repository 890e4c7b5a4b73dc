"""Use: which of the items that were shown really helped."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.domain.errors import Code, Refusal
from agents_memory.storage import traces, use
from agents_memory.storage.connections import Connection, Database

MAX_IDS = 100


@dataclass(frozen=True, slots=True)
class Cited:
    """The ids that got a use trace, by kind, and those that name nothing citable."""

    cited: dict[int, str]
    unknown: tuple[int, ...]


class Citing:
    """Records that items were used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cite(self, ids: Sequence[int], user_id: int, session: str | None) -> Cited | Refusal:
        """One use trace for each known item; an inferred one of the session becomes part of it.

        Refuses an empty list, more than 100 ids, and a list that names nothing.
        """
        wanted = sorted(set(ids))
        if not wanted or len(wanted) > MAX_IDS:
            return Refusal(Code.INVALID_INPUT, f"pass 1 to {MAX_IDS} ids of results that you used")
        storable = [number for number in wanted if 0 < number < 2**63]

        async def write(connection: Connection) -> dict[int, str]:
            known = await traces.find_citable(connection, storable, user_id)
            async with connection.transaction():
                await use.insert_cited(connection, self._database.schema, list(known), session)
            return known

        known = await self._database.run(write)
        unknown = tuple(number for number in wanted if number not in known)
        if not known:
            return Refusal(
                Code.UNKNOWN_ITEM,
                "none of these ids names a message, a memory or a summary; use the ids of search "
                "results",
                {"unknown": list(unknown)},
            )
        return Cited(known, unknown)
