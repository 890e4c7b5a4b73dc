"""How a process of ours comes to the embedded database, and keeps it running meanwhile."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable
from agents_memory.storage.embedded.endpoint import Endpoint
from agents_memory.storage.embedded.failure import clear_failure, read_failure
from agents_memory.storage.embedded.journal import private, read_tail
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import make_base
from agents_memory.storage.embedded.server import Cluster
from agents_memory.storage.embedded.services import forget_wishes, wish

_GLANCE = 0.03
_KEEPER_ATTEMPTS = 3


class Attachment:
    """A client's hold on the embedded server; the server stays up at least until `close`.

    The kernel counts the holders, so a killed client is no longer one.
    """

    def __init__(
        self,
        base: Path | str,
        services: Sequence[str],
        linger: float,
        timeout: float,
        env: Mapping[str, str],
    ) -> None:
        self._cluster = Cluster(base)
        self._services = tuple(services)
        self._linger = linger
        self._timeout = timeout
        self._env = dict(env)
        self._hold: FileLock | None = None
        self._closed = False

    @property
    def endpoint(self) -> Endpoint:
        """Socket directory, port and database."""
        return self._cluster.place.endpoint

    def dsn(self, role: str) -> str:
        """The DSN of one of the three roles, for asyncpg."""
        return self.endpoint.dsn(role)

    async def ensure(self) -> None:
        """Return when keeper and server are up, starting what was killed meanwhile.

        Cheap when all is well (some milliseconds). Raises ConfigurationError or
        DatabaseUnavailable as `attach`.
        """
        self._check_open()
        place = self._cluster.place
        try:
            async with asyncio.timeout(self._timeout):
                await self._count_me()
                await self._await_server()
            for service in self._services:
                wish(place, service)
        except TimeoutError:
            raise DatabaseUnavailable(
                f"The embedded Postgres has not answered within {self._timeout:g} seconds. It may "
                f"be recovering after a crash: try again. It said last:\n"
                f"{read_tail(place.start_log)}\nIts logs are {place.start_log}, "
                f"{place.keeper_log} and {place.data / 'log'}."
            ) from None
        except OSError as error:
            raise DatabaseUnavailable(
                f"Cannot start the embedded Postgres in {place.base}: {error}. Remove the cause (a "
                "full disk, missing permissions) and try again."
            ) from error

    def close(self) -> None:
        """Let go: when no client is left, the keeper stops everything after its linger."""
        self._closed = True
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseUnavailable("This attachment is closed. Attach again.")

    async def _count_me(self) -> None:
        """Hold the clients' lock; a keeper that is just stopping makes us wait for its end."""
        make_base(self._cluster.place)
        if self._hold is not None and self._hold.in_place():
            return
        hold = FileLock(self._cluster.place.clients_lock)
        try:
            while not hold.share():
                await asyncio.sleep(_GLANCE)
                self._check_open()
        except BaseException:
            hold.close()
            raise
        if self._hold is not None:
            self._hold.close()
        self._hold = hold

    async def _await_server(self) -> None:
        place = self._cluster.place
        attempts = 0
        while True:
            starting = None
            with FileLock(place.keeper_lock) as lock:
                if lock.own():
                    # Nobody keeps it; when the one we started is gone, it may have said why.
                    if attempts == _KEEPER_ATTEMPTS or (attempts and place.failure.exists()):
                        raise read_failure(place)
                    attempts += 1
                    starting = self._start_keeper(lock)
            while starting is not None and starting.poll() is None:  # noqa: ASYNC110
                await asyncio.sleep(_GLANCE)
            if await asyncio.to_thread(self._cluster.alive):
                return
            self._check_open()
            await asyncio.sleep(_GLANCE)

    def _start_keeper(self, lock: FileLock) -> subprocess.Popen[bytes]:
        """Start a keeper that inherits the lock, so that there is never a second one.

        The process returned is gone as soon as it has sent the real keeper on its way.
        """
        place = self._cluster.place
        clear_failure(place)
        forget_wishes(place)
        with open(place.keeper_log, "ab", opener=private) as log:
            return subprocess.Popen(
                [
                    sys.executable, "-I", "-m", "agents_memory.storage.embedded.keeper",
                    "--base", place.base, "--linger", str(self._linger),
                    "--detach", "--lock", str(lock.descriptor),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=self._env,
                pass_fds=(lock.descriptor,), start_new_session=True,
            )  # fmt: skip


async def attach(
    base: Path | str,
    services: Sequence[str],
    linger: float,
    timeout: float,
    env: Mapping[str, str],
) -> Attachment:
    """Attach to the embedded server of `base`, starting it and its services when needed.

    `services` are modules that the keeper runs as `python -I -m <module>`; it starts those that
    any client wants. The first client decides about their environment, `env`, and about `linger`:
    how long everything stays up after the last client. `timeout` is how long to wait for the
    server. Both in seconds.

    Raises ConfigurationError when the user must change something, DatabaseUnavailable when the
    server does not come up. May be cancelled at any time.
    """
    if sys.platform == "win32":
        raise ConfigurationError(
            "The embedded database runs on Linux and macOS only. Set DATABASE_URL to a Postgres "
            "with pgvector."
        )
    attachment = Attachment(base, services, linger, timeout, env)
    try:
        await attachment.ensure()
    except BaseException:
        attachment.close()
        raise
    return attachment
