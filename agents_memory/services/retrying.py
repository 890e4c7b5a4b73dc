"""Work that failed or was parked, asked for again."""

from collections import Counter

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.storage import health, holds, work
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import send_hint


async def retry(
    database: Database, *, item_id: int | None = None, stage: str | None = None
) -> Counter[str] | Refusal:
    """Makes what failed or is parked due now with no attempt counted; rows by stage.

    Of one item, of one stage, or of all, which also lets every provider of models be asked at once.
    It is no write of a term and so not fenced: what the
    daemon is at right now is left to it. A quarantined message has no work, so this releases none.
    Raises ConfigurationError unless `database` signs in as the cold role or the owner.
    """
    async with database.transaction() as connection:
        if await health.list_missing_rights(connection, database.schema, [("work", "UPDATE")]):
            raise ConfigurationError(
                "this user of the database may not change the queue; set COLD_DATABASE_URL to sign "
                "in as the daemon does"
            )
        done = await work.retry_work(connection, item_id=item_id, stage=stage)
        if item_id is None and stage is None:
            await holds.delete_holds(connection)
        if done:
            await send_hint(connection, database.schema)
    if item_id is not None and not done:
        return Refusal(
            Code.UNKNOWN_ITEM,
            f"no work on {item_id} failed or is parked; `mcp-agents-memory receipt {item_id}` says "
            "how far it has come",
            {"id": item_id},
        )
    return done
