"""One daemon leads: wait for the lock, begin a term, keep it alive, let go in order."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any, TypeVar

from agents_memory.domain.errors import DatabaseUnavailable, Deposed, SchemaMismatch
from agents_memory.observe import Action, get_logger
from agents_memory.storage import leadership, migrate
from agents_memory.storage.connections import Database, DedicatedConnection
from agents_memory.storage.faults import translated
from agents_memory.storage.leadership import Leader
from cold.guard import Backoff
from cold.stopping import Stop, Stopped, end

T = TypeVar("T")
Work = Callable[[int], Coroutine[Any, Any, T]]

log = get_logger()

# A connection that died without a word would wait for ever, hence a new one now and then.
WAIT_S = 60.0
BEAT_LIMIT_S = 3.0
# A client that froze between two messages of one statement is idle to no timeout of the server, and
# its transaction would keep the next term from beginning for ever.
BLOCKED_S = 3.0
TAKE_LIMIT_S = 30.0
CLOSE_LIMIT_S = 2.0
# Short, since until then nobody does the work of the pool.
RECONNECT = Backoff(0.5, 2, 5)


class Held(Exception):
    """Another daemon leads, and we may not wait for it; the text says who, and what to do."""

    def __init__(self, leader: Leader) -> None:
        super().__init__(f"{who_leads(leader)}. To let this one lead, stop that one first")


def who_leads(leader: Leader) -> str:
    """Host, process and beginning of the term of whoever holds the lock, for people."""
    who = "one that has only just begun"
    if leader.holder is not None and leader.since is not None:
        since = f"{leader.since:%Y-%m-%d %H:%M:%S %Z}"
        who = f"{leader.holder}, process {leader.pid}, since {since}"
    return f"another daemon leads the pool: {who}"


class Leadership:
    """The lead of one pool, as one candidate.

    `session` are the settings of the connection that holds the lock, `heartbeat_s` seconds between
    two signs of life on it. Only one coroutine ever uses that connection. `standing_by` is called
    whenever a wait for another one's lead begins, `set_clock` with what the database's clock shows:
    before the work of a term begins, and at every sign of life.
    """

    def __init__(
        self,
        database: Database,
        stop: Stop,
        *,
        holder: str,
        wait: bool = True,
        session: Mapping[str, str] = leadership.LOCK_SESSION,
        heartbeat_s: float = leadership.HEARTBEAT_S,
        backoff: Backoff = RECONNECT,
        standing_by: Callable[[], None] = lambda: None,
        set_clock: Callable[[datetime], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._stop = stop
        self._holder = holder
        self._wait = wait
        self._session = dict(session)
        self._heartbeat_s = heartbeat_s
        self._backoff = backoff
        self._standing_by = standing_by
        self._set_clock = set_clock
        # Since the last term that lived long enough to show signs of life.
        self._failures = 0

    async def run(self, work: Work[T]) -> T:
        """What `work(epoch)` returns in the first term that it lives to the end of.

        When a term is lost the work is cancelled at once, and begun again in the next term. Raises
        Stopped when the stop comes while no term runs, Held when another leads and `wait` is false.
        """
        while True:
            try:
                return await self._lead(work)
            except (DatabaseUnavailable, SchemaMismatch, Deposed) as fault:
                self._failures += 1
                log.warning(Action.LEADER_LOST, error=fault)
            if await self._stop.rest(self._backoff.after(self._failures).total_seconds()):
                raise Stopped

    async def _lead(self, work: Work[T]) -> T:
        # Unlike a bare connect, `run` brings a stopped embedded server back.
        await self._stop.race(self._database.run(migrate.compatibility))
        connection = await self._locked()
        try:
            gone = asyncio.Event()
            connection.add_termination_listener(lambda _: gone.set())
            epoch = await self._stop.race(self._take(connection))
            await self._stop.race(self._beat(connection))
            log.info(Action.LEADER_ELECTED, epoch=epoch)
            result = await self._keep(connection, gone, work(epoch))
            try:
                await _within(BEAT_LIMIT_S, leadership.resign_lead(connection, epoch))
            except DatabaseUnavailable as fault:
                # The work is done all the same; the next term writes over the row.
                log.warning(Action.DATABASE_LOST, error=fault)
            return result
        finally:
            await _close(connection)

    async def _take(self, connection: DedicatedConnection) -> int:
        """Begins the term; what the last leader left open, and may never end, is undone."""
        schema = self._database.schema
        begun = leadership.take_lead(connection, self._holder, os.getpid())
        taking = asyncio.ensure_future(_within(TAKE_LIMIT_S, begun))
        try:
            while not (await asyncio.wait({taking}, timeout=BLOCKED_S))[0]:
                await self._database.run(lambda c: leadership.end_blockers(c, schema))
            return taking.result()
        finally:
            await end([taking])

    async def _locked(self) -> DedicatedConnection:
        """A connection that holds the lock of the pool."""
        told = False
        while True:
            connection = await self._stop.race(self._database.connect(**self._session))
            try:
                attempt = leadership.try_lock(connection, self._database.schema)
                if await self._stop.race(_within(BEAT_LIMIT_S, attempt)):
                    return connection
                asked = leadership.find_leader(connection)
                leader = await self._stop.race(_within(BEAT_LIMIT_S, asked))
                if not self._wait:
                    raise Held(leader)
                if not told:
                    reason = f"{who_leads(leader)}. This one takes over when that one ends"
                    log.info(Action.LEADER_WAITING, reason=reason)
                    self._standing_by()
                    told = True
                # Whoever can wait is well: the next loss is the first.
                self._failures = 0
                await self._stop.race(self._blocked(connection))
                return connection
            except TimeoutError:
                await _close(connection)
            except BaseException:
                await _close(connection)
                raise

    async def _blocked(self, connection: DedicatedConnection) -> None:
        async with asyncio.timeout(WAIT_S):
            with translated():
                await leadership.wait_lock(connection, self._database.schema)

    async def _keep(
        self, connection: DedicatedConnection, gone: asyncio.Event, work: Coroutine[Any, Any, T]
    ) -> T:
        """Runs the work for as long as the connection shows signs of life."""
        task = asyncio.ensure_future(work)
        ended = asyncio.ensure_future(gone.wait())
        try:
            while True:
                await asyncio.wait(
                    {task, ended},
                    timeout=self._heartbeat_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if task.done():
                    return task.result()
                if ended.done():
                    raise DatabaseUnavailable(
                        "the connection that held the lead ended; the lead is sought anew"
                    )
                await self._beat(connection)
                self._failures = 0
        finally:
            await end([task, ended])

    async def _beat(self, connection: DedicatedConnection) -> None:
        self._set_clock(await _within(BEAT_LIMIT_S, leadership.beat(connection)))


async def _within(limit_s: float, call: Coroutine[Any, Any, T]) -> T:
    """What `call` returns; DatabaseUnavailable also when no answer comes in time."""
    with translated():
        async with asyncio.timeout(limit_s):
            return await call


async def _close(connection: DedicatedConnection) -> None:
    """Ends the session, and with it the lock, without ever waiting long."""
    try:
        with translated():
            await connection.close(timeout=CLOSE_LIMIT_S)
    except DatabaseUnavailable:
        connection.terminate()
