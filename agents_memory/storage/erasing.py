"""How `redact` reaches each column that may hold text.

A new table registers its columns here, or says why they need no eraser; a test finds those that do
neither. What is `REBUILT` or `DROPPED` is so in `storage/rebuilding.py`.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents_memory.domain.own_values import is_own
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection

SQL = queries.load("erasing_columns")


class Way(StrEnum):
    """What becomes of words in a column."""

    WORDS = "words"
    """Struck out where they stand: in text, in each element of an array, in each string of JSON."""
    NAME = "name"
    """The same, with a digest behind it that keeps different names different."""
    REBUILT = "rebuilt"
    """Made anew from what is left of the text it was made from."""
    DROPPED = "dropped"
    """The row goes; the daemon makes a new one."""
    REPORTED = "reported"
    """Counted and left: others refer to it by this very name."""
    EXEMPT = "exempt"
    """Never holds what anybody said."""


@dataclass(frozen=True, slots=True)
class Column:
    """The way of one column; `why` where it is not changed.

    `shared`: beside what others write there stand values of ours, which stay (`own_values`).
    """

    way: Way
    why: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table, and which one (a number) tells what a row belongs to."""

    key: str
    columns: Mapping[str, Column]

    def of(self, *ways: Way) -> list[str]:
        """The columns that are reached in one of these ways."""
        return [name for name, column in self.columns.items() if column.way in ways]


_WORDS, _NAME = Column(Way.WORDS), Column(Way.NAME)
_SHARED_WORDS, _SHARED_NAME = Column(Way.WORDS, shared=True), Column(Way.NAME, shared=True)
_REBUILT, _DROPPED = Column(Way.REBUILT), Column(Way.DROPPED)
_CLOSED = Column(Way.EXEMPT, "one of a few words of ours")
_OURS = Column(Way.EXEMPT, "a name that this program gives")
_KEYED = Column(Way.EXEMPT, "a digest keyed with the secret of the pool")

_VECTORS = {
    "content_hash": _DROPPED,
    "platform": _DROPPED,
    "role": _CLOSED,
    "device": _DROPPED,
    "venue": _DROPPED,
    "embedding": _DROPPED,
}
MESSAGE_VECTORS, MEMORY_VECTORS = "message_vectors_", "memory_vectors_"
SUMMARY_VECTORS = "summary_vectors_"

