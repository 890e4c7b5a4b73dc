"""Stopping: asked for once, seen by every wait."""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from agents_memory.observe import Action, get_logger

T = TypeVar("T")

log = get_logger()
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CANCEL_AGAIN_S = 5.0
# Longer than the longest statement of a write that is being ended.
END_WITHIN_S = 60.0


class Stopped(Exception):
    """Raised out of a wait when the daemon is told to end."""


class Stop:
    """The wish to end; belongs to one event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def asked(self) -> bool:
        return self._event.is_set()

    def ask(self) -> None:
        """From now on every wait is over; safe to repeat."""
        self._event.set()

    async def rest(self, seconds: float, *wakers: asyncio.Event) -> bool:
        """Waits for the stop, a waker or the end of the time; whether the stop was asked for."""
        tasks = [asyncio.ensure_future(event.wait()) for event in (self._event, *wakers)]
        try:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(tasks)
        return self.asked

    async def race(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises; when the stop is first, cancels it and raises Stopped."""
        if self.asked:
            work.close()
            raise Stopped
        return await first(work, self.told())

    async def told(self) -> Any:
        """Raises Stopped once the stop was asked for; never returns."""
        await self._event.wait()
        raise Stopped


async def first(*branches: Coroutine[Any, Any, T]) -> T:
    """What the branch that ends first returns or raises; the others are cancelled and waited for.

    Of branches that end at the same time the one named first counts.
    """
    tasks = [asyncio.ensure_future(branch) for branch in branches]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = next(task for task in tasks if task.done())
    finally:
        await end(tasks)
    return ended.result()


async def together(*branches: Coroutine[Any, Any, None]) -> None:
    """Waits until all have ended; what the first to fail raises ends the others and is raised."""
    tasks = [asyncio.ensure_future(branch) for branch in branches]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        # Looked at before the end of the others, whose faults may come of it.
        failed = [task for task in tasks if task.done() and task.exception() is not None]
    finally:
        await end(tasks)
    for task in failed:
        task.result()


async def end(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancels the tasks until each has ended, also when the caller is cancelled meanwhile."""
    told: asyncio.CancelledError | None = None
    # Again and again: before Python 3.12 a wait that ends at the moment it is cancelled swallows
    # the cancellation, and a task that went on would keep stop and lead waiting for ever.
    while alive := [task for task in tasks if not task.done()]:
        for task in alive:
            task.cancel()
        try:
            await asyncio.wait(alive, timeout=CANCEL_AGAIN_S)
        except asyncio.CancelledError as cancelled:
            told = cancelled
    await asyncio.gather(*tasks, return_exceptions=True)
    if told is not None:
        raise told


@contextmanager
def stopping_on_signals(stop: Stop) -> Iterator[None]:
    """SIGTERM, SIGINT and SIGHUP ask for the stop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def told(number: signal.Signals) -> None:
        if stop.asked:
            # Nothing has to be tidied up: the server takes back lock and transaction.
            os._exit(128 + number)
        log.info(Action.STOPPING, signal=number.name)
        end_by_force(128 + number)
        stop.ask()

    for number in SIGNALS:
        loop.add_signal_handler(number, told, number)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


def end_by_force(code: int) -> None:
    """Ends the process with `code` if it is still there in a minute.

    The interpreter waits at its end for every thread of an executor, also for one that hangs.
    """
    timer = threading.Timer(END_WITHIN_S, os._exit, (code,))
    timer.daemon = True
    timer.start()


async def ask_when_orphaned(stop: Stop, every_s: float = 2.0) -> Any:
    """Asks for the stop when the parent process is gone; never returns.

    On Linux the keeper's leash is quicker; elsewhere there is none.
    """
    parent = os.getppid()
    while True:
        await asyncio.sleep(every_s)
        if os.getppid() != parent and not stop.asked:
            log.info(Action.STOPPING, reason="the keeper is gone")
            end_by_force(1)
            stop.ask()
