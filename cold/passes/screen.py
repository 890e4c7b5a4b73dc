"""Screen: may the message feed anything, or was it planted?"""

import asyncio
from collections.abc import Sequence

from agents_memory.domain.messages import Screening
from agents_memory.domain.screening import Verdict, screen
from agents_memory.storage import messages, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import PassItem
from cold.guard import Done


class Screen:
    """By rules: obvious injections are quarantined, everything else is clear.

    A quarantined message goes no further; whoever releases it has to ask for `embed`.
    """

    stage = "screen"
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ("embed",)

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[PassItem]:
        return await messages.list_for_pass(connection, ids)

    async def prepare(self, items: Sequence[PassItem]) -> list[Verdict]:
        return [await asyncio.to_thread(screen, item.text, item.trust) for item in items]

    async def settle(self, connection: Connection, item: PassItem, result: Verdict) -> Done:
        await messages.settle_screening(connection, item.id, result.screening)
        for model in await vectors.list_models(connection):
            # There are vectors already when a message is screened anew.
            await vectors.sync_message_vectors(connection, model, item.id)
        await messages.record_result(
            connection,
            item.id,
            stage=self.stage,
            backend=self.backend,
            version=self.version,
            detail={"reasons": list(result.reasons)},
        )
        return Done(proceed=result.screening is Screening.CLEAR)
