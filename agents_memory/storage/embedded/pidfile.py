"""The server's own PID file: whom it names, and what to do with one that lies."""

import os
from pathlib import Path

from agents_memory.storage.embedded.account import Account
from agents_memory.storage.embedded.configuration import write_private
from agents_memory.storage.embedded.processes import exists, is_postmaster

# No process has it: above the largest id any kernel gives.
_NO_PROCESS = 2**31 - 2


def running_postmaster(data: Path) -> int | None:
    """The id of the living server of the cluster in `data`, or None."""
    pid = _named(data)
    return pid if pid is not None and is_postmaster(pid, data) else None


def says_ready(data: Path, pid: int) -> bool:
    """Whether server `pid` wrote that it accepts connections."""
    try:
        lines = _read(data).split(b"\n")
    except OSError:
        return False
    return lines[0] == b"%d" % pid and [line.strip() for line in lines[7:8]] == [b"ready"]


def disown_stale(data: Path, server: Account) -> None:
    """Correct a PID file that would keep the server from starting though none runs.

    Postgres clears one whose process is gone. It gives up when the id now belongs to somebody
    else or to a corpse nobody collected, and when the file is empty or garbage. The rest of the
    file stays, for Postgres reads in it which shared memory to check for survivors.
    """
    path = data / "postmaster.pid"
    pid = _named(data)
    if pid is None:
        path.unlink(missing_ok=True)
    elif exists(pid) and not is_postmaster(pid, data):
        _, _, rest = _read(data).partition(b"\n")
        write_private(path, b"%d\n%s" % (_NO_PROCESS, rest), server)


def _named(data: Path) -> int | None:
    try:
        pid = int(_read(data).partition(b"\n")[0])
    except (OSError, ValueError):
        return None
    return pid if 0 < pid <= _NO_PROCESS else None


def _read(data: Path) -> bytes:
    # The server's account owns that directory, so root follows no link in it.
    descriptor = os.open(data / "postmaster.pid", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        return file.read(4096)
