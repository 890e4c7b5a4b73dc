"""One embedded server: start it, ask it, stop it.

Whether any process of the cluster lives is read from a lock that all of them inherit, never from
a PID: ids are recycled, and mean nothing to another container that shares the directory.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.storage.embedded.journal import private, read_tail
from agents_memory.storage.embedded.locks import FileLock, owned
from agents_memory.storage.embedded.pidfile import running_postmaster, says_ready
from agents_memory.storage.embedded.place import find_place, make_base
from agents_memory.storage.embedded.probe import Answer, ask, socket_file
from agents_memory.storage.embedded.processes import leash, signal_if_alive

if TYPE_CHECKING:
    from agents_memory.storage.embedded.programs import Programs

_GLANCE = 0.02
_START_ATTEMPTS = 3
_PATIENCE_WITH_STOP = 120.0


class Cluster:
    """The server of one base directory, seen by the process that starts and stops it.

    Only one process may start it at a time; the keeper's lock sees to that, tests by their own
    directories. `settings` go over the configuration (`{"fsync": "off"}`). `pause` is how to wait
    some seconds: it may raise to give up. `tethered`: the server ends with the thread that
    started it (Linux).
    """

    def __init__(
        self,
        base: Path | str,
        settings: Mapping[str, str] | None = None,
        *,
        pause: Callable[[float], None] = time.sleep,
        tethered: bool = False,
    ) -> None:
        self.place = find_place(base)
        self._settings = dict(settings or {})
        self._pause = pause
        self._tethered = tethered
        self._child: subprocess.Popen[bytes] | None = None

    def dsn(self, role: str) -> str:
        """The DSN of one of the three roles."""
        return self.place.endpoint.dsn(role)

    def alive(self) -> bool:
        """Whether the server of this very directory accepts connections."""
        # The lock tells it from one whose directory was deleted and made anew.
        return owned(self.place.server_lock) and ask(self.place.sockets) is Answer.READY

    def running(self) -> bool:
        """Whether its process lives and its socket is in place; it may still be starting."""
        if self._child is not None and self._child.poll() is not None:
            return False
        reachable = socket_file(self.place.sockets).exists()
        return reachable and running_postmaster(self.place.data) is not None

    def start(self, timeout: float | None = None) -> None:
        """Return when the server accepts connections; one that already runs is adopted.

        Makes the cluster at the first start. Crash recovery may take long and is never cut
        short. Raises ConfigurationError for what the user must change, DatabaseUnavailable when
        the server refuses to start or has not come up after `timeout` seconds (it goes on).
        """
        # Here, because whoever only looks whether a server runs founds and prepares none.
        from agents_memory.storage.embedded.preparation import prepare

        end = None if timeout is None else time.monotonic() + timeout
        make_base(self.place)
        for _ in range(_START_ATTEMPTS):
            with FileLock(self.place.server_lock) as lock:
                if self._adopts(lock, end):
                    return
                programs = prepare(self.place, self._settings, lock.descriptor)
                child = self._child = self._launch(programs, lock.descriptor, end)
            if self._comes_up(child, end):
                return
        raise DatabaseUnavailable(
            f"The embedded Postgres does not start. {self._last_words()}\nRemove the cause it "
            f"names and start again; all it said is in {self.place.start_log}, later lines are in "
            f"{self.place.data / 'log'}."
        )

    def stop(self) -> None:
        """Stop the server: sessions are cut, nothing committed is lost. Waits for its end."""
        # The harder ways give up the last checkpoint, which the next start makes up for.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if (pid := self._pid()) is not None:
                signal_if_alive(pid, number)
            end = time.monotonic() + _PATIENCE_WITH_STOP
            while self._pid() is not None and time.monotonic() < end:
                time.sleep(_GLANCE)

    def remove(self) -> None:
        """Stop the server and delete its data and its socket directory; for passing clusters."""
        self.stop()
        for path in (self.place.data, self.place.sockets):
            shutil.rmtree(path, ignore_errors=True)
        if self.place.home != self.place.base:
            shutil.rmtree(self.place.home, ignore_errors=True)

    def _adopts(self, lock: FileLock, end: float | None) -> bool:
        """Wait until a server that runs answers (True), or until `lock` is ours."""
        while not lock.own():
            # Its server runs, or the backends of a killed one still have to end.
            if self.alive():
                return True
            self._stop_if_unreachable()
            self._wait(end)
        return False

    def _launch(
        self, programs: "Programs", lock: int, end: float | None
    ) -> subprocess.Popen[bytes]:
        while ask(self.place.sockets) is not Answer.NOBODY:
            # The server of a deleted directory of this name; it notices within a minute.
            self._wait(end)
        # Nobody listens, so whatever a killed server left behind is nobody's.
        listening = socket_file(self.place.sockets)
        listening.unlink(missing_ok=True)
        Path(f"{listening}.lock").unlink(missing_ok=True)
        before = leash(signal.SIGINT) if self._tethered else None
        with open(self.place.start_log, "wb", opener=private) as said:
            return programs.start(lock, "postgres", "-D", self.place.data, log=said, before=before)

    def _comes_up(self, child: subprocess.Popen[bytes], end: float | None) -> bool:
        """Wait until the new server answers (True) or has ended."""
        while child.poll() is None:
            if ask(self.place.sockets) is Answer.READY:
                return True
            self._stop_if_unreachable()
            self._wait(end)
        return False

    def _stop_if_unreachable(self) -> None:
        """A server whose socket was swept away would never answer again."""
        pid = self._pid()
        swept = not socket_file(self.place.sockets).exists()
        if swept and pid is not None and says_ready(self.place.data, pid):
            self.stop()

    def _pid(self) -> int | None:
        """The server's process: our child, even before it wrote its PID file, or an adopted one."""
        if self._child is not None:
            if self._child.poll() is None:
                return self._child.pid
            self._child = None
        return running_postmaster(self.place.data)

    def _wait(self, end: float | None) -> None:
        if end is not None and time.monotonic() > end:
            raise DatabaseUnavailable(
                f"The embedded Postgres is not up yet. {self._last_words()}\nIt may be recovering "
                f"after a crash: wait and try again, or look into {self.place.data / 'log'}."
            )
        self._pause(_GLANCE)

    def _last_words(self) -> str:
        """The end of what the server said, before and after it opened a log of its own."""
        logs = sorted(
            (self.place.data / "log").glob("*.log"), key=lambda path: path.stat().st_mtime
        )
        said = [read_tail(path) for path in (self.place.start_log, *logs[-1:])]
        return "It said last:\n" + "\n".join(said)
