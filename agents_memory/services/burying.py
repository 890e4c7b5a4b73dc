"""A whole message or memory taken out, with what rests on it, or was told for it, alone."""

from collections.abc import Sequence

from agents_memory.domain.errors import Code, Refusal, Refused
from agents_memory.domain.lexical import analyse
from agents_memory.domain.tombstones import (
    REPLACEMENT,
    Tombstones,
    statement_digest,
    turn_digest,
)
from agents_memory.services.erasure import Erasure
from agents_memory.storage import erasing, rebuilding, tombstones
from agents_memory.storage.rebuilding import Resting


async def bury_message(erasure: Erasure, message_id: int) -> None:
    """Takes a whole message out, and what rests on it alone."""
    connection = erasure.connection
    text = None
    if 0 < message_id < 2**63:
        text = await rebuilding.find_message(connection, message_id)
    if text is None:
        raise Refused(
            Refusal(
                Code.UNKNOWN_ITEM,
                f"{message_id} names no message; `mcp-agents-memory search` shows ids",
                {"unknown": [message_id]},
            )
        )
    await erasure.lock()
    erasure.already = text == REPLACEMENT
    if not erasure.already:
        erasure.messages += await rebuilding.list_same_text(connection, message_id)
        await _keep_out(erasure, turn_digest(erasure.key, text))
        erasure.lost.update(analyse(text).terms)
        erasure.texts.add(message_id)
        erasure.changed["messages.message"] += 1
    resting = await rebuilding.list_resting(connection, message_id)
    await rebuilding.bury_message(connection, message_id)
    await _bury_proposals(erasure, [message_id])
    erasure.reasons.update(await rebuilding.list_reasons_beside(connection, message_id))
    _note_documents(erasure, resting)
    await _bury(erasure, [(r.item_id, r.version) for r in resting if r.memory and r.alone])


async def bury_memory(erasure: Erasure, memory_id: int) -> None:
    """Takes every version of a memory out, and the messages told for it alone."""
    connection = erasure.connection
    await erasure.lock()
    versions = []
    if 0 < memory_id < 2**63:
        versions = await rebuilding.list_versions(connection, memory_id)
    if not versions:
        raise Refused(
            Refusal(
                Code.UNKNOWN_MEMORY,
                f"{memory_id} names no memory; for a message say --message",
                {"memory_id": memory_id},
            )
        )
    told, others = await rebuilding.list_told_for(connection, memory_id)
    already = not await rebuilding.list_statements(connection, versions)
    await _bury(erasure, versions)
    await rebuilding.bury_reasons_for(connection, memory_id)
    # They may repeat its words.
    await _bury_proposals(erasure, [*told, *others])
    for message_id in others:
        _note_documents(erasure, await rebuilding.list_resting(connection, message_id))
    erasure.reasons.update(await rebuilding.list_reasons_beside(connection, memory_id))
    for message_id in told:
        await bury_message(erasure, message_id)
    erasure.already = already
    erasure.messages += others


async def _bury(erasure: Erasure, versions: list[tuple[int, int]]) -> None:
    said = await rebuilding.list_statements(erasure.connection, versions)
    for subject, content in said:
        await _keep_out(erasure, turn_digest(erasure.key, content))
        digest = statement_digest(erasure.key, subject, content)
        await tombstones.insert_turn(erasure.connection, digest)
    await rebuilding.bury_versions(erasure.connection, versions)
    erasure.memories.update(memory_id for memory_id, _ in versions)
    erasure.changed["memory_versions.content"] += len(said)


async def _keep_out(erasure: Erasure, digest: bytes | None) -> None:
    """What is told by this digest comes in no more, neither as text nor as a key."""
    if digest is None:
        erasure.kept_out = False
        return
    await tombstones.insert_turn(erasure.connection, digest)
    turn = Tombstones(erasure.key, (), frozenset((digest,)))
    done = await erasing.erase_column(
        erasure.connection, "patches", "idempotency_key", turn.strike_name
    )
    erasure.note("patches", "idempotency_key", done)


async def _bury_proposals(erasure: Erasure, message_ids: Sequence[int]) -> None:
    gone = await rebuilding.bury_proposals(erasure.connection, message_ids)
    erasure.changed["persona_proposals.content"] += len(gone)


def _note_documents(erasure: Erasure, resting: Sequence[Resting]) -> None:
    found = [(one.item_id, one.version) for one in resting if not one.memory]
    erasure.documents += [one for one in found if one not in erasure.documents]
