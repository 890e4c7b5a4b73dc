"""The owner's word on what is for nobody else's eyes: private, and public again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.storage import health, privacy, summaries, traces, vectors, work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.notify import send_hint
from agents_memory.storage.privacy import Action

CONTEXT_STAGE = "context"


@dataclass(frozen=True, slots=True)
class Privacy:
    """What came of it.

    `changed` are ids of what was not so before, `told` those of messages that were told for the
    memories among them, `memories` of those hidden because they rest on private messages alone.
    `kept` are messages that stay private though something else was made public: the owner made
    them so by themselves, or another memory that they were told for is private. `documents` are
    kinds of profiles that were made from them and are left as they are.
    """

    changed: tuple[int, ...]
    told: tuple[int, ...]
    memories: tuple[int, ...]
    kept: tuple[int, ...]
    documents: tuple[str, ...]


class Keeping:
    """Decides as the owner of the pool, on behalf of `actor` at `device`; each call is audited."""

    def __init__(self, database: Database, *, actor: str, device: str) -> None:
        self._database = database
        self._actor = actor
        self._device = device

    async def mark(
        self, kind: str, ids: Sequence[int], user_id: int, *, private: bool
    ) -> Privacy | Refusal:
        """Makes messages or memories (`kind`) private, or public again; all of them or none.

        Refuses with UNKNOWN_ITEM an id that names none. Raises ConfigurationError for anybody but
        the owner.
        """
        async with self._database.transaction() as connection:
            if not (await health.find_role(connection, self._database.schema)).owner:
                raise ConfigurationError(
                    "only the owner of the pool can say what is private; set OWNER_DATABASE_URL to "
                    "sign in as whoever ran `mcp-agents-memory migrate`"
                )
            if (refusal := await _unknown(connection, kind, ids, user_id)) is not None:
                return refusal
            changed: set[int] = set()
            if kind == "memory":
                changed = await privacy.mark_memories(connection, user_id, ids, private=private)
                for model in await vectors.list_models(connection):
                    await vectors.sync_memory_vectors(connection, model, list(changed))
                about: Collection[int] = await privacy.list_told(connection, ids)
                messages = told = await privacy.follow_memories(connection, user_id, about)
            else:
                about, told = ids, set[int]()
                messages = await privacy.mark_messages(connection, user_id, ids, private=private)
            await _follow(connection, messages, private=private)
            kept = () if private else await privacy.list_private(connection, about)
            hidden, documents = await privacy.list_hidden(connection, messages if private else kept)
            action = Action.MAKE if private else Action.UNDO
            for item in sorted(changed | messages):
                await privacy.record_decision(
                    connection, item, action, actor=self._actor, device=self._device
                )
            await send_hint(connection, self._database.schema)
        return Privacy(
            tuple(sorted(changed | (messages - told - {*kept}))),
            tuple(sorted(told)),
            hidden,
            kept,
            documents if private else (),
        )


async def _unknown(
    connection: Connection, kind: str, ids: Sequence[int], user_id: int
) -> Refusal | None:
    storable = [item for item in ids if 0 < item < 2**63]
    kinds = await traces.find_kinds(connection, storable, user_id)
    wrong = sorted(item for item in set(ids) if kinds.get(item) != kind)
    if not wrong:
        return None
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{', '.join(map(str, wrong))} names no {kind}; nothing was changed. "
        "`mcp-agents-memory search --private` shows the ids of each kind",
        {"unknown": wrong},
    )


async def _follow(connection: Connection, messages: Collection[int], *, private: bool) -> None:
    """What was derived from messages goes at once; the daemon makes it anew where it may."""
    await summaries.withdraw(connection, await summaries.list_resting(connection, list(messages)))
    read = await privacy.drop_contexts(connection, messages) if private else messages
    for message_id in sorted(read):
        await work.queue_work(connection, message_id, CONTEXT_STAGE)
    for model in await vectors.list_models(connection):
        for message_id in messages:
            await vectors.sync_message_vectors(connection, model, message_id)
