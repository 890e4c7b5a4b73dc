"""Clients, keeper, server and services of an embedded database, as real processes (F101)."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import agents_memory
from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable
from agents_memory.storage.embedded.attach import Attachment, attach
from agents_memory.storage.embedded.endpoint import HOT, OWNER
from agents_memory.storage.embedded.locks import FileLock, owned
from agents_memory.storage.embedded.pidfile import running_postmaster
from agents_memory.storage.embedded.place import Place, find_place
from agents_memory.storage.embedded.probe import socket_file
from agents_memory.storage.embedded.processes import exists
from agents_memory.storage.embedded.server import Cluster
from tests.unit.storage.test_embedded_server import Store, passable_directory

LONG = 600.0

# Each leaves a file named for its process where $MARKS says.
SERVICES = {
    "steady": "mark(); signal.pause()",
    "stubborn": """
signal.signal(signal.SIGTERM, lambda *_: mark("asked"))
mark()
while not os.path.exists(os.path.join(marks, "leave")):
    signal.sigtimedwait([], 0.02)
""",
    "brief": "mark()",
    "broken": "mark(); sys.exit(3)",
}
PREAMBLE = """
import os, signal, sys
marks = os.environ["MARKS"]
name = os.path.splitext(os.path.basename(__file__))[0]
def mark(word="runs"):
    with open(os.path.join(marks, f"{name}.{word}.{os.getpid()}"), "w"):
        pass
"""


async def eventually(predicate: Callable[[], object], seconds: float = 60) -> None:
    """Wait until `predicate` holds; the deadline is for a hung machine only."""
    async with asyncio.timeout(seconds):
        while not predicate():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    """A Python environment with our packages and the services of these tests installed."""
    directory = Path(tempfile.mkdtemp(prefix="embedded-", dir="/tmp"))
    modules = directory / "modules"
    modules.mkdir()
    for name, body in SERVICES.items():
        (modules / f"{name}.py").write_text(PREAMBLE + body)
    venv.create(directory / "venv", symlinks=True)
    packages = next((directory / "venv" / "lib").glob("python*")) / "site-packages"
    roots = [modules, Path(agents_memory.__file__).parents[1], Path(asyncpg.__file__).parents[1]]
    (packages / "tests.pth").write_text("".join(f"{root}\n" for root in roots))
    yield directory / "venv" / "bin" / "python"
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store()
    yield found
    found.remove()


class Stage:
    """One base directory, the environment of its services, and what goes on in it."""

    def __init__(self, directory: Path, store: Store) -> None:
        self.base = directory / "base"
        store.lend(self.base)
        with (self.base / "pgdata" / "postgresql.conf").open("a") as file:
            file.write("\nfsync = off\n")
        self.marks = directory / "marks"
        self.marks.mkdir()
        self.attachments: list[Attachment] = []

    @property
    def place(self) -> Place:
        return find_place(self.base)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "MARKS": str(self.marks)}

    async def attach(
        self,
        *services: str,
        linger: float = LONG,
        timeout: float = 120,
        env: Mapping[str, str] | None = None,
    ) -> Attachment:
        found = await attach(self.base, services, linger, timeout, env or self.environment)
        self.attachments.append(found)
        return found

    def service(self, name: str, word: str = "runs") -> list[int]:
        """The processes that service `name` ever had, or those that left another mark."""
        return sorted(int(path.suffix[1:]) for path in self.marks.glob(f"{name}.{word}.*"))

    def keepers(self) -> list[int]:
        shown = subprocess.run(
            ["ps", "-axww", "-o", "pid=", "-o", "command="], capture_output=True, check=True
        )
        words = b"embedded.keeper --base " + os.fsencode(self.base.resolve())
        lines = [line.split(None, 1) for line in shown.stdout.splitlines()]
        return [int(pid) for pid, command in lines if words in command and b"ps -ax" not in command]

    def keeper(self) -> int:
        (pid,) = self.keepers()
        return pid

    def postmaster(self) -> int:
        pid = running_postmaster(self.place.data)
        assert pid is not None
        return pid

    @contextlib.contextmanager
    def spoilt(self, name: str, text: str) -> Iterator[None]:
        """File `name` of the cluster says something else for a while."""
        path = self.place.data / name
        before = path.read_bytes()
        path.write_text(text)
        yield
        path.write_bytes(before)

    def has_clients(self) -> bool:
        with FileLock(self.place.clients_lock) as lock:
            return not lock.own()

    def parent(self, pid: int) -> int:
        shown = subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], stdout=subprocess.PIPE)
        return int(shown.stdout)

    def is_over(self) -> bool:
        return not (owned(self.place.keeper_lock) or owned(self.place.server_lock))


@pytest.fixture
def set_stage(store: Store, tools: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    directory = passable_directory()
    monkeypatch.setattr(sys, "executable", str(tools))
    found = Stage(directory, store)
    yield found
    cluster = Cluster(found.base)
    cluster.stop()
    store.take_back(found.base)
    cluster.remove()
    shutil.rmtree(directory)


@pytest.fixture
async def stage(set_stage: Stage) -> AsyncIterator[Stage]:
    found = set_stage
    yield found
    (found.marks / "leave").touch()
    for attachment in found.attachments:
        attachment.close()
    for pid in found.keepers():
        os.kill(pid, signal.SIGTERM)
    await eventually(lambda: not found.keepers())


async def query(attachment: Attachment, sql: str, role: str = HOT) -> Any:
    connection = await asyncpg.connect(attachment.dsn(role))
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


CLIENT = """
import asyncio, os, sys
from agents_memory.storage.embedded.attach import attach
async def main():
    attachment = await attach(sys.argv[1], sys.argv[3:], float(sys.argv[2]), 120, dict(os.environ))
    print(attachment.dsn("memory_hot"), flush=True)
    await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


