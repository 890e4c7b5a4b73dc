"""The servers that one URL names: tried in turn, each for its own time, the last good one first."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from asyncpg.connect_utils import SessionAttribute

from agents_memory.settings.address import parse
from agents_memory.storage.faults import CONNECTION_LOST, NoHost

T = TypeVar("T")

ONLY_HOST_S = 5.0
# The driver has one limit for the whole list, so a server that hangs would hide all after it.
EACH_HOST_S = 4.0


class Hosts:
    """The `(host, port)` pairs of a URL, whose other parts stay with the caller.

    `where` names them without secrets. `target` is what the driver has to ask of a server: of
    several hosts the one that takes writes, unless the URL says otherwise (None: the driver reads
    it there).
    """

    def __init__(self, url: str) -> None:
        address = parse(url)
        self.where = address.describe()
        self._hosts = address.hosts
        self._good = 0
        said = "target_session_attrs" in dict(address.parameters)
        self.target = SessionAttribute.read_write if self.several and not said else None

    @property
    def several(self) -> bool:
        return len(self._hosts) > 1

    @property
    def limit_s(self) -> float:
        """How long it takes to try all of them, at most."""
        return EACH_HOST_S * len(self._hosts) if self.several else ONLY_HOST_S

    async def first(self, opened: Callable[[str, int], Awaitable[T]]) -> T:
        """What `opened(host, port)` returns for the first server that can be used.

        Only a server that is away, full or not the one that takes writes sends us to the next: a
        wrong password would be wrong everywhere. Raises what the driver raised, and NoHost when
        none of several can be used.
        """
        failures: dict[str, BaseException] = {}
        count, start = len(self._hosts), self._good
        for index in (*range(start, count), *range(start)):
            host, port = self._hosts[index]
            try:
                async with asyncio.timeout(EACH_HOST_S if self.several else ONLY_HOST_S):
                    result = await opened(host, port)
            except CONNECTION_LOST as lost:
                failures[f"{host}:{port}"] = lost
            else:
                self._good = index
                return result
        raise NoHost(failures) if self.several else failures.popitem()[1]
