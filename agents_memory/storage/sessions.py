"""Opens sessions that are set up as we need them, whatever stands between us and the server.

A session's settings travel with the sign-in, where a server may refuse some of them and a pooler
most. A pooler that hands one server session to several clients (transaction pooling) keeps none:
there they are set anew in each transaction, and nothing else may outlive one.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import asyncpg

from agents_memory.domain.errors import ConfigurationError
from agents_memory.observe import Action, get_logger
from agents_memory.settings.address import parse
from agents_memory.storage import queries
from agents_memory.storage.driver import Connection, DedicatedConnection, add_codecs
from agents_memory.storage.faults import FROM_DRIVER, NoHost
from agents_memory.storage.hosts import Hosts

SQL = queries.load("sessions")
log = get_logger()

# Who is met behind a pooler is a matter of chance, so one look proves nothing.
_LOOKS = 3
_CACHED_STATEMENTS = 100
_CLOSE_LIMIT_S = 1.0
# The server itself ends a statement after half of that, if it still can.
STUCK_AFTER_S = 60.0
# About the connection, which behind a pooler is not ours to set.
_OF_CONNECTION = ("tcp_", "client_connection_", "idle_session_")
# An unknown setting, a value it cannot have, one that may not be set by us, or not now.
_REFUSALS = frozenset({"42704", "22023", "42501", "55P02"})
# What a pooler says to a setting it does not know.
_POOLER_REFUSAL = "08P01"
_UNDECLARED = (
    "the database is behind a pooler that shares sessions; say so with DATABASE_POOLED=true"
)
_OWN_SESSION_NEEDED = (
    "a pooler that hands one server session to several clients stands before the database; the "
    "lead of the daemon, its hints and migrations need sessions of their own. Set "
    "DATABASE_DIRECT_URL (or COLD_DATABASE_URL and OWNER_DATABASE_URL) to the server itself"
)


class _Session(NamedTuple):
    """A session of the server: its process, its search path, and the schema of pgvector."""

    pid: int
    search_path: str
    vector_home: str | None


class Sessions:
    """Opens sessions by one URL, and remembers what it learnt about the way there.

    `settings` hold a `search_path`, which is widened where pgvector has a schema of its own.
    `shared`: a server session serves several clients in turn. It may be declared, and is found out.
    """

    def __init__(self, url: str, settings: Mapping[str, str], *, shared: bool = False) -> None:
        self.hosts = Hosts(url)
        self.shared = shared
        self._url = url
        self._options = [name for name, _ in parse(url).parameters]
        self._settings = dict(settings)
        self._refused: set[str] = set()
        self._at_sign_in = True
        # A proxy invents the process ids that it tells its clients.
        self._true_pids = not shared
        self._judged = self._settled = False

    async def open(self, settings: Mapping[str, str] | None = None) -> DedicatedConnection:
        """A session with our settings and codecs; `settings` go over the common ones.

        Raises what the driver raises, and NoHost.
        """
        wanted = {**self._settings, **(settings or {})}
        return await self.hosts.first(lambda host, port: self._open_at(host, port, wanted))

    async def open_own(self, settings: Mapping[str, str]) -> DedicatedConnection:
        """A session that nobody else ever gets, fit for session locks and LISTEN.

        Raises ConfigurationError behind a pooler that shares sessions; else as `open`.
        """
        # Too much hangs on it to trust a verdict of earlier.
        self._judged = False
        connection = None if self.shared else await self.open(settings)
        if connection is not None and self.shared:
            await _close(connection)
            connection = None
        if connection is None:
            raise ConfigurationError(_OWN_SESSION_NEEDED)
        return connection

    async def set_locally(self, connection: Connection) -> None:
        """Our settings for the transaction that just began; for shared sessions."""
        await connection.execute(self._script(self._settings, local=True))

    async def knows(self, pid: int) -> bool:
        """Whether a server answers now, and has the session with this process id and works for it.

        Another server may have taken the place of the one that was signed in to. Behind a pooler,
        whose process ids are its own, that a server answers is all that can be known.
        """
        try:
            return await self.hosts.first(lambda host, port: self._asks(host, port, pid))
        except FROM_DRIVER as error:
            answers = error.failures.values() if isinstance(error, NoHost) else [error]
            # A server that turns us away is there.
            return any(
                isinstance(answer, asyncpg.PostgresError)
                and not isinstance(answer, asyncpg.PostgresConnectionError)
                for answer in answers
            )

    async def _asks(self, host: str, port: int, pid: int) -> bool:
        connection = await self._sign_in(host, port, {}, cache=False)
        try:
            # Behind a pooler, too: it may take a sign-in for a server that is frozen.
            async with connection.transaction():
                found = await connection.fetchval(SQL["find_backend"].sql, pid, STUCK_AFTER_S)
            return found is not None or not self._true_pids
        finally:
            await _close(connection)

    async def _open_at(
        self, host: str, port: int, wanted: Mapping[str, str]
    ) -> DedicatedConnection:
        while True:
            shared = self.shared
            connection = await self._enter(host, port, wanted)
            try:
                home = await self._meet(connection, host, port, wanted)
                if shared == self.shared:
                    await self._set_up(connection, wanted, home)
                    return connection
            except BaseException:
                connection.terminate()
                raise
            # Its statements were to be kept for a session that is not ours.
            await _close(connection)

    async def _enter(self, host: str, port: int, wanted: Mapping[str, str]) -> DedicatedConnection:
        """Signs in with as many of the settings as are taken at the sign-in."""
        while not self.shared and self._at_sign_in:
            sent = {name: value for name, value in wanted.items() if name not in self._refused}
            try:
                return await self._sign_in(host, port, sent, cache=True)
            except asyncpg.PostgresError as refusal:
                named = {name for name in sent if name in str(refusal)}
                if not named or refusal.sqlstate not in {*_REFUSALS, _POOLER_REFUSAL}:
                    raise
                if refusal.sqlstate == _POOLER_REFUSAL:
                    # It would go on to refuse the others one by one.
                    self._at_sign_in = False
                else:
                    self._forgo(named)
        return await self._sign_in(host, port, {}, cache=not self.shared)

    async def _sign_in(
        self, host: str, port: int, settings: dict[str, str], *, cache: bool
    ) -> DedicatedConnection:
        try:
            return await asyncpg.connect(
                self._url,
                host=host,
                port=port,
                target_session_attrs=self.hosts.target,
                server_settings=settings,
                statement_cache_size=_CACHED_STATEMENTS if cache else 0,
            )
        except asyncpg.PostgresError as refusal:
            if named := self._unknown_in(refusal, settings):
                raise ConfigurationError(
                    f"the server, or a pooler before it, does not take the option {named} of the "
                    f"database URL (SQLSTATE {refusal.sqlstate}); correct or remove it there"
                ) from refusal
            raise
        except FileNotFoundError as missing:
            if host.startswith("/"):
                raise
            # It is no socket that is missing, and waiting brings no certificate.
            raise asyncpg.ClientConfigurationError("a file of certificates is missing") from missing

    def _unknown_in(self, refusal: asyncpg.PostgresError, ours: Mapping[str, str]) -> str | None:
        """The option of the URL that the server refuses; what the driver knows never goes there."""
        if refusal.sqlstate not in {"42704", "22023", _POOLER_REFUSAL}:
            return None
        words = re.findall(r"[\w.]+", str(refusal))
        return next((name for name in self._options if name in words and name not in ours), None)

    async def _meet(
        self, connection: DedicatedConnection, host: str, port: int, wanted: Mapping[str, str]
    ) -> str | None:
        """Learns what stands before the server; returns the schema of pgvector."""
        met = await _look(connection)
        if self.shared:
            return met.vector_home
        if met.search_path != wanted["search_path"]:
            # Dropped on the way without a word.
            self._at_sign_in = False
        self._true_pids = met.pid == connection.get_server_pid()
        if not (self._true_pids or self._judged):
            for _ in range(_LOOKS):
                if await self._is_shared(connection, met.pid, host, port):
                    self.shared = True
                    log.warning(Action.SETTING_NOTED, note=_UNDECLARED)
                    break
            self._judged = True
        return met.vector_home

    async def _is_shared(
        self, connection: DedicatedConnection, pid: int, host: str, port: int
    ) -> bool:
        """Whether another client gets the server session of this connection."""
        other = await self._sign_in(host, port, {}, cache=False)
        try:
            async with other.transaction():
                # In a transaction it holds on to the session it met, which may have been ours.
                if (await _look(other)).pid == pid:
                    return True
                return (await _look(connection)).pid != pid
        finally:
            await _close(other)

    async def _set_up(
        self, connection: DedicatedConnection, wanted: Mapping[str, str], home: str | None
    ) -> None:
        path = wanted["search_path"]
        if home is not None and home != "public" and _identifier(home) not in path:
            path = self._settings["search_path"] = f"{path}, {_identifier(home)}"
        if self.shared:
            async with connection.transaction():
                if not self._settled:
                    await self._apply(connection, self._settings, local=True)
                    self._settled = True
                await add_codecs(connection, home)
            return
        if not self._at_sign_in:
            await self._apply(connection, {**wanted, "search_path": path}, local=False)
        elif path != wanted["search_path"]:
            await self._apply(connection, {"search_path": path}, local=False)
        await add_codecs(connection, home)

    async def _apply(
        self, connection: DedicatedConnection, wanted: Mapping[str, str], *, local: bool
    ) -> None:
        """Sets what the server takes, and forgoes the rest."""
        if await _takes(connection, self._script(wanted, local=local)):
            return
        for name, value in wanted.items():
            if not await _takes(connection, self._script({name: value}, local=local)):
                self._forgo({name})

    def _script(self, wanted: Mapping[str, str], *, local: bool) -> str:
        """One round trip that sets everything we have not forgone."""
        return ";".join(
            f"SELECT set_config({_literal(name)}, {_literal(value)}, {local})"
            for name, value in wanted.items()
            if name not in self._refused and not (local and name.startswith(_OF_CONNECTION))
        )

    def _forgo(self, names: set[str]) -> None:
        for name in sorted(names - self._refused):
            log.warning(Action.SETTING_NOTED, note=f"the server refuses the setting {name}")
        self._refused |= names


async def allow_long(connection: Connection, limit: str = "0") -> None:
    """Lets statements take so long (as PostgreSQL writes times; 0: any time) in this transaction.

    Nobody then takes one that goes on for stuck.
    """
    await connection.execute(SQL["allow_long"].sql, limit)


async def _look(connection: DedicatedConnection) -> _Session:
    """What serves the connection now.

    Unnamed and in a transaction: behind a pooler anything else is torn apart, or left behind.
    """
    async with connection.transaction():
        statement = await connection.prepare(SQL["find_session"].sql, name="")
        row = await statement.fetchrow()
        assert row is not None, "it asks for values only"
        return _Session(**dict(row))


async def _takes(connection: DedicatedConnection, script: str) -> bool:
    try:
        async with connection.transaction():
            await connection.execute(script)
    except asyncpg.PostgresError as refusal:
        if refusal.sqlstate not in _REFUSALS:
            raise
        return False
    return True


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


async def _close(connection: DedicatedConnection) -> None:
    try:
        await connection.close(timeout=_CLOSE_LIMIT_S)
    except FROM_DRIVER:
        connection.terminate()
