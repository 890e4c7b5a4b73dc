"""The one process per base directory that owns the server and the shared services.

    python -I -m agents_memory.storage.embedded.keeper --base DIR --linger 60 --service cold

It is nobody's child and holds no terminal. It ends when no client has held the clients' lock for
`linger` seconds, and keeps new clients waiting on that lock until everything is down, so that
none attaches to a server that is about to stop.
"""

import argparse
import contextlib
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.storage.embedded.failure import report_failure
from agents_memory.storage.embedded.journal import trim
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import find_place, make_base, remove_sockets
from agents_memory.storage.embedded.server import Cluster
from agents_memory.storage.embedded.services import Backoff, Service, wished, wished_at

log = logging.getLogger(__name__)

_TICK = 1.0
_RESTARTS = 5
_RESTART_WINDOW = 600.0


class Stopped(Exception):
    """Raised out of a wait when the keeper is told to end."""


class Alarm:
    """A wait that signals cut short: a stop raises Stopped, a child's end just wakes."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._stopped = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        for number in (signal.SIGCHLD, signal.SIGHUP):
            # Not ignored, for children would inherit that.
            signal.signal(number, lambda *_: None)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True

    def wait(self, seconds: float) -> None:
        """Wait up to `seconds`. Raises Stopped as soon as a stop was asked for."""
        if not self._stopped and select.select([self._reader], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._reader, 4096)
        if self._stopped:
            raise Stopped


class Keeper:
    """Watches the server and the services until nobody needs them."""

    def __init__(
        self,
        cluster: Cluster,
        modules: Sequence[str],
        linger: float,
        wait: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._place = cluster.place
        self._services: dict[str, Service] = {}
        self._modules = tuple(modules)
        self._linger = linger
        self._wait = wait
        self._clock = clock
        self._restarts: list[float] = []
        self._backoff = Backoff()
        self._started = 0.0
        self._idle_since: float | None = None

    def run(self, keeper: FileLock, clients: FileLock) -> None:
        """Return, owning `clients`, when no client came for `linger` seconds.

        Also returns when the directory was taken away. Raises DatabaseUnavailable when the
        server keeps dying, and whatever `wait` raises.
        """
        self._start()
        while keeper.in_place() and not self._unneeded(clients):
            if not self._cluster.running():
                self._restart()
            self._tend()
            trim(self._place.keeper_log)
            self._wait(_TICK)

    def stop(self) -> None:
        """Stop the services, then the server."""
        for service in self._services.values():
            service.stop()
        for service in self._services.values():
            service.wait()
        self._cluster.stop()

    def _tend(self) -> None:
        for module in (*self._modules, *wished(self._place)):
            if module not in self._services:
                self._services[module] = Service(module, self._place.base, self._clock)
        for module, service in self._services.items():
            service.heed(wished_at(self._place, module))
            service.tend()

    def _start(self) -> None:
        self._cluster.start()
        self._started = self._clock()
        log.info("the server accepts connections")

    def _restart(self) -> None:
        now = self._clock()
        self._restarts = [when for when in self._restarts if when > now - _RESTART_WINDOW]
        if len(self._restarts) >= _RESTARTS:
            raise DatabaseUnavailable(
                f"The embedded Postgres died {_RESTARTS + 1} times within "
                f"{_RESTART_WINDOW / 60:.0f} minutes. Look into {self._place.data / 'log'} "
                "for the reason, remove it and start again."
            )
        self._restarts.append(now)
        log.warning("the server is gone")
        # One whose socket was swept away still runs, but nobody can reach it.
        self._cluster.stop()
        if len(self._restarts) > 1:
            self._wait(self._backoff.after(now - self._started))
        self._start()

    def _unneeded(self, clients: FileLock) -> bool:
        """Whether nobody came for `linger` seconds; if so, the clients' lock stays owned."""
        if not clients.own():
            self._idle_since = None
            return False
        now = self._clock()
        if self._idle_since is None:
            self._idle_since = now
        if now - self._idle_since >= self._linger:
            log.info("no client for %g seconds", self._linger)
            return True
        clients.release()
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the keeper; 0 when it ended as it should or another one is at work."""
    options = _parse(arguments)
    if options.detach and os.fork() > 0:
        # The child is now nobody's: a client that kills its descendants leaves it alone.
        os._exit(0)
    os.umask(0o077)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s keeper[%(process)d] %(message)s"
    )
    place = find_place(options.base)
    try:
        make_base(place)
        with FileLock(place.keeper_lock, options.lock) as lock:
            if not lock.own():
                return 0
            return _keep(options, lock)
    except MemoryFault as fault:
        log.error("%s", fault)
        return 1


def _keep(options: argparse.Namespace, lock: FileLock) -> int:
    alarm = Alarm()
    cluster = Cluster(options.base, pause=alarm.wait)
    keeper = Keeper(cluster, options.service, options.linger, alarm.wait)
    with FileLock(cluster.place.clients_lock) as clients:
        try:
            keeper.run(lock, clients)
        except Stopped:
            log.info("told to stop")
        except MemoryFault as fault:
            log.error("%s", fault)
            report_failure(cluster.place, fault)
            return 1
        finally:
            keeper.stop()
            # Without our lock a successor may be at work in the same directory by now.
            if lock.in_place() or not cluster.place.base.exists():
                remove_sockets(cluster.place)
            log.info("everything is stopped")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="keeper", description="Keeps an embedded database.")
    parser.add_argument("--base", type=Path, required=True, help="the data directory")
    parser.add_argument("--linger", type=float, default=60.0, help="seconds without a client")
    parser.add_argument("--service", action="append", default=[], help="a module to run beside it")
    parser.add_argument("--detach", action="store_true", help="leave the caller's process tree")
    parser.add_argument("--lock", type=int, help="inherited descriptor of the keeper's lock")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