def client(stage: Stage, *services: str, linger: float = LONG) -> subprocess.Popen[str]:
    """Another process that attaches, prints its DSN, and stays until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", CLIENT, str(stage.base), str(linger), *services],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=stage.environment,
    )  # fmt: skip


async def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return await asyncio.to_thread(process.stdout.readline)


class TestLife:
    async def test_first_client_brings_up_server_and_services_and_the_last_ends_them(
        self, stage: Stage
    ) -> None:
        attachment = await stage.attach("steady", linger=0)
        assert await query(attachment, "SELECT current_user") == HOT
        await eventually(lambda: stage.service("steady"))
        attachment.close()
        await eventually(stage.is_over)
        assert not exists(stage.service("steady")[0])
        await eventually(lambda: not stage.keepers())
        assert not stage.place.sockets.exists()

    async def test_server_is_made_when_there_is_none(self, stage: Stage) -> None:
        shutil.rmtree(stage.place.data)
        attachment = await stage.attach()
        assert await query(attachment, "SELECT '[1]'::vector::text") == "[1]"

    async def test_service_of_a_later_client_is_started_too(self, stage: Stage) -> None:
        await stage.attach()
        await stage.attach("steady")
        await eventually(lambda: stage.service("steady"))
        await stage.attach("steady")
        assert len(stage.service("steady")) == 1

    async def test_another_client_keeps_everything_up(self, stage: Stage) -> None:
        first = await stage.attach("steady", linger=0)
        second = client(stage, linger=0)
        assert await line_of(second)
        await eventually(lambda: stage.service("steady"))
        postmaster = stage.postmaster()
        first.close()
        first = await stage.attach(linger=0)
        assert stage.postmaster() == postmaster
        second.communicate()
        assert await query(first, "SELECT 1") == 1

    async def test_keeper_leaves_the_process_tree_and_holds_no_pipe_of_its_client(
        self, stage: Stage
    ) -> None:
        """The client's output ends with the client, though the keeper lives on."""
        process = client(stage, "steady")
        assert await line_of(process)
        assert stage.parent(stage.keeper()) not in (process.pid, os.getpid())
        assert os.getsid(stage.keeper()) != os.getsid(process.pid)
        await asyncio.wait_for(asyncio.to_thread(process.communicate), 30)
        assert owned(stage.place.keeper_lock)

    async def test_hostile_directory_and_environment_are_ignored(
        self, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "agents_memory").mkdir()
        (tmp_path / "agents_memory" / "__init__.py").write_text("raise SystemExit('caught')")
        (tmp_path / "steady.py").write_text("raise SystemExit('caught')")
        monkeypatch.chdir(tmp_path)
        hostile = {"PYTHONPATH": str(tmp_path), "PGDATA": "/x", "LANG": "en_US.UTF-8"}
        attachment = await stage.attach("steady", env={**stage.environment, **hostile})
        assert await query(attachment, "SELECT 1") == 1
        await eventually(lambda: stage.service("steady"))

    async def test_told_to_stop_it_stops_everything_at_once(self, stage: Stage) -> None:
        attachment = await stage.attach("steady")
        await eventually(lambda: stage.service("steady"))
        os.kill(stage.keeper(), signal.SIGTERM)
        await eventually(stage.is_over)
        assert not exists(stage.service("steady")[0])
        await attachment.ensure()
        assert await query(attachment, "SELECT 1") == 1

    async def test_deleted_directory_ends_everything(self, stage: Stage) -> None:
        await stage.attach("steady")
        await eventually(lambda: stage.service("steady"))
        keeper, service = stage.keeper(), stage.service("steady")[0]
        shutil.rmtree(stage.base)
        await eventually(lambda: not exists(keeper))
        assert not exists(service)
        assert not stage.place.sockets.exists()

    async def test_second_keeper_leaves_at_once(self, stage: Stage) -> None:
        await stage.attach()
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-m", "agents_memory.storage.embedded.keeper",
            "--base", stage.base,
        )  # fmt: skip
        assert await second.wait() == 0
        assert len(stage.keepers()) == 1


