"""Tombstones: what was erased, as digests that every process knows within a minute."""

from collections.abc import Sequence

from agents_memory.clock import Clock
from agents_memory.domain.phrases import Span
from agents_memory.domain.tombstones import LABELS, NAMES, Tombstones
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("tombstones")

REFRESH_S = 60.0


class KnownTombstones:
    """The tombstones as one process knows them: read at the first look, and when a minute old."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: Tombstones | None = None
        self._read_at = 0.0

    async def now(self, connection: Connection) -> Tombstones:
        """What must not be stored again; one short read a minute, else from memory."""
        if self._known is None or self._clock.monotonic() - self._read_at >= REFRESH_S:
            read_at = self._clock.monotonic()
            self._known = await list_tombstones(connection)
            self._read_at = read_at
        return self._known


async def find_key(connection: Connection) -> bytes:
    """The secret of the pool that keys digests."""
    return bytes(await connection.fetchval(SQL["find_key"].sql))


async def list_tombstones(connection: Connection) -> Tombstones:
    """All tombstones of the pool."""
    rows = await connection.fetch(SQL["list_tombstones"].sql)
    if not rows:
        return Tombstones(b"", (), frozenset())
    return Tombstones(
        await find_key(connection),
        tuple((row["words"], row["digest"]) for row in rows if row["words"] is not None),
        frozenset(row["digest"] for row in rows if row["kind"] == "turn"),
    )


async def insert_phrase(connection: Connection, digest: bytes, words: int) -> None:
    """A phrase of so many words must not come in again; only the owner may say so."""
    await connection.execute(SQL["insert_tombstone"].sql, "phrase", digest, words)


async def insert_turn(connection: Connection, digest: bytes) -> None:
    """A turn or a statement must not come in again, whatever its id; only the owner may say so."""
    await connection.execute(SQL["insert_tombstone"].sql, "turn", digest, None)


async def list_fields(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, str]]:
    """For each message its labels, names and raw text, as far as there are any."""
    rows = await connection.fetch(SQL["list_fields"].sql, list(ids))
    wanted = (*LABELS, *NAMES, "raw_message")
    return {row["id"]: {f: row[f] for f in wanted if row[f] is not None} for row in rows}


async def strike_message(
    connection: Connection,
    message_id: int,
    *,
    spans: Sequence[Span],
    fields: Sequence[str],
    lexemes: str,
    lexeme_count: int,
) -> bool:
    """Takes places out of a message and empties some of its labels; its raw text goes.

    False when somebody has screened it already.
    """
    return bool(
        await connection.fetchval(
            SQL["strike_message"].sql,
            message_id,
            [start + 1 for start, _ in spans],
            [end - start for start, end in spans],
            list(fields),
            lexemes,
            lexeme_count,
        )
    )
