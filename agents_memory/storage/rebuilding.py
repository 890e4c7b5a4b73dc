"""What follows when words were struck out: everything that was made from them is made anew."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import asyncpg

from agents_memory.domain.diffs import shown, shown_profile, unified
from agents_memory.domain.lexical import analyse, to_tsquery_literal, to_tsvector_literal
from agents_memory.domain.memories import Kind, MemoryState, Status, same_key
from agents_memory.domain.messages import Trust
from agents_memory.domain.tombstones import REPLACEMENT
from agents_memory.storage import queries, vectors
from agents_memory.storage.connections import Connection

SQL = queries.load("erasing")

EMPTIED = "nothing is left of it after a redaction"
MAX_KIN = 50
SAME = "another memory says the same after a redaction"


@dataclass(frozen=True, slots=True)
class Resting:
    """A version of a memory or a document that rests on a message.

    `alone`: whatever else it rests on was erased, or is about to be with this message.
    """

    item_id: int
    version: int
    memory: bool
    alone: bool


async def begin_term(connection: Connection) -> None:
    """Deposes the daemon, which may hold older words in its hands, and lets it wait."""
    await connection.execute(SQL["begin_term"].sql)


async def lock_changing(connection: Connection) -> None:
    """Lets everybody wait who would change a memory or a profile."""
    await connection.execute(SQL["lock_changing"].sql)


async def find_message(connection: Connection, message_id: int) -> str | None:
    """The text of a message of anybody."""
    row = await connection.fetchrow(SQL["find_message"].sql, message_id)
    return None if row is None else str(row["message"])


async def list_same_text(connection: Connection, message_id: int) -> tuple[int, ...]:
    """Other messages with the very same text."""
    return _ids(await connection.fetch(SQL["list_same_text"].sql, message_id))


async def list_kin(connection: Connection, words: str) -> tuple[int, ...]:
    """Messages and memories with other forms of erased words, the newest `MAX_KIN`."""
    lexemes = [to_tsquery_literal([lexeme]) for lexeme in analyse(words).terms]
    if not lexemes:
        return ()
    return _ids(await connection.fetch(SQL["list_kin"].sql, " & ".join(lexemes), MAX_KIN))


async def list_resting(connection: Connection, message_id: int) -> list[Resting]:
    """What rests on a message; to be asked before its words are gone."""
    rows = await connection.fetch(SQL["list_resting"].sql, message_id, REPLACEMENT)
    return [Resting(r["item_id"], r["item_version"], r["memory"], r["alone"]) for r in rows]


async def list_told_for(
    connection: Connection, memory_id: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The messages that were told for the sake of a memory alone, and its other evidence."""
    rows = await connection.fetch(SQL["list_told_for"].sql, memory_id)
    alone = tuple(row["id"] for row in rows if row["only_for_it"])
    return alone, tuple(row["id"] for row in rows if not row["only_for_it"])


async def bury_message(connection: Connection, message_id: int) -> None:
    """Leaves nothing of a message but its place, and nothing of reasons that cite it alone."""
    await connection.execute(SQL["bury_message"].sql, message_id, REPLACEMENT)
    await connection.execute(SQL["bury_reasons"].sql, message_id, REPLACEMENT)


async def list_versions(connection: Connection, memory_id: int) -> list[tuple[int, int]]:
    """Id and number of each version of a memory; none when there is no such memory."""
    rows = await connection.fetch(SQL["list_all_versions"].sql, memory_id)
    return [(row["memory_id"], row["version"]) for row in rows]


async def list_statements(
    connection: Connection, versions: Sequence[tuple[int, int]]
) -> list[tuple[str, str]]:
    """Subject and words of these versions of memories; those of which nothing is left say none."""
    ids, numbers = [one for one, _ in versions], [number for _, number in versions]
    rows = await connection.fetch(SQL["list_statements"].sql, ids, numbers, REPLACEMENT)
    return [(row["subject"], row["content"]) for row in rows]


async def list_reasons_beside(connection: Connection, item_id: int) -> tuple[int, ...]:
    """Patches of a memory, or that cite a message, whose reasons are about something else too."""
    return _ids(await connection.fetch(SQL["list_reasons_beside"].sql, item_id, REPLACEMENT))


async def bury_versions(connection: Connection, versions: Sequence[tuple[int, int]]) -> None:
    """Leaves nothing of these versions of memories, the current ones among them included."""
    ids, numbers = [one for one, _ in versions], [number for _, number in versions]
    for name in ("bury_versions", "bury_current"):
        await connection.execute(SQL[name].sql, ids, numbers, REPLACEMENT)
    await connection.execute(SQL["bury_quotes"].sql, ids, numbers)


async def bury_reasons_for(connection: Connection, memory_id: int) -> None:
    """Leaves nothing of why a memory was patched, where a patch touched nothing else."""
    await connection.execute(SQL["bury_reasons_for"].sql, memory_id, REPLACEMENT)


async def bury_proposals(connection: Connection, message_ids: Sequence[int]) -> tuple[int, ...]:
    """Leaves nothing of what was proposed for the persona from these messages; the ids."""
    rows = await connection.fetch(SQL["bury_proposals"].sql, list(message_ids), REPLACEMENT)
    return _ids(rows)