class TestRaces:
    async def test_four_first_clients_share_one_server(self, stage: Stage) -> None:
        shutil.rmtree(stage.place.data)
        clients = [client(stage, "steady") for _ in range(4)]
        lines = await asyncio.gather(*(line_of(process) for process in clients))
        assert len(set(lines)) == 1
        assert lines[0]
        assert len(stage.keepers()) == 1
        connection = await asyncpg.connect(lines[0].strip())
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()
        for process in clients:
            process.communicate()

    async def test_client_that_comes_during_the_shutdown_gets_a_server(self, stage: Stage) -> None:
        first = await stage.attach("stubborn", linger=0)
        await eventually(lambda: stage.service("stubborn"))
        keeper = stage.keeper()
        first.close()
        await eventually(lambda: stage.service("stubborn", "asked"))
        late = asyncio.create_task(stage.attach(linger=0))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(late), 0.2)
        assert not late.done()
        (stage.marks / "leave").touch()
        attachment = await late
        assert await query(attachment, "SELECT 1") == 1
        assert stage.keeper() != keeper

    async def test_clients_that_come_and_go_always_get_a_server(self, stage: Stage) -> None:
        for _ in range(12):
            attachment = await stage.attach(linger=0)
            assert await query(attachment, "SELECT 1") == 1
            attachment.close()


