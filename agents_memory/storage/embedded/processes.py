"""Facts about other processes, and a leash for our own children."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# The caller's environment changes what programs say (LC_*) and do (LD_PRELOAD, PG*).
PLAIN_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC"}
_UTF8 = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def exists(pid: int) -> bool:
    """Whether any process, even a dead one not yet collected, has this id."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def is_postmaster(pid: int, data: Path) -> bool:
    """Whether `pid` is a living Postgres server of the cluster in `data`."""
    if os.path.isdir("/proc/self"):
        return _is_postmaster_by_proc(pid, data)
    return is_postmaster_by_ps(pid, data)


def _is_postmaster_by_proc(pid: int, data: Path) -> bool:
    try:
        # A server stands in its data directory; a zombie stands nowhere.
        if os.readlink(f"/proc/{pid}/cwd") != os.path.realpath(data):
            return False
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def is_postmaster_by_ps(pid: int, data: Path) -> bool:
    """The same, where there is no /proc: the command line names the data directory."""
    shown = subprocess.run(
        ["ps", "-ww", "-o", "state=", "-o", "command=", "-p", str(pid)],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
        # Other locales spell a path beyond ASCII their own way.
        env={**PLAIN_ENVIRONMENT, "LC_ALL": _UTF8},
    )  # fmt: skip
    state, _, command = shown.stdout.strip().partition(b" ")
    words = b"postgres -D " + os.fsencode(data)
    return bool(state) and not state.startswith(b"Z") and command.endswith(words)


def leash(number: signal.Signals) -> Callable[[], None] | None:
    """A `preexec_fn` with which a child gets signal `number` when its parent dies.

    None where the kernel knows no such thing. The caller must have one thread: the leash is held
    by the thread that starts the child, and the code between fork and exec takes no lock.
    """
    if _libc is None:
        return None
    prctl, parent = _libc.prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def signal_if_alive(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
