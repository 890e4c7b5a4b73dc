"""The owner's word on messages that the screen pass held back: release, or keep."""

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.domain.messages import Screening
from agents_memory.storage import health, messages, quarantine, vectors, work
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import send_hint
from agents_memory.storage.quarantine import Action

# What follows on a clear message, as the screen pass asks for it.
AFTER_SCREENING = "embed"


class Quarantining:
    """Decides as the owner of the pool, on behalf of `actor` at `device`; each call is audited."""

    def __init__(self, database: Database, *, actor: str, device: str) -> None:
        self._database = database
        self._actor = actor
        self._device = device

    async def release(self, message_id: int) -> Refusal | None:
        """Lets a message be found and worked on like any other; None when it is done."""
        return await self._decide(message_id, Action.RELEASE)

    async def keep(self, message_id: int) -> Refusal | None:
        """Leaves a message where it is, as one that was looked at; None when it is done."""
        return await self._decide(message_id, Action.KEEP)

    async def _decide(self, message_id: int, action: Action) -> Refusal | None:
        async with self._database.transaction() as connection:
            if not (await health.find_role(connection, self._database.schema)).owner:
                raise ConfigurationError(
                    "only the owner of the pool can decide about what is held back; set "
                    "OWNER_DATABASE_URL to sign in as whoever ran `mcp-agents-memory migrate`"
                )
            found = None
            if 0 < message_id < 2**63:
                found = await quarantine.lock_screening(connection, message_id)
            if found is None:
                return Refusal(
                    Code.UNKNOWN_ITEM,
                    f"{message_id} names no message; `mcp-agents-memory quarantine list` shows ids",
                    {"id": message_id},
                )
            if (refusal := _refusal(message_id, *found)) is not None:
                return refusal
            if action is Action.RELEASE:
                await messages.settle_screening(connection, message_id, Screening.CLEAR)
                for model in await vectors.list_models(connection):
                    await vectors.sync_message_vectors(connection, model, message_id)
                await work.queue_work(connection, message_id, AFTER_SCREENING)
                await send_hint(connection, self._database.schema)
            await quarantine.record_decision(
                connection, message_id, action, actor=self._actor, device=self._device
            )
        return None


def _refusal(message_id: int, screening: Screening, erased: bool) -> Refusal | None:
    if screening is not Screening.QUARANTINED:
        return Refusal(
            Code.OPERATION_NOT_ALLOWED,
            f"{message_id} is not quarantined but {screening}; nothing is to be decided",
            {"id": message_id, "screening": screening},
        )
    if erased:
        return Refusal(
            Code.OPERATION_NOT_ALLOWED,
            f"{message_id} was erased: nothing of it is left that could be released",
            {"id": message_id},
        )
    return None
