"""Every wait also waits for the stop."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from cold.stopping import Stop, Stopped, ask_when_orphaned, first

FOR_EVER = 3600.0


async def _never() -> None:
    await asyncio.Event().wait()


async def test_a_rest_ends_with_the_stop() -> None:
    stop = Stop()
    resting = asyncio.create_task(stop.rest(FOR_EVER))
    await asyncio.sleep(0)
    assert not resting.done()
    stop.ask()
    assert await resting is True


async def test_a_rest_ends_with_a_waker_or_its_time() -> None:
    stop, waker = Stop(), asyncio.Event()
    resting = asyncio.create_task(stop.rest(FOR_EVER, waker))
    await asyncio.sleep(0)
    waker.set()
    assert await resting is False
    assert await stop.rest(0) is False


async def test_a_race_gives_the_result_or_the_exception_of_the_work() -> None:
    async def answer() -> int:
        return 42

    async def fail() -> int:
        raise ValueError("bad")

    stop = Stop()
    assert await stop.race(answer()) == 42
    with pytest.raises(ValueError, match="bad"):
        await stop.race(fail())


async def test_a_race_that_the_stop_wins_cancels_the_work_and_sees_it_end() -> None:
    stop, ended = Stop(), []

    async def work() -> None:
        try:
            await _never()
        finally:
            ended.append("tidied up")

    racing = asyncio.create_task(stop.race(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    stop.ask()
    with pytest.raises(Stopped):
        await racing
    assert ended == ["tidied up"]


async def test_after_the_stop_no_work_is_begun() -> None:
    stop, begun = Stop(), []

    async def work() -> None:
        begun.append(1)

    stop.ask()
    with pytest.raises(Stopped):
        await stop.race(work())
    assert begun == []


async def test_a_cancelled_race_takes_its_work_along() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await _never()
        finally:
            ended.set()

    racing = asyncio.create_task(Stop().race(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    racing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await racing
    assert ended.is_set()


async def test_of_branches_that_end_together_the_first_named_counts() -> None:
    async def say(word: str) -> str:
        return word

    assert await first(say("a"), say("b")) == "a"


async def test_a_branch_that_fails_ends_the_others() -> None:
    async def fail() -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await first(_never(), fail())


async def test_an_orphan_asks_for_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """F4: without a leash of the kernel the parent is watched."""
    parents = iter([4711, 4711, 1, 1, 1, 1])
    monkeypatch.setattr(os, "getppid", lambda: next(parents, 1))
    # Else it would end the process of the tests a minute later.
    forced: list[int] = []
    monkeypatch.setattr("cold.stopping.end_by_force", forced.append)
    stop = Stop()
    watching = asyncio.create_task(ask_when_orphaned(stop, every_s=0))
    with pytest.raises(Stopped):
        await stop.race(_never())
    watching.cancel()
    assert forced == [1]


async def test_a_stop_outlives_work_that_swallows_its_first_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """E9: before Python 3.12 a wait that ends as it is cancelled lets the work go on."""
    monkeypatch.setattr("cold.stopping.CANCEL_AGAIN_S", 0.01)
    stop, begun, swallowed = Stop(), asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await _never()
        except asyncio.CancelledError:
            swallowed.append("once")
        await _never()

    racing = asyncio.create_task(stop.race(work()))
    await begun.wait()
    stop.ask()
    async with asyncio.timeout(30):
        with pytest.raises(Stopped):
            await racing
    assert swallowed == ["once"]


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    """E9: the interpreter would wait for it at its end, for ever."""
    program = (
        "import asyncio, os, signal, threading\n"
        "from cold import stopping\n"
        "stopping.END_WITHIN_S = 0.1\n"
        "async def main():\n"
        "    stop = stopping.Stop()\n"
        "    with stopping.stopping_on_signals(stop):\n"
        "        hung = asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        await stop.rest(3600)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 128 + signal.SIGTERM