TABLES: Mapping[str, Table] = {
    "pool": Table(
        "only_one", {"min_client": _OURS, "hmac_key": Column(Way.EXEMPT, "the secret itself")}
    ),
    "schema_migrations": Table("version", {"name": _OURS, "checksum": _OURS}),
    "users": Table(
        "id", {"name": Column(Way.REPORTED, "settings name a user by it; rename both by hand")}
    ),
    "project_tags": Table(
        "id",
        {
            "name": Column(
                Way.REPORTED, "messages and memories are filed under it; rename it by hand"
            ),
            "description": _WORDS,
            "kind": _CLOSED,
            "origin": _CLOSED,
        },
    ),
    "messages": Table(
        "id",
        {
            "platform": _SHARED_WORDS,
            "model": _WORDS,
            "subagent_model": _WORDS,
            "subagent_role": _WORDS,
            "device": _WORDS,
            "venue": _WORDS,
            "session": _NAME,
            "role": _CLOSED,
            "message": _WORDS,
            "raw_message": _WORDS,
            "origin": _CLOSED,
            "trust": _CLOSED,
            "cwd": _WORDS,
            "project_hint": _WORDS,
            "source": _SHARED_NAME,
            "store_id": _SHARED_NAME,
            "native_id": _NAME,
            "lexemes": _REBUILT,
        },
    ),
    "message_state": Table("message_id", {"d_tags": _WORDS, "screening": _CLOSED}),
    "message_results": Table("message_id", {"stage": _OURS, "backend": _OURS, "detail": _WORDS}),
    "message_context": Table("message_id", {"lexemes": _DROPPED}),
    "work": Table("item_id", {"stage": _OURS, "last_error": _WORDS, "parked_reason": _WORDS}),
    "jobs": Table("id", {"kind": _OURS, "request": _WORDS, "result": _WORDS}),
    "embedding_models": Table("id", {"profile": _OURS}),
    "lexeme_stats": Table("documents", {"lexeme": _DROPPED}),
    "patches": Table(
        "id",
        {
            "actor": _SHARED_NAME,
            "tool": _SHARED_WORDS,
            "reason": _WORDS,
            "idempotency_key": _NAME,
            "payload_hmac": _KEYED,
            "diff": _REBUILT,
        },
    ),
    "patch_operations": Table("patch_id", {"operation": _CLOSED, "diff": _REBUILT}),
    "memories": Table(
        "id",
        {
            "scope": _SHARED_NAME,
            "platform": _SHARED_WORDS,
            "subject": _SHARED_WORDS,
            "attribute": _WORDS,
            "content": _WORDS,
            "content_key": _REBUILT,
            "kind": _CLOSED,
            "affect": _CLOSED,
            "trust": _CLOSED,
            "status": _CLOSED,
            "tags": _WORDS,
            "lexemes": _REBUILT,
        },
    ),
    "memory_versions": Table(
        "memory_id",
        {
            "subject": _SHARED_WORDS,
            "attribute": _WORDS,
            "content": _WORDS,
            "kind": _CLOSED,
            "trust": _CLOSED,
            "status": _CLOSED,
            "tags": _WORDS,
        },
    ),
    "profiles": Table("id", {"kind": _CLOSED, "content": _WORDS}),
    "profile_versions": Table("profile_id", {"content": _WORDS}),
    "persona_proposals": Table(
        "id",
        {
            "kind": _CLOSED,
            "content": _WORDS,
            "trust": _CLOSED,
            "backend": _OURS,
            "status": _CLOSED,
            "decided_by": _WORDS,
        },
    ),
    "tag_summaries": Table(
        "id",
        {
            "kind": _CLOSED,
            "session": _NAME,
            "platform": _SHARED_WORDS,
            "trust": _CLOSED,
            "status": _CLOSED,
            "content": _WORDS,
            "backend": _OURS,
            "unanswered": _CLOSED,
            "asked": _OURS,
            "lexemes": _REBUILT,
        },
    ),
    "sources": Table("item_id", {"quote": _WORDS}),
    "recall_log": Table(
        "id",
        {
            "session": _NAME,
            "platform": _SHARED_WORDS,
            "device": _WORDS,
            "project": _WORDS,
        },
    ),
    "traces": Table("item_id", {"kind": _CLOSED, "session": _NAME}),
    "edges": Table("from_id", {"kind": _CLOSED}),
    "leader": Table("epoch", {"holder": _WORDS}),
    "audit_log": Table("id", {"actor": _WORDS, "device": _WORDS, "action": _CLOSED}),
    "tag_suggestions": Table(
        "id",
        {
            "kind": _CLOSED,
            "name": _NAME,
            "description": _WORDS,
            "reasons": Column(Way.EXEMPT, "numbers, ids and labels of ours"),
            "judged_by": _WORDS,
            "status": _CLOSED,
            "decided_by": _WORDS,
        },
    ),
    "tag_changes": Table(
        "id", {"actor": _SHARED_WORDS, "device": _WORDS, "via": _CLOSED, "action": _CLOSED}
    ),
    "retags": Table("id", {"actor": _WORDS, "device": _WORDS, "way": _CLOSED, "d_tag": _WORDS}),
    "captures": Table(
        "beat_at",
        {
            "device": _DROPPED,
            "client": Column(Way.DROPPED, shared=True),
            "session": _DROPPED,
        },
    ),
    "collapsed_turns": Table(
        "message_id", {"source": _SHARED_NAME, "store_id": _SHARED_NAME, "native_id": _NAME}
    ),
    "tombstones": Table("id", {"kind": _CLOSED, "digest": _KEYED}),
    "model_calls": Table(
        "id", {"provider": _CLOSED, "model": _WORDS, "role": _CLOSED, "outcome": _CLOSED}
    ),
    "budgets": Table("requests", {"provider": _CLOSED}),
    "provider_holds": Table("times", {"provider": _CLOSED, "reason": _WORDS}),
    MESSAGE_VECTORS: Table("message_id", _VECTORS),
    MEMORY_VECTORS: Table(
        "memory_id", {name: _VECTORS[name] for name in ("content_hash", "platform", "embedding")}
    ),
    SUMMARY_VECTORS: Table(
        "summary_id", {name: _VECTORS[name] for name in ("content_hash", "embedding")}
    ),
}


def table_of(name: str) -> Table | None:
    """How a table is reached; the tables of all models are reached alike."""
    for prefix in (MESSAGE_VECTORS, MEMORY_VECTORS, SUMMARY_VECTORS):
        if name.startswith(prefix):
            return TABLES[prefix]
    return TABLES.get(name)


@dataclass(frozen=True, slots=True)
class Erased:
    """A value that was changed, and the row it stands in."""

    item: Any
    before: Any
    after: Any


async def erase_column(
    connection: Connection, table: str, column: str, erase: Callable[[Any], Any]
) -> list[Erased]:
    """Writes what `erase` makes of each value of a column, where it differs and is not ours."""
    rows = [
        (place, Erased(item, before, after))
        async for place, item, before in _values(connection, table, column)
        if (after := erase(before)) != before
    ]
    sql = SQL["write_value"].render(table=table, column=column)
    await connection.executemany(sql, [(place, one.after) for place, one in rows])
    return [one for _, one in rows]


async def drop_rows(
    connection: Connection, table: str, column: str, hit: Callable[[Any], bool]
) -> int:
    """Deletes the rows whose value is hit and not ours."""
    places = [place async for place, _, value in _values(connection, table, column) if hit(value)]
    await connection.execute(SQL["drop_rows"].render(table=table), places)
    return len(places)


async def count_hits(
    connection: Connection, table: str, column: str, hit: Callable[[Any], bool]
) -> int:
    """How many values of a column are hit; nothing is changed."""
    return len([1 async for _, _, value in _values(connection, table, column) if hit(value)])


async def _values(
    connection: Connection, table: str, column: str
) -> AsyncIterator[tuple[str, Any, Any]]:
    shared = TABLES[table].columns[column].shared
    sql = SQL["list_values"].render(table=table, column=column, key=TABLES[table].key)
    async for row in connection.cursor(sql, prefetch=1_000):
        if not (shared and is_own(column, row["value"])):
            yield row["place"], row["item"], row["value"]
