"""What a message's state may be is held by the database: at its beginning, and when it changes."""

import asyncpg
import pytest

from agents_memory.storage.connections import Connection, Database
from tests.factories import Services

LEGAL = (
    "importance = 1, valence = -1, intensity = 0",
    "importance = 10, valence = 1, intensity = 1",
    "pinned = true",
    "archived_at = now()",
    "screening = 'quarantined'",
    "importance = NULL, valence = NULL, intensity = NULL",
)
ILLEGAL = (
    "importance = 0",
    "importance = 11",
    "valence = -1.5",
    "valence = 'NaN'",
    "intensity = 1.01",
    "intensity = -0.1",
    "screening = 'fine'",
    "pinned = true, archived_at = now()",
)


async def _try(database: Database, statement: str, message_id: int) -> None:
    """Runs it and takes it back; raises what the driver raises."""

    async def run(connection: Connection) -> None:
        attempt = connection.transaction()
        await attempt.start()
        try:
            await connection.execute(statement, message_id)
        finally:
            await attempt.rollback()

    connection = await database.connect()
    try:
        await run(connection)
    finally:
        await connection.close()


@pytest.mark.parametrize("change", LEGAL)
async def test_a_state_changes_within_its_bounds(
    use: Services, cold_database: Database, change: str
) -> None:
    """F70"""
    stored = await use.say("We use tabs here.")
    await _try(cold_database, f"UPDATE message_state SET {change} WHERE message_id = $1", stored.id)


@pytest.mark.parametrize("change", ILLEGAL)
async def test_no_change_leaves_the_bounds(
    use: Services, cold_database: Database, change: str
) -> None:
    """F70, I5"""
    stored = await use.say("We use tabs here.")
    with pytest.raises(asyncpg.CheckViolationError, match=str(stored.id)):
        await _try(
            cold_database, f"UPDATE message_state SET {change} WHERE message_id = $1", stored.id
        )


async def test_a_state_begins_with_its_defaults(
    use: Services, hot_database: Database, cold_database: Database
) -> None:
    """F70: no runtime role may give more than the id."""
    stored = await use.say("We use tabs here.")
    for database in (hot_database, cold_database):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await _try(
                database,
                "INSERT INTO message_state (message_id, screening) VALUES ($1, 'clear')",
                stored.id,
            )
