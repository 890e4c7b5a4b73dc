"""Finds memories by their words alone: every word must be there, in any script, without a model."""

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.lexical import query_terms, to_tsquery_literal
from agents_memory.domain.memories import MemoryView
from agents_memory.domain.patch_refusals import unknown_memory
from agents_memory.domain.text import repair
from agents_memory.services.history import MAX_ID
from agents_memory.storage import memories
from agents_memory.storage.connections import Connection, Database

MAX_QUERY_CHARS = 1_000
MAX_LIMIT = 100


class MemorySearch:
    """Reads memories as they are now, removed ones when asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(
        self,
        query: str,
        user_id: int,
        *,
        subject: str | None = None,
        include_removed: bool = False,
        private: bool = False,
        limit: int = 20,
    ) -> tuple[MemoryView, ...] | Refusal:
        """Up to `limit` (1..100) memories that hold every word of the query, the best first.

        `subject`, in any case, must be the whole one; `private` ones are for the owner. Refuses
        with INVALID_QUERY when there is no word in the query, or more than 1,000 characters.
        """
        terms = query_terms(repair(query[:MAX_QUERY_CHARS]).text)
        if not terms or len(query) > MAX_QUERY_CHARS:
            return Refusal(
                Code.INVALID_QUERY,
                f"a query is one word or more, at most {MAX_QUERY_CHARS} characters; "
                "name what the memory is about",
            )
        wanted = " & ".join(to_tsquery_literal([term]) for term in terms)

        async def load(connection: Connection) -> tuple[MemoryView, ...]:
            ids = await memories.search_memories(
                connection,
                user_id,
                wanted,
                subject=None if subject is None else " ".join(repair(subject).text.split()),
                include_removed=include_removed,
                private=private,
                limit=max(1, min(limit, MAX_LIMIT)),
            )
            found = await memories.list_memories(
                connection, ids, user_id, grounded=True, private=private
            )
            return tuple(found)

        return await self._database.run(load)

    async def read(
        self, memory_id: int, user_id: int, *, private: bool = False
    ) -> MemoryView | Refusal:
        """A memory as it is now, whatever its status; refuses with UNKNOWN_MEMORY.

        That a `private` one is there is for the owner to know.
        """

        async def load(connection: Connection) -> list[MemoryView]:
            return await memories.list_memories(connection, [memory_id], user_id, private=private)

        found = await self._database.run(load) if 0 < memory_id <= MAX_ID else []
        return found[0] if found else unknown_memory(memory_id)