class TestKilled:
    async def test_killed_client_no_longer_counts(self, stage: Stage) -> None:
        """E10, F4: nothing outlives the last client, however it ended."""
        process = client(stage, "steady", linger=0)
        assert await line_of(process)
        process.kill()
        process.communicate()
        await eventually(stage.is_over)
        assert not [pid for pid in stage.service("steady") if exists(pid)]

    async def test_killed_server_comes_back_with_all_that_was_committed(self, stage: Stage) -> None:
        attachment = await stage.attach()
        await query(attachment, "CREATE TABLE kept AS SELECT generate_series(1, 500)", OWNER)
        before = stage.postmaster()
        os.kill(before, signal.SIGKILL)
        await eventually(lambda: running_postmaster(stage.place.data) not in (None, before))
        await attachment.ensure()
        assert await query(attachment, "SELECT count(*) FROM kept", OWNER) == 500

    async def test_killed_keeper_takes_services_along_and_its_successor_adopts_the_server(
        self, stage: Stage
    ) -> None:
        attachment = await stage.attach("steady")
        await eventually(lambda: stage.service("steady"))
        keeper, postmaster, service = (
            stage.keeper(), stage.postmaster(), stage.service("steady")[0],
        )  # fmt: skip
        os.kill(keeper, signal.SIGKILL)
        if sys.platform != "linux":
            os.kill(service, signal.SIGTERM)
        await eventually(lambda: not exists(service))
        assert await query(attachment, "SELECT 1") == 1
        await attachment.ensure()
        assert stage.postmaster() == postmaster
        assert stage.keeper() != keeper
        await eventually(lambda: len(stage.service("steady")) == 2)
        for held_open in stage.attachments:
            held_open.close()
        os.kill(stage.keeper(), signal.SIGTERM)
        await eventually(stage.is_over)

    async def test_killed_keeper_and_server_are_replaced(self, stage: Stage) -> None:
        attachment = await stage.attach()
        keeper, postmaster = stage.keeper(), stage.postmaster()
        os.kill(keeper, signal.SIGKILL)
        os.kill(postmaster, signal.SIGKILL)
        await attachment.ensure()
        assert await query(attachment, "SELECT 1") == 1
        assert stage.postmaster() != postmaster

    async def test_server_nobody_can_reach_any_more_is_restarted(self, stage: Stage) -> None:
        """As when a cleaner of /tmp swept its socket away."""
        attachment = await stage.attach()
        postmaster = stage.postmaster()
        socket_file(stage.place.sockets).unlink()
        await eventually(lambda: running_postmaster(stage.place.data) not in (None, postmaster))
        await attachment.ensure()
        assert await query(attachment, "SELECT 1") == 1

    async def test_dead_service_is_restarted_and_a_content_one_is_not(self, stage: Stage) -> None:
        await stage.attach("broken", "brief", "steady")
        await eventually(lambda: stage.service("steady"))
        os.kill(stage.service("steady")[0], signal.SIGKILL)
        await eventually(lambda: len(stage.service("steady")) == 2)
        await eventually(lambda: len(stage.service("broken")) >= 2)
        assert len(stage.service("brief")) == 1


class TestFaults:
    async def test_server_that_cannot_start_is_quoted_with_its_log(self, stage: Stage) -> None:
        with stage.spoilt("postgresql.conf", "no_such_setting = 1\n"):
            with pytest.raises(DatabaseUnavailable, match="no_such_setting") as refused:
                await stage.attach()
            assert str(stage.place.start_log) in str(refused.value)
            await eventually(stage.is_over)

    async def test_wrong_data_are_a_setting_to_correct_and_then_forgotten(
        self, stage: Stage
    ) -> None:
        with stage.spoilt("PG_VERSION", "17\n"):
            for _ in range(2):
                with pytest.raises(ConfigurationError, match="pg_dump"):
                    await stage.attach()
        attachment = await stage.attach()
        assert await query(attachment, "SELECT 1") == 1
        assert not stage.place.failure.exists()

    async def test_server_that_does_not_come_in_time_is_named(self, stage: Stage) -> None:
        with FileLock(stage.place.keeper_lock) as lock:
            assert lock.own()
            with pytest.raises(DatabaseUnavailable, match="has not answered within"):
                await stage.attach(timeout=0.1)
            assert not stage.has_clients()

    async def test_waiting_can_be_stopped(self, stage: Stage) -> None:
        with FileLock(stage.place.keeper_lock) as lock:
            assert lock.own()
            waiting = asyncio.create_task(stage.attach())
            await eventually(stage.has_clients)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert not stage.has_clients()

    async def test_closed_attachment_says_so(self, stage: Stage) -> None:
        attachment = await stage.attach()
        attachment.close()
        attachment.close()
        with pytest.raises(DatabaseUnavailable, match="Attach again"):
            await attachment.ensure()

    async def test_closing_ends_a_wait_for_the_server(self, stage: Stage) -> None:
        attachment = await stage.attach()
        os.kill(stage.keeper(), signal.SIGTERM)
        await eventually(stage.is_over)
        with FileLock(stage.place.keeper_lock) as lock:
            assert lock.own()
            waiting = asyncio.create_task(attachment.ensure())
            await asyncio.sleep(0)
            attachment.close()
            with pytest.raises(DatabaseUnavailable, match="Attach again"):
                await waiting
            assert not stage.has_clients()
