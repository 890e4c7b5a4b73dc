"""The shared services that live and die with the keeper (`cold`, `ingest` …)."""

import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from agents_memory.storage.embedded.journal import private, trim
from agents_memory.storage.embedded.place import Place
from agents_memory.storage.embedded.processes import leash

log = logging.getLogger(__name__)

_STEADY_SECONDS = 60.0
_FIRST_DELAY = 1.0
_LONGEST_DELAY = 300.0
_PATIENCE_WITH_STOP = 10.0


def wish(place: Place, module: str) -> None:
    """Ask the keeper of `place` to run `module` beside the server."""
    place.wishes.mkdir(mode=0o700, exist_ok=True)
    (place.wishes / module).touch(mode=0o600)


def wished(place: Place) -> list[str]:
    """The modules that clients asked for, in a fixed order."""
    return sorted(path.name for path in place.wishes.glob("*"))


def wished_at(place: Place, module: str) -> int:
    """When a client last asked for a module, in nanoseconds since 1970; 0 when none did."""
    try:
        return (place.wishes / module).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def forget_wishes(place: Place) -> None:
    """Start over: whoever still wants a service asks again."""
    for path in place.wishes.glob("*"):
        path.unlink(missing_ok=True)


class Backoff:
    """How long to wait before the next restart: doubling, from 1 s to 5 min.

    A life of at least a minute starts the count over.
    """

    def __init__(self) -> None:
        self._delay = _FIRST_DELAY

    def after(self, lived: float) -> float:
        """The seconds to wait now that a life of `lived` seconds has ended."""
        if lived >= _STEADY_SECONDS:
            self._delay = _FIRST_DELAY
        delay, self._delay = self._delay, min(self._delay * 2, _LONGEST_DELAY)
        return delay


class Service:
    """One child, `python -I -m <module>`; its output goes to `<module>.log` in `base`.

    Restarted when it dies; one that ends by itself with 0 stays down until it is asked for anew.
    The thread that calls `tend` must outlive it.
    """

    def __init__(self, module: str, base: Path, clock: Callable[[], float]) -> None:
        self.module = module
        self._log = base / f"{module}.log"
        self._clock = clock
        self._backoff = Backoff()
        self._due: float | None = clock()
        self._since = 0.0
        self._asked: int | None = None
        self._child: subprocess.Popen[bytes] | None = None

    def heed(self, asked: int) -> None:
        """Make it due when it stays down and the last wish, at `asked`, is a new one."""
        if asked != self._asked and self._child is None and self._due is None:
            self._due = self._clock()
        self._asked = asked

    def tend(self) -> None:
        """Start the service when it is due; notice its end."""
        now = self._clock()
        trim(self._log)
        if self._child is not None and (code := self._child.poll()) is not None:
            self._child = None
            self._due = None if code == 0 else now + self._backoff.after(now - self._since)
            log.info("service %s ended with %d", self.module, code)
        if self._child is None and self._due is not None and now >= self._due:
            self._since = now
            try:
                self._child = self._start()
                log.info("service %s started as process %d", self.module, self._child.pid)
            except OSError as error:
                self._due = now + self._backoff.after(0)
                log.warning("service %s cannot be started: %s", self.module, error)

    def stop(self) -> None:
        """Ask the service to end; `wait` sees it through."""
        self._due = None
        if self._child is not None:
            self._child.terminate()

    def wait(self, seconds: float = _PATIENCE_WITH_STOP) -> None:
        """Wait for the end of a stopped service, and kill it after `seconds`."""
        if self._child is None:
            return
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            log.warning("service %s does not stop and is killed", self.module)
            self._child.kill()
            self._child.wait()
        self._child = None

    def _start(self) -> subprocess.Popen[bytes]:
        with open(self._log, "ab", opener=private) as out:
            return subprocess.Popen(
                [sys.executable, "-I", "-m", self.module],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                start_new_session=True,
                preexec_fn=leash(signal.SIGTERM),
            )
