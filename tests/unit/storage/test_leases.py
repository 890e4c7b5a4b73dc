"""Connections lent to one caller at a time (F12, E3)."""

import asyncio
from typing import cast

import pytest

from agents_memory.storage.driver import DedicatedConnection
from agents_memory.storage.leases import Leases


class Opened:
    """Stands for a server: what it opened, in order."""

    def __init__(self) -> None:
        self.all: list[Connection] = []

    async def __call__(self) -> DedicatedConnection:
        await asyncio.sleep(0)
        self.all.append(Connection())
        return cast(DedicatedConnection, self.all[-1])


class Connection:
    """What of the driver's connection a lease asks for."""

    def __init__(self) -> None:
        self.closed = False
        self.within = False

    def is_closed(self) -> bool:
        return self.closed

    def is_in_transaction(self) -> bool:
        return self.within

    def terminate(self) -> None:
        self.closed = True

    async def close(self) -> None:
        self.closed = True


def leases_of(opened: Opened, size: int = 2, limit_s: float = 30.0) -> Leases:
    return Leases(opened, size, lambda: limit_s)


async def test_what_came_back_last_is_lent_first() -> None:
    opened = Opened()
    leases = leases_of(opened)
    first, second = await leases.lend(), await leases.lend()
    leases.take_back(second)
    leases.take_back(first)
    assert leases.idle() is first
    assert leases.idle() is second
    assert leases.idle() is None
    assert leases.exhausted
    assert len(opened.all) == 2


async def test_nothing_is_idle_before_the_first_is_opened() -> None:
    leases = leases_of(Opened())
    assert leases.idle() is None
    assert not leases.exhausted


async def test_who_waits_is_served_in_order_and_not_overtaken() -> None:
    opened = Opened()
    leases = leases_of(opened, size=1)
    only = await leases.lend()
    served: list[str] = []

    async def wait(name: str) -> None:
        connection = await leases.lend()
        served.append(name)
        await asyncio.sleep(0)
        leases.take_back(connection)

    waiting = [asyncio.create_task(wait(name)) for name in "abc"]
    await asyncio.sleep(0)
    leases.take_back(only)
    # It is promised to the first who waits, though he has not run yet.
    assert leases.idle() is None
    await asyncio.gather(*waiting)
    assert served == ["a", "b", "c"]
    assert len(opened.all) == 1


async def test_one_who_gives_up_waiting_takes_nothing_with_him() -> None:
    leases = leases_of(Opened(), size=1)
    only = await leases.lend()
    waiting = asyncio.create_task(leases.lend())
    await asyncio.sleep(0)
    leases.take_back(only)
    # Promised, and given up in the same moment.
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert leases.idle() is only


async def test_waiting_ends_at_its_limit() -> None:
    leases = leases_of(Opened(), size=1, limit_s=0.01)
    only = await leases.lend()
    with pytest.raises(TimeoutError):
        await leases.lend()
    leases.take_back(only)
    assert leases.idle() is only


async def test_a_place_whose_connection_cannot_be_opened_is_free_again() -> None:
    calls = 0
    opened = Opened()

    async def fail_once() -> DedicatedConnection:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionRefusedError
        return await opened()

    leases = Leases(fail_once, 1, lambda: 30.0)
    with pytest.raises(ConnectionRefusedError):
        await leases.lend()
    assert await leases.lend() is cast(object, opened.all[0])


async def test_one_that_comes_back_inside_a_transaction_is_ended() -> None:
    opened = Opened()
    leases = leases_of(opened, size=1)
    connection = await leases.lend()
    opened.all[0].within = True
    leases.take_back(connection)
    assert opened.all[0].closed
    assert leases.idle() is None
    assert await leases.lend() is cast(object, opened.all[1])


async def test_one_that_was_closed_while_it_lay_idle_is_not_lent() -> None:
    opened = Opened()
    leases = leases_of(opened)
    first, second = await leases.lend(), await leases.lend()
    leases.take_back(first)
    leases.take_back(second)
    opened.all[1].closed = True
    assert leases.idle() is first
    assert await leases.lend() is cast(object, opened.all[2])
    assert leases.exhausted


async def test_expiring_ends_idle_ones_now_and_lent_ones_when_they_come_back() -> None:
    opened = Opened()
    leases = leases_of(opened)
    idle, lent = await leases.lend(), await leases.lend()
    leases.take_back(idle)
    leases.expire()
    assert [one.closed for one in opened.all] == [True, False]
    leases.take_back(lent)
    assert opened.all[1].closed
    again = await leases.lend()
    leases.take_back(again)
    assert not opened.all[2].closed


async def test_closing_waits_for_what_is_lent_and_ends_it_after_its_limit() -> None:
    opened = Opened()
    leases = leases_of(opened)
    idle, _ = await leases.lend(), await leases.lend()
    leases.take_back(idle)
    await leases.close(limit_s=0.01)
    assert all(one.closed for one in opened.all)


async def test_what_was_not_lent_for_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened()
    leases = leases_of(opened)
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)
    first, second = await leases.lend(), await leases.lend()
    leases.take_back(first)
    now += 200
    leases.take_back(second)
    assert leases.idle() is second
    leases.take_back(second)
    now += 150
    leases._sweep()
    assert [one.closed for one in opened.all] == [True, False]
    now += 200
    leases._sweep()
    assert opened.all[1].closed
    assert leases._sweeping is None
    assert not leases.exhausted
