"""Ways to a server that can be cut without a word: sockets stay open, and nothing arrives."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Protocol

from tests.integration.foreign_server import HOST, ForeignServer, RemotePool

# Nobody has it, so what is sent to it reaches nobody.
_NOWHERE = "02:00:00:00:00:99"


class Link(Protocol):
    """One way to a pool; `prefix` is the command that starts a process behind it."""

    prefix: Sequence[str]
    pool: RemotePool

    def url(self, role: str) -> str: ...

    def carries(self, address: str, port: int) -> bool:
        """Whether the server knows a client behind the link by this address."""
        ...

    def cut(self) -> None: ...

    def mend(self) -> None: ...


class Forwarder:
    """A relay of ours: needs no rights, and stops relaying while its sockets stay open."""

    prefix: Sequence[str] = ()

    def __init__(self, pool: RemotePool) -> None:
        self.pool = pool
        self.port = 0
        self._ports: set[int] = set()
        self._open = asyncio.Event()
        self._open.set()

    def url(self, role: str) -> str:
        return self.pool.url(role).replace(f":{self.pool.server.port}/", f":{self.port}/")

    def carries(self, address: str, port: int) -> bool:
        return port in self._ports

    def cut(self) -> None:
        self._open.clear()

    def mend(self) -> None:
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open.wait()
        there, back = await asyncio.open_connection(HOST, self.pool.server.port)
        self._ports.add(back.get_extra_info("sockname")[1])
        await asyncio.gather(self._relay(reader, back), self._relay(there, writer))

    async def _relay(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        # An end that comes while the link is cut is not passed on either.
        with suppress(OSError):
            while data := await source.read(65536):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        await self._open.wait()
        sink.close()


@asynccontextmanager
async def forwarder(remote: RemotePool) -> AsyncIterator[Link]:
    link = Forwarder(remote)
    server = await asyncio.start_server(link.serve, HOST, 0)
    link.port = server.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        link.mend()
        server.close()


@asynccontextmanager
async def forwarders(remote: RemotePool, count: int) -> AsyncIterator[list[Link]]:
    """One for each of several clients."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(forwarder(remote)) for _ in range(count)]


class Namespace:
    """A network of its own for the client, with one cable to the server; needs root."""

    def __init__(self, pool: RemotePool, number: int = 0) -> None:
        """`number` is 0 to 63, and another for each client of a server."""
        self.pool = pool
        tail = os.getpid() % 65536
        self._name = f"silent{tail}n{number}"
        self._here, self._there = f"sh{tail}n{number}", f"st{tail}n{number}"
        net = f"10.{213 + tail % 16}.{tail >> 8}"
        self._server, self._client = f"{net}.{4 * number + 1}", f"{net}.{4 * number + 2}"
        self.prefix: Sequence[str] = ("ip", "netns", "exec", self._name)

    @property
    def addresses(self) -> tuple[str, str]:
        """Of the server and of the client."""
        return self._server, self._client

    def url(self, role: str) -> str:
        return self.pool.server.url(role, self.pool.name, host=self._server)

    def carries(self, address: str, port: int) -> bool:
        return address == self._client

    def plug(self) -> None:
        ip("netns", "add", self._name)
        ip("link", "add", self._here, "type", "veth",
           "peer", "name", self._there, "netns", self._name)  # fmt: skip
        ip("addr", "add", f"{self._server}/30", "dev", self._here)
        ip("link", "set", self._here, "up")
        ip("-n", self._name, "addr", "add", f"{self._client}/30", "dev", self._there)
        ip("-n", self._name, "link", "set", self._there, "up")
        ip("-n", self._name, "link", "set", "lo", "up")

    def unplug(self) -> None:
        for gone in (("link", "del", self._here), ("netns", "del", self._name)):
            with suppress(subprocess.CalledProcessError):
                ip(*gone)

    def cut(self) -> None:
        ip("neigh", "replace", self._client, "lladdr", _NOWHERE, "dev", self._here)
        ip("-n", self._name, "neigh", "replace", self._server, "lladdr", _NOWHERE,
           "dev", self._there)  # fmt: skip

    def mend(self) -> None:
        ip("neigh", "del", self._client, "dev", self._here)
        ip("-n", self._name, "neigh", "del", self._server, "dev", self._there)


@asynccontextmanager
async def namespaces(_remote: RemotePool, count: int) -> AsyncIterator[list[Link]]:
    """Links to a server of their own, since the cables must be there when that starts."""
    server = ForeignServer()
    links = [Namespace(RemotePool(server, "memory"), number) for number in range(count)]
    try:
        for link in links:
            link.plug()
        with (server.base / "data" / "pg_hba.conf").open("a") as rules:
            rules.writelines(
                f"host all all {there}/32 scram-sha-256\n" for _, there in _ends(links)
            )
        server.start(listen_addresses=",".join([HOST, *(here for here, _ in _ends(links))]))
        await server.found()
        await server.prepare()
        yield [*links]
    finally:
        for link in links:
            link.unplug()
        server.remove()


@asynccontextmanager
async def namespace(remote: RemotePool) -> AsyncIterator[Link]:
    """The link of one client."""
    async with namespaces(remote, 1) as [link]:
        yield link


def _ends(links: Sequence[Namespace]) -> list[tuple[str, str]]:
    return [link.addresses for link in links]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def namespaces_work() -> bool:
    """Whether this user may make network namespaces here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    probe = f"probe{os.getpid()}"
    try:
        ip("netns", "add", probe)
        ip("netns", "exec", probe, "true")
        ip("netns", "del", probe)
    except subprocess.CalledProcessError:
        return False
    return True
