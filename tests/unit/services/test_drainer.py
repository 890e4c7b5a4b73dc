"""For what the turns wait is known from the first one on, until a drain succeeds."""

import asyncio
import errno
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.domain.messages import Accepted, Queued
from agents_memory.services import spooling
from agents_memory.services.captured import Kept
from agents_memory.services.intake import Intake, accept
from agents_memory.services.spooling import Drainer, Way, queue
from agents_memory.storage.connections import Database
from agents_memory.storage.spool.store import Spool
from tests.factories import NOON, draft

LIMIT_S = 30.0
AWAY = DatabaseUnavailable("the server refused the password")
WAY = Way(cast(Database, None), cast(Intake, None))


class Drains:
    """Stands for `drain`: what comes of each, the last of them again and again."""

    def __init__(self, *outcomes: Counter[Kept] | BaseException | None) -> None:
        self.left = list(outcomes)
        self.begun = 0

    async def __call__(self, spool: Spool, *_: object) -> Counter[Kept] | None:
        self.begun += 1
        outcome = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is not None:
            with spool.drain() as entries:
                for entry in entries or ():
                    entry.settle()
        return outcome


@pytest.fixture
async def spool(tmp_path: Path) -> Spool:
    """One turn waits in it."""
    spool = Spool(tmp_path / "data", "here", 2**20)
    turn = await accept(draft("Hi"), NOON)
    assert isinstance(turn, Accepted)
    assert isinstance(await queue(spool, turn, "mara", AWAY), Queued)
    return spool


@asynccontextmanager
async def running(
    spool: Spool, drains: Drains, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Drainer]:
    async def way() -> Way:
        return WAY

    monkeypatch.setattr(spooling, "drain", drains)
    drainer = Drainer(spool, way)
    task = asyncio.create_task(drainer.run())
    try:
        async with asyncio.timeout(LIMIT_S):
            yield drainer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def tried(drainer: Drainer, drains: Drains) -> None:
    """Another try is over from beginning to end: one more has begun after it."""
    goal = drains.begun + 2
    while drains.begun < goal:
        drainer.wake()
        await asyncio.sleep(0)


async def test_the_cause_of_the_first_turn_is_known_before_any_drain_was_tried(
    spool: Spool,
) -> None:
    async def way() -> Way:
        raise AssertionError("nobody drains")

    drainer = Drainer(spool, way)
    assert (drainer.behind, drainer.why) == (True, None)
    drainer.wake(AWAY)
    drainer.wake(DatabaseUnavailable("a later one"))
    drainer.wake()
    assert drainer.why is AWAY


async def test_the_cause_is_that_of_the_last_drain_and_ends_with_one_that_succeeds(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = DatabaseUnavailable("the server's disk is full")
    drains = Drains(full)
    async with running(spool, drains, monkeypatch) as drainer:
        drainer.wake(AWAY)
        await tried(drainer, drains)
        assert (drainer.behind, drainer.why) == (True, full)
        drains.left = [Counter({Kept.STORED: 1})]
        while drainer.behind:
            drainer.wake()
            await asyncio.sleep(0)
        assert drainer.why is None


async def test_the_cause_stays_while_another_process_drains(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may fare no better, and only it knows."""
    drains = Drains(None)
    async with running(spool, drains, monkeypatch) as drainer:
        drainer.wake(AWAY)
        await tried(drainer, drains)
        assert (drainer.behind, drainer.why) == (True, AWAY)


async def test_a_folder_that_cannot_be_drained_is_named_with_what_to_do(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drains = Drains(OSError(errno.ENOSPC, "No space left on device", "drain.lock"))
    async with running(spool, drains, monkeypatch) as drainer:
        await tried(drainer, drains)
        said = str(drainer.why)
    assert said.startswith(f"the turns in {spool.folder} cannot be taken from there (No space")
    assert "make room" in said


async def test_a_cause_for_which_nothing_waits_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn could not be kept on the disk either."""
    async with running(Spool(tmp_path / "data", "here", 2**20), Drains(None), monkeypatch) as idle:
        idle.wake(AWAY)
        while idle.why is not None:
            idle.wake()
            await asyncio.sleep(0)
        assert not idle.behind
