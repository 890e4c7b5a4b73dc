"""Tells systemd how the daemon is doing (sd_notify(3)); says nothing where nobody asked."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping
from typing import Any


class Notifier:
    """Datagrams to the socket that the supervisor named in `environ`, if it named one."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = environ.get("NOTIFY_SOCKET", "")
        self._watchdog_s = _watchdog(environ)

    def ready(self, text: str) -> None:
        """The daemon leads or stands by, as `text` says; safe to repeat."""
        self._send(f"READY=1\nSTATUS={text}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={text}")

    def stopping(self) -> None:
        """The end has begun."""
        self._send("STOPPING=1")

    async def keep_alive(self) -> Any:
        """Feeds the watchdog for as long as the event loop turns; never returns."""
        while self._watchdog_s is not None:
            self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog_s / 2)
        await asyncio.Event().wait()

    def _send(self, state: str) -> None:
        if not self._address:
            return
        # A leading @ stands for the zero byte of Linux's abstract sockets.
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
        ):
            channel.sendto(state.encode(), address)


def _watchdog(environ: Mapping[str, str]) -> float | None:
    """Seconds within which the supervisor wants a sign of life from this very process."""
    limit = environ.get("WATCHDOG_USEC", "")
    meant = environ.get("WATCHDOG_PID", str(os.getpid()))
    if not limit.isascii() or not limit.isdigit() or int(limit) == 0 or meant != str(os.getpid()):
        return None
    return int(limit) / 1e6