async def rebuild_lexemes(connection: Connection, message_ids: Collection[int]) -> tuple[int, ...]:
    """New lexemes for messages; the ids of those that say nothing any more and were buried."""
    buried = []
    for row in await connection.fetch(SQL["list_messages"].sql, list(message_ids)):
        if row["message"] == REPLACEMENT:
            await bury_message(connection, row["id"])
            buried.append(row["id"])
            continue
        analysis = analyse(row["message"])
        await connection.execute(
            SQL["write_lexemes"].sql,
            row["id"],
            to_tsvector_literal(analysis.terms),
            analysis.length,
        )
    return tuple(buried)


async def drop_contexts(connection: Connection, message_ids: Collection[int]) -> int:
    """Drops every context with words of these messages, and asks for new ones; how many went."""
    gone = [
        row["message_id"]
        for row in await connection.fetch(SQL["drop_contexts"].sql, list(message_ids))
    ]
    await connection.execute(SQL["queue_clear"].sql, gone, "context")
    return len(gone)


async def drop_message_vectors(connection: Connection, message_ids: Collection[int]) -> None:
    """Drops the vectors of messages in every model, and asks for new ones."""
    for model in await vectors.list_models(connection):
        for message_id in message_ids:
            await vectors.replace_message_vectors(connection, model, message_id, ())
    await connection.execute(SQL["queue_clear"].sql, list(message_ids), "embed")


async def drop_memory_vectors(connection: Connection, memory_ids: Collection[int]) -> None:
    """The same of memories."""
    for model in await vectors.list_models(connection):
        for memory_id in memory_ids:
            await vectors.replace_memory_vectors(connection, model, memory_id, ())
    await connection.execute(SQL["queue_memories"].sql, list(memory_ids))


async def rebuild_memories(connection: Connection, memory_ids: Collection[int]) -> tuple[int, ...]:
    """New keys and lexemes for memories; the ids of those that were removed.

    That is what says nothing any more, and of several that say the same now all but the oldest.
    """
    removed = []
    for row in await connection.fetch(SQL["list_memories"].sql, list(memory_ids)):
        key = same_key(row["subject"], row["content"])
        if row["status"] == Status.ACTIVE:
            reason = EMPTIED if row["content"] == REPLACEMENT else None
            same = await connection.fetchval(
                SQL["find_same"].sql, row["user_id"], row["scope"], key, row["id"]
            )
            if reason is None and same is not None:
                reason = SAME
            if reason is not None:
                await connection.execute(SQL["retire_memory"].sql, row["id"], reason)
                removed.append(row["id"])
        analysis = analyse(f"{row['subject']}\n{row['content']}")
        await connection.execute(
            SQL["write_memory_key"].sql,
            row["id"],
            key,
            to_tsvector_literal(analysis.terms),
            analysis.length,
        )
    return tuple(removed)


async def rebuild_diffs(connection: Connection, item_ids: Collection[int]) -> int:
    """The diffs of every patch that touched these items, from their versions; how many changed."""
    rows = await connection.fetch(SQL["list_operations"].sql, list(item_ids))
    shown_at = await _projections(connection, {row["item_id"] for row in rows})
    changed = 0
    for patch_id, group in groupby(rows, key=lambda row: row["patch_id"]):
        operations = list(group)
        made = []
        for row in operations:
            item = row["item_id"]
            label, after = shown_at.get((item, row["to_version"]), ("", None))
            _, before = shown_at.get((item, row["from_version"]), ("", None))
            made.append(unified(label, before, after))
            if row["own"] is not None and row["own"] != made[-1]:
                await connection.execute(
                    SQL["write_operation_diff"].sql, patch_id, row["position"], made[-1]
                )
                changed += 1
        if operations[0]["whole"] is not None and operations[0]["whole"] != "".join(made):
            await connection.execute(SQL["write_patch_diff"].sql, patch_id, "".join(made))
            changed += 1
    return changed


async def _projections(
    connection: Connection, item_ids: Collection[int]
) -> dict[tuple[int, int], tuple[str, str | None]]:
    """What each version of each item showed, with the label of the item."""
    found: dict[tuple[int, int], tuple[str, str | None]] = {}
    for row in await connection.fetch(SQL["list_states"].sql, list(item_ids)):
        found[row["id"], row["version"]] = (f"memory/{row['id']}", shown(_state(row)))
    for row in await connection.fetch(SQL["list_documents"].sql, list(item_ids)):
        label = f"profile/{row['kind']}"
        found[row["id"], row["version"]] = (label, shown_profile(row["content"]))
    return found


def _state(row: asyncpg.Record) -> MemoryState:
    fields = dict(row)
    fields |= {
        "kind": Kind(row["kind"]),
        "trust": Trust(row["trust"]),
        "status": Status(row["status"]),
        "tags": tuple(row["tags"]),
    }
    return MemoryState(**fields)


async def drop_lexemes(connection: Connection, lost: Iterable[str]) -> int:
    """Forgets the statistics of lexemes that occur nowhere any more; how many went."""
    lexemes = sorted(lost)
    asked = [to_tsquery_literal([lexeme]) for lexeme in lexemes]
    status = await connection.execute(SQL["drop_lexemes"].sql, lexemes, asked)
    return int(status.rpartition(" ")[2])


def _ids(rows: Iterable[asyncpg.Record]) -> tuple[int, ...]:
    return tuple(row["id"] for row in rows)
