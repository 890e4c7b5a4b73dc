"""One try at some items of one stage: what was worked out is settled, what failed is put off."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

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
from cold.passes.protocol import Pass, Together
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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Worked:
    """A row, its item (None when it is no longer there) and what was worked out for it."""

    claim: Claim
    item: Any
    result: Any


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
        Hung it stays so until the next term, which takes each of it alone, as after a crash.
        """
        try:
            worked = await self._stop.race(self.in_time(lambda: self._prepare(batch)))
        except BLAMELESS:
            raise
        except Exception as error:  # noqa: BLE001 (one bad item never stops the others)
            if len(batch) == 1:
                await self.fail(batch[0], error)
                return
            for claim in batch:
                await self.run([claim])
            return
        await self.settle(worked)

    async def in_time(self, work: Callable[[], Awaitable[T]]) -> T:
        """What the work returns; raises Hung when it never does."""
        limit = asyncio.timeout(HUNG_S)
        try:
            async with limit:
                return await work()
        except TimeoutError:
            if not limit.expired():
                raise
            raise Hung(
                f"the stage {self._step.stage} hung for {HUNG_S / 60:.0f} minutes; start the "
                "daemon again, and look at its model if it comes back"
            ) from None

    async def load(self, batch: Sequence[Claim]) -> list[tuple[Claim, Any]]:
        """Each claim with its item, None when it is no longer there."""
        claims = {claim.item_id: claim for claim in batch}
        items = await self._database.run(lambda c: self._step.load(c, list(claims)))
        found = [(claims.pop(item.id), item) for item in items]
        return [*found, *((claim, None) for claim in claims.values())]

    async def _prepare(self, batch: Sequence[Claim]) -> list[Worked]:
        loaded = await self.load(batch)
        items = [item for _, item in loaded if item is not None]
        # Those that are no longer there stand last.
        results = [*(await self._step.prepare(items) if items else [])]
        results += [None] * (len(loaded) - len(items))
        return [Worked(*pair, result) for pair, result in zip(loaded, results, strict=True)]

    async def settle(self, worked: Sequence[Worked]) -> None:
        """Writes what was worked out; what cannot be written is put off, and the rest written.

        Not raced with the stop, since what was worked out is worth keeping. Raises what no item is
        to blame for, but ModelAway only at the end: what was answered beside it is kept.
        """
        if isinstance(self._step, Together) and len(worked) > 1:
            try:
                await self._write(worked)
                return
            except ModelAway:
                pass
            except BLAMELESS:
                raise
            except Exception as error:  # noqa: BLE001 (whose fault it is shows one by one)
                log.debug(Action.PASS_FAILED, stage=self._step.stage, error=error)
        away: ModelAway | None = None
        for one in worked:
            if self._stop.asked:
                raise Stopped
            try:
                await self._write([one])
            except ModelAway as error:
                away = away or error
            except BLAMELESS:
                raise
            except Exception as error:  # noqa: BLE001 (as above)
                await self.fail(one.claim, error)
        if away is not None:
            raise away

    async def _write(self, worked: Sequence[Worked]) -> None:
        # In one order, so that no two who write several wait for each other.
        there = sorted((o for o in worked if o.item is not None), key=lambda o: o.claim.item_id)
        gone = [one.claim for one in worked if one.item is None]
        async with fenced(self._database, self._epoch) as connection:
            outcomes = await self._outcomes(connection, there)
            settled: list[tuple[Claim, Outcome]] = [
                *((one.claim, outcome) for one, outcome in zip(there, outcomes, strict=True)),
                *((claim, Done(proceed=False)) for claim in gone),
            ]
            await self._record(connection, settled)
        for _, outcome in settled:
            self._account.note(self._step.stage, outcome)

    async def _outcomes(
        self, connection: Connection, worked: Sequence[Worked]
    ) -> Sequence[Done | RetryLater]:
        pairs = [(one.item, one.result) for one in worked]
        if pairs and isinstance(self._step, Together):
            return await self._step.settle_all(connection, pairs)
        return [await self._step.settle(connection, *pair) for pair in pairs]

    async def fail(self, claim: Claim, error: Exception) -> None:
        """Puts off or parks an item for a failure of its own."""
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
            await self._record(connection, [(claim, outcome)])
        self._account.note(self._step.stage, outcome)

    async def _record(
        self, connection: Connection, settled: Sequence[tuple[Claim, Outcome]]
    ) -> None:
        """What becomes of the rows in the queue."""
        stage, done, proceeding = self._step.stage, [], []
        for claim, outcome in settled:
            item_id = claim.item_id
            match outcome:
                case Done(proceed):
                    done.append(item_id)
                    proceeding += [item_id] if proceed else []
                    log.debug(Action.ITEM_SETTLED, stage=stage, item=item_id)
                case RetryLater(reason, delay):
                    await work.defer_work(connection, item_id, stage, reason, delay)
                    log.info(Action.ITEM_RETRIED, stage=stage, item=item_id, wait=delay)
                case Park(reason):
                    await work.park_work(connection, item_id, stage, reason)
                    log.warning(Action.ITEM_PARKED, stage=stage, item=item_id, reason=reason)
                case _:
                    assert_never(outcome)
        if done:
            await work.settle_work(
                connection,
                stage,
                done,
                proceeding=proceeding,
                next_stages=self._step.next_stages,
            )
