"""One try at some items of one stage: what was worked out is settled, what failed is put off."""

import asyncio
from collections.abc import Sequence
from typing import Any, assert_never

from agents_memory.domain.errors import (
    DatabaseUnavailable,
    Deposed,
    EmbedderUnavailable,
    SchemaMismatch,
)
from agents_memory.observe import Action, get_logger
from agents_memory.storage import work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.work import Claim
from cold.account import Account
from cold.fence import fenced
from cold.guard import Done, Guard, Hung, ModelAway, Outcome, Park, RetryLater
from cold.passes.protocol import Pass
from cold.stopping import Stop, Stopped

log = get_logger()

# Far beyond what the slowest model needs for a batch.
HUNG_S = 3600.0
# Never the fault of the item that is being worked on.
BLAMELESS = (
    DatabaseUnavailable,
    EmbedderUnavailable,
    ModelAway,
    SchemaMismatch,
    Deposed,
    Hung,
    Stopped,
)


class Attempt:
    """Works on claimed rows of one stage within one term."""

    def __init__(
        self,
        database: Database,
        step: Pass[Any, Any],
        guard: Guard,
        stop: Stop,
        account: Account,
        epoch: int,
    ) -> None:
        self._database = database
        self._account = account
        self._step = step
        self._guard = guard
        self._stop = stop
        self._epoch = epoch

    async def run(self, batch: Sequence[Claim]) -> None:
        """Settles, puts off or parks each row of the batch.

        Raises what no item is to blame for (BLAMELESS); the rest of the batch stays claimed. After
        Hung it stays so until the next term, with the attempt counted as for a crash.
        """
        if len(batch) == 1 and (verdict := self._guard.exhausted(batch[0])) is not None:
            # Not even tried: it may have killed the process each time.
            await self._put_off(batch[0], verdict)
            return
        try:
            worked_out = await self._stop.race(self._prepare_in_time(batch))
        except BLAMELESS:
            raise
        except Exception as error:  # noqa: BLE001 (one bad item never stops the others)
            if len(batch) == 1:
                await self._fail(batch[0], error)
                return
            for claim in batch:
                await self.run([claim])
            return
        away: ModelAway | None = None
        for claim, item, result in worked_out:
            if self._stop.asked:
                raise Stopped
            try:
                await self._settle(claim, item, result)
            except ModelAway as error:
                # What was answered beside it is worth keeping.
                away = away or error
        if away is not None:
            raise away

    async def _prepare_in_time(self, batch: Sequence[Claim]) -> list[tuple[Claim, Any, Any]]:
        limit = asyncio.timeout(HUNG_S)
        try:
            async with limit:
                return await self._prepare(batch)
        except TimeoutError:
            if not limit.expired():
                raise
            raise Hung(
                f"the stage {self._step.stage} hung for {HUNG_S / 60:.0f} minutes; start the "
                "daemon again, and look at its model if it comes back"
            ) from None

    async def _prepare(self, batch: Sequence[Claim]) -> list[tuple[Claim, Any, Any]]:
        """Each claim with its item and result; both None when the item is no longer there."""
        claims = {claim.item_id: claim for claim in batch}
        items = await self._database.run(lambda c: self._step.load(c, list(claims)))
        results = await self._step.prepare(items) if items else []
        found = [(claims.pop(i.id), i, result) for i, result in zip(items, results, strict=True)]
        return [*found, *((claim, None, None) for claim in claims.values())]

    async def _settle(self, claim: Claim, item: Any, result: Any) -> None:
        # Not raced with the stop, since what was worked out is worth keeping.
        try:
            async with fenced(self._database, self._epoch) as connection:
                outcome: Outcome = Done(proceed=False)
                if item is not None:
                    outcome = await self._step.settle(connection, item, result)
                await self._write(connection, claim, outcome)
            self._account.note(self._step.stage, outcome)
        except BLAMELESS:
            raise
        except Exception as error:  # noqa: BLE001 (as above)
            await self._fail(claim, error)

    async def _fail(self, claim: Claim, error: Exception) -> None:
        log.warning(
            Action.PASS_FAILED,
            stage=self._step.stage,
            item=claim.item_id,
            attempt=claim.attempts,
            error=error,
        )
        await self._put_off(claim, self._guard.after_failure(claim.attempts, error))

    async def _put_off(self, claim: Claim, outcome: Outcome) -> None:
        async with fenced(self._database, self._epoch) as connection:
            await self._write(connection, claim, outcome)
        self._account.note(self._step.stage, outcome)

    async def _write(self, connection: Connection, claim: Claim, outcome: Outcome) -> None:
        item_id, stage = claim.item_id, self._step.stage
        match outcome:
            case Done(proceed):
                for following in self._step.next_stages if proceed else ():
                    await work.queue_work(connection, item_id, following)
                await work.settle_work(connection, item_id, stage)
                log.debug(Action.ITEM_SETTLED, stage=stage, item=item_id)
            case RetryLater(reason, delay):
                await work.defer_work(connection, item_id, stage, reason, delay)
                log.info(Action.ITEM_RETRIED, stage=stage, item=item_id, wait=delay)
            case Park(reason):
                await work.park_work(connection, item_id, stage, reason)
                log.warning(Action.ITEM_PARKED, stage=stage, item=item_id, reason=reason)
            case _:
                assert_never(outcome)
