"""What systemd is told, and that nobody else is."""

import asyncio
import os
import select
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cold.sdnotify import Notifier


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(tmp_path / "notify"))
        bound.setblocking(False)
        yield bound


def _told(channel: socket.socket) -> list[str]:
    told = []
    while True:
        try:
            told.append(channel.recv(4096).decode())
        except BlockingIOError:
            return told


def test_states_are_sent_as_datagrams(channel: socket.socket) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": channel.getsockname()})
    notifier.ready("stands by")
    notifier.status("leads")
    notifier.stopping()
    assert _told(channel) == ["READY=1\nSTATUS=stands by", "STATUS=leads", "STOPPING=1"]


if sys.platform == "linux":

    def test_an_abstract_socket_is_reached() -> None:
        name = f"agents-memory-test-{os.getpid()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
            bound.bind(f"\0{name}")
            bound.setblocking(False)
            Notifier({"NOTIFY_SOCKET": f"@{name}"}).stopping()
            assert _told(bound) == ["STOPPING=1"]


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "/nowhere/x"}])
def test_nothing_happens_where_nobody_listens(environ: dict[str, str]) -> None:
    notifier = Notifier(environ)
    notifier.ready("leads")
    notifier.stopping()


async def test_the_watchdog_is_fed(channel: socket.socket) -> None:
    """E12: a loop that no longer turns is found out."""
    environ = {"NOTIFY_SOCKET": channel.getsockname(), "WATCHDOG_USEC": "1000000"}
    feeding = asyncio.create_task(Notifier(environ).keep_alive())
    await asyncio.sleep(0)
    assert _told(channel) == ["WATCHDOG=1"]
    assert not feeding.done()
    feeding.cancel()


async def test_a_loop_that_hangs_feeds_no_watchdog(channel: socket.socket) -> None:
    """E12: what the loop does not get to is not said for it by a thread."""
    environ = {"NOTIFY_SOCKET": channel.getsockname(), "WATCHDOG_USEC": "2000"}
    feeding = asyncio.create_task(Notifier(environ).keep_alive())
    await asyncio.sleep(0)
    assert _told(channel) == ["WATCHDOG=1"]
    # The loop is stuck here, many beats long.
    assert not select.select([channel], [], [], 0.05)[0]
    async with asyncio.timeout(30):
        loop = asyncio.get_running_loop()
        assert await loop.sock_recv(channel, 4096) == b"WATCHDOG=1"
    feeding.cancel()


@pytest.mark.parametrize(
    "environ", [{}, {"WATCHDOG_USEC": "x"}, {"WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"}]
)
async def test_no_watchdog_is_fed_that_is_not_ours(
    channel: socket.socket, environ: dict[str, str]
) -> None:
    environ = {"NOTIFY_SOCKET": channel.getsockname(), **environ}
    feeding = asyncio.create_task(Notifier(environ).keep_alive())
    await asyncio.sleep(0)
    assert _told(channel) == []
    assert not feeding.done()
    feeding.cancel()
