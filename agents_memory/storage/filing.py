"""Under which projects messages may be filed, and who filed them so far."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("filing")

NEWEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A project that a message may be filed under."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Filing:
    """How far a message has come: `attempts` counts this one, `by_model` that one filed it."""

    attempts: int = 1
    private: bool = False
    by_model: bool = False


UNFILED = Filing()


async def list_choices(connection: Connection, limit: int) -> tuple[Choice, ...]:
    """Projects of the registry without aliases, the fullest first.

    A name that only private, unscreened or held-back messages know is not among them.
    """
    rows = await connection.fetch(SQL["list_choices"].sql, limit)
    return tuple(Choice(row["name"], row["description"]) for row in rows)


async def list_filings(
    connection: Connection, ids: Sequence[int], version: int
) -> dict[int, Filing]:
    """By message; `version`: what an older version of a model's pass filed does not count."""
    rows = await connection.fetch(SQL["list_filings"].sql, list(ids), version)
    return {
        row["message_id"]: Filing(row["attempts"], row["private"], row["by_model"]) for row in rows
    }


async def queue_filed_by_rules(
    connection: Connection, below: int, limit: int, *, model: str | None, version: int
) -> list[int]:
    """Asks for the stage `tag` anew where only rules were: ids, newest first, all under `below`.

    What `model` itself was asked about in vain, in this version of its pass, is left out; all that
    any was, where its name is not known.
    """
    rows = await connection.fetch(SQL["queue_filed_by_rules"].sql, below, limit, model, version)
    return sorted((row["item_id"] for row in rows), reverse=True)


async def queue_unanswered(connection: Connection, message_id: int) -> bool:
    """Asks for the stage `tag` anew where rules filed a message because a model could not."""
    return await connection.fetchval(SQL["queue_unanswered"].sql, message_id) is not None


async def queue_rejected(connection: Connection) -> int:
    """The same of all messages about which a provider took no question; how many there are."""
    tag = await connection.execute(SQL["queue_rejected"].sql)
    # The command tag reads `INSERT 0 <rows>`.
    return int(tag.rpartition(" ")[2])


async def count_waiting(connection: Connection, most: int) -> int:
    """How many messages wait for the stage `tag`; `most` when there are more."""
    return int(await connection.fetchval(SQL["count_waiting"].sql, most))
