"""The least of a transaction pooler, and as cruel as one may be.

Each transaction gets the server session that was unused for longest, so that what leans on a
session fails at once and not once in a while. It speaks the wire protocol and asks no password.
`keeps` makes it a session pooler.
"""

import asyncio
import itertools
import struct
from collections import deque
from dataclasses import dataclass, field

from tests.integration.foreign_server import HOST, ForeignServer

_PROTOCOL_3 = 3 << 16
_SSL_REQUEST = 80877103
_CANCEL_REQUEST = 80877102
# What PgBouncer keeps track of for its clients; it refuses the rest.
_TRACKED = {"client_encoding", "application_name", "datestyle", "timezone"}


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    body = await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
    return head[:1], body


@dataclass(eq=False)
class Session:
    """A session with the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    greeting: bytes = b""
    key: bytes = b""


@dataclass(eq=False)
class Client:
    """A client, and the session it has for the length of its transaction."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    who: tuple[str, str] = ("", "")
    session: Session | None = None
    # How many answers are to come, and whether what was sent last asked for one.
    unanswered: int = 0
    in_the_air: bool = False
    pump: "asyncio.Task[None] | None" = None


@dataclass
class TransactionPooler:
    """Sits before `server`, with `size` sessions for each user of each database.

    `ignores`: settings that it does not know are dropped, not refused. `keeps`: a session is a
    client's until that leaves. `refused`: names of settings that it turned clients away for.
    `welcomed`: how many clients it took.
    """

    server: ForeignServer
    size: int = 3
    ignores: bool = False
    keeps: bool = False
    port: int = 0
    welcomed: int = 0
    refused: list[str] = field(default_factory=list)

    async def __aenter__(self) -> "TransactionPooler":
        self._idle: dict[tuple[str, str], deque[Session]] = {}
        self._made: dict[tuple[str, str], int] = {}
        self._room: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._keys: dict[bytes, Client] = {}
        self._numbers = itertools.count(1)
        self._clients: set[Client] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener = await asyncio.start_server(self._accept, HOST, 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for client in self._clients:
            client.writer.transport.abort()
        await asyncio.gather(*self._tasks)
        for session in itertools.chain(*self._idle.values()):
            session.writer.close()

    def url(self, role: str, database: str = "memory") -> str:
        return f"postgresql://{role}:any@{HOST}:{self.port}/{database}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        client = Client(reader, writer)
        self._clients.add(client)
        try:
            if await self._welcome(client):
                await self._serve(client)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            await self._leave(client)
            self._clients.discard(client)
            self._tasks.discard(task)

    async def _welcome(self, client: Client) -> bool:
        while True:
            length, code = struct.unpack("!ii", await client.reader.readexactly(8))
            body = await client.reader.readexactly(length - 8)
            if code == _CANCEL_REQUEST:
                await self._cancel(body)
                return False
            if code != _SSL_REQUEST:
                break
            client.writer.write(b"N")
        assert code == _PROTOCOL_3
        words = body.decode().split("\x00")
        settings = dict(zip(words[::2], words[1::2], strict=False))
        client.who = (settings.pop("user"), settings.pop("database"))
        unknown = [name for name in settings if name and name.lower() not in _TRACKED]
        if unknown and not self.ignores:
            self.refused.append(unknown[0])
            said = f"unsupported startup parameter: {unknown[0]}"
            fields = f"SFATAL\0C08P01\0M{said}\0\0"
            client.writer.write(message(b"E", fields.encode()))
            return False
        session = await self._take(client.who)
        self._give(client.who, session)
        key = struct.pack("!ii", 4_000_000 + next(self._numbers), 1)
        self._keys[key] = client
        self.welcomed += 1
        client.writer.write(
            message(b"R", struct.pack("!i", 0)) + session.greeting + message(b"K", key)
            + message(b"Z", b"I")
        )  # fmt: skip
        return True

    async def _serve(self, client: Client) -> None:
        while True:
            kind, body = await _message(client.reader)
            if kind == b"X":
                return
            if client.session is None:
                client.session = await self._take(client.who)
                client.pump = asyncio.create_task(self._answer(client, client.session))
            asks = kind in (b"Q", b"S", b"F")
            client.unanswered += asks
            client.in_the_air = not asks
            client.session.writer.write(message(kind, body))

    async def _answer(self, client: Client, session: Session) -> None:
        """Passes on what the server says until the transaction is over."""
        while True:
            kind, body = await _message(session.reader)
            over = False
            if kind == b"Z":
                client.unanswered -= 1
                waits = client.unanswered or client.in_the_air or self.keeps
                over = body == b"I" and not waits
            if over:
                # Before the client hears of it: its next word belongs to the next session.
                client.session = client.pump = None
                self._give(client.who, session)
            client.writer.write(message(kind, body))
            if over:
                return

    async def _leave(self, client: Client) -> None:
        client.writer.close()
        session, client.session = client.session, None
        if client.pump is not None:
            client.pump.cancel()
            await asyncio.gather(client.pump, return_exceptions=True)
        if session is not None:
            # Left in the middle of something: nobody else may have it.
            session.writer.close()
            self._made[client.who] -= 1
            self._room[client.who].release()

    async def _take(self, who: tuple[str, str]) -> Session:
        await self._room.setdefault(who, asyncio.Semaphore(self.size)).acquire()
        idle = self._idle.setdefault(who, deque())
        if self._made.get(who, 0) == self.size:
            return idle.popleft()
        self._made[who] = self._made.get(who, 0) + 1
        return await self._sign_in(who)

    def _give(self, who: tuple[str, str], session: Session) -> None:
        self._idle[who].append(session)
        self._room[who].release()

    async def _sign_in(self, who: tuple[str, str]) -> Session:
        path = f"{self.server.base}/.s.PGSQL.{self.server.port}"
        session = Session(*await asyncio.open_unix_connection(path))
        words = f"user\0{who[0]}\0database\0{who[1]}\0client_encoding\0utf-8\0\0".encode()
        session.writer.write(struct.pack("!ii", len(words) + 8, _PROTOCOL_3) + words)
        while True:
            kind, body = await _message(session.reader)
            assert kind in b"RSKZ", body
            if kind == b"S":
                session.greeting += message(kind, body)
            elif kind == b"K":
                session.key = body
            elif kind == b"Z":
                return session

    async def _cancel(self, key: bytes) -> None:
        client = self._keys.get(key)
        if client is None or client.session is None:
            return
        path = f"{self.server.base}/.s.PGSQL.{self.server.port}"
        _, writer = await asyncio.open_unix_connection(path)
        body = client.session.key
        writer.write(struct.pack("!ii", len(body) + 8, _CANCEL_REQUEST) + body)
        writer.close()
