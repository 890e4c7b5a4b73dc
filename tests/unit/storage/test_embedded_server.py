"""The embedded server alone, with real processes: F101 and the traps other packages fall into."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable
from agents_memory.storage.embedded.account import Account, make_server_account
from agents_memory.storage.embedded.binaries import locate_binaries
from agents_memory.storage.embedded.endpoint import COLD, HOT, OWNER, ROLES
from agents_memory.storage.embedded.locks import FileLock, owned
from agents_memory.storage.embedded.pidfile import running_postmaster
from agents_memory.storage.embedded.probe import Answer, ask, socket_file
from agents_memory.storage.embedded.processes import is_postmaster_by_ps
from agents_memory.storage.embedded.programs import Programs
from agents_memory.storage.embedded.server import Cluster

AS_ROOT = os.geteuid() == 0
SETTINGS = {"fsync": "off", "shared_buffers": "16MB"}


def eventually(predicate: Callable[[], object], seconds: float = 60) -> None:
    """Wait until `predicate` holds; the deadline is for a hung machine only."""
    end = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def query(cluster: Cluster, sql: str, role: str = OWNER, dsn: str | None = None) -> Any:
    async def run() -> Any:
        connection = await asyncpg.connect(dsn or cluster.dsn(role))
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


def server_account() -> Account:
    return make_server_account()


def as_server() -> dict[str, Any]:
    """How to run a process as the server's account."""
    account = server_account()
    return {} if account.is_us else {"user": account.uid, "group": account.gid}


def passable_directory() -> Path:
    """Every account can get to it, unlike pytest's own directories."""
    directory = Path(tempfile.mkdtemp(prefix="embedded-", dir="/tmp"))
    directory.chmod(0o711)
    return directory


class Store:
    """A stopped cluster with a table `kept`, lent to one test after the other.

    That is faster than making or copying one. What does not come back is made anew.
    """

    def __init__(self) -> None:
        self.directory = passable_directory()
        self.cluster = Cluster(self.directory / "store", SETTINGS)

    def lend(self, base: Path) -> None:
        place = self.cluster.place
        if not place.data.exists():
            self.cluster.start(120)
            query(self.cluster, "CREATE TABLE kept AS SELECT 7 AS value")
            query(self.cluster, "GRANT SELECT ON kept TO memory_hot")
            self.cluster.stop()
        base.mkdir(mode=0o711)
        place.data.rename(base / "pgdata")
        place.last_version.rename(base / "pgdata.version")

    def take_back(self, base: Path) -> None:
        place = self.cluster.place
        if (base / "pgdata").exists():
            (base / "pgdata").rename(place.data)
            (base / "pgdata.version").rename(place.last_version)

    def remove(self) -> None:
        self.cluster.remove()
        shutil.rmtree(self.directory)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store()
    yield found
    found.remove()


@pytest.fixture
def directory() -> Iterator[Path]:
    path = passable_directory()
    yield path
    shutil.rmtree(path)


@pytest.fixture
def make_cluster(directory: Path, store: Store) -> Iterator[Callable[..., Cluster]]:
    """A stopped cluster in a directory of a given name."""
    made: list[Cluster] = []

    def make(name: str = "base", **settings: str) -> Cluster:
        store.lend(directory / name)
        cluster = Cluster(directory / name, {**SETTINGS, **settings})
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.stop()
        store.take_back(cluster.place.base)
        cluster.remove()


@pytest.fixture
def cluster(make_cluster: Callable[..., Cluster]) -> Cluster:
    return make_cluster()


@pytest.fixture
def spoilt(make_cluster: Callable[..., Cluster]) -> Iterator[Cluster]:
    """A cluster the test may damage for good."""
    cluster = make_cluster()
    yield cluster
    cluster.stop()
    shutil.rmtree(cluster.place.data)


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    """A running server for tests that only ask."""
    directory = passable_directory()
    cluster = Cluster(directory / "base", SETTINGS, tethered=True)
    cluster.start(120)
    yield cluster
    cluster.remove()
    shutil.rmtree(directory)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A living process of the server's own account that has nothing to do with it."""
    process = subprocess.Popen(["sleep", "600"], cwd="/", **as_server())
    yield process
    process.kill()
    process.wait()


class TestWhatIsMade:
    @pytest.mark.parametrize("role", ROLES)
    def test_each_role_comes_in_and_none_is_a_superuser(self, running: Cluster, role: str) -> None:
        assert query(running, "SELECT current_user", role) == role
        assert query(running, "SHOW is_superuser", role) == "off"

    def test_pgvector_is_ready_in_the_database(self, running: Cluster) -> None:
        found = query(running, "SELECT extversion FROM pg_extension WHERE extname = 'vector'", HOT)
        assert found == locate_binaries().vector_version
        assert query(running, "SELECT '[1,0]'::halfvec(2) <=> '[0,1]'", COLD) == 1

    def test_owner_makes_databases_that_hold_pgvector(self, running: Cluster) -> None:
        query(running, "CREATE DATABASE more TEMPLATE memory")
        dsn = running.dsn(HOT).replace("/memory?", "/more?")
        assert query(running, "SELECT '[1]'::vector::text", dsn=dsn) == "[1]"
        query(running, "DROP DATABASE more")

    def test_runtime_roles_cannot_make_anything(self, running: Cluster) -> None:
        for role in (HOT, COLD):
            for sql in ("CREATE DATABASE x", "CREATE TABLE x ()", "CREATE TEMP TABLE x ()"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    query(running, sql, role)

    @pytest.mark.parametrize("database", ["postgres", "template1"])
    def test_other_databases_stay_closed(self, running: Cluster, database: str) -> None:
        dsn = running.dsn(OWNER).replace("/memory?", f"/{database}?")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            query(running, "SELECT 1", dsn=dsn)

    def test_the_superuser_has_no_way_in(self, running: Cluster) -> None:
        for name in ("postgres", "agents-memory", "root"):
            dsn = running.dsn(OWNER).replace(OWNER, name)
            with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
                query(running, "SELECT 1", dsn=dsn)

    def test_order_and_case_are_the_same_on_every_machine(self, running: Cluster) -> None:
        locale = (
            "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = 'memory'"
        )
        assert query(running, locale) == "bC.UTF-8"
        assert query(running, "SELECT lower('ÀÉÎ')") == "àéî"
        assert query(running, "SHOW timezone") == "UTC"

    def test_settings_and_checksums_are_as_promised(self, running: Cluster) -> None:
        assert query(running, "SHOW listen_addresses") == ""
        assert query(running, "SHOW data_checksums") == "on"
        assert query(running, "SHOW fsync") == SETTINGS["fsync"]
        assert query(running, "SHOW max_connections") == "60"

    def test_files_are_closed_to_other_users(self, running: Cluster) -> None:
        place = running.place
        account = server_account()
        for path, owner in (
            (place.data, account.uid),
            (place.sockets, account.uid),
            (place.server_lock, os.geteuid()),
            (place.start_log, os.geteuid()),
        ):
            assert path.stat().st_mode & 0o077 == 0, path
            assert path.stat().st_uid == owner, path
        if AS_ROOT:
            assert account.name == "agents-memory"
            assert pwd.getpwuid(account.uid).pw_shell == "/usr/sbin/nologin"

    def test_other_users_of_the_machine_cannot_connect(self, running: Cluster) -> None:
        """Root tries it as two other users; an ordinary user can only look at the locks."""
        if not AS_ROOT:
            assert running.place.sockets.stat().st_mode & 0o777 == 0o700
            return
        psql = locate_binaries().bin / "psql"
        command = [str(psql), "-X", running.dsn(OWNER), "-c", "SELECT 1"]
        nobody = pwd.getpwnam("nobody")
        refused = [
            (nobody.pw_uid, nobody.pw_gid, "Permission denied"),
            (server_account().uid, server_account().gid, "Peer authentication failed"),
        ]
        for uid, gid, reason in refused:
            tried = subprocess.run(
                command, user=uid, group=gid, extra_groups=[], cwd="/", capture_output=True,
                text=True,
            )  # fmt: skip
            assert tried.returncode == 2
            assert reason in tried.stderr

    def test_log_has_no_parameters_and_no_rows(self, running: Cluster) -> None:
        async def fail() -> None:
            connection = await asyncpg.connect(running.dsn(OWNER))
            await connection.execute("CREATE TABLE one (v text PRIMARY KEY)")
            await connection.execute("INSERT INTO one VALUES ($1)", "sesame")
            with pytest.raises(asyncpg.UniqueViolationError):
                await connection.execute("INSERT INTO one VALUES ($1)", "sesame")
            await connection.execute("DROP TABLE one")
            await connection.close()

        asyncio.run(fail())
        logs = [path.read_text() for path in (running.place.data / "log").glob("*.log")]
        assert any("duplicate key" in text for text in logs)
        assert not any("sesame" in text for text in logs)

    def test_server_is_recognised_with_and_without_proc(self, running: Cluster) -> None:
        pid = running_postmaster(running.place.data)
        assert pid is not None
        assert is_postmaster_by_ps(pid, running.place.data)
        assert not is_postmaster_by_ps(pid, running.place.data.parent)


class TestStarting:
    def test_first_start_makes_a_database_and_stop_ends_it(self, directory: Path) -> None:
        """F101: no database configured, and one starts by itself."""
        cluster = Cluster(directory / "base", SETTINGS)
        assert not cluster.alive()
        cluster.start(120)
        assert cluster.alive()
        assert query(cluster, "SELECT 1", HOT) == 1
        cluster.stop()
        assert not cluster.alive()
        assert not owned(cluster.place.server_lock)
        assert not list(cluster.place.home.glob("pgdata.draft-*"))
        cluster.remove()

    def test_running_server_is_adopted_not_started_again(self, cluster: Cluster) -> None:
        cluster.start(120)
        before = running_postmaster(cluster.place.data)
        second = Cluster(cluster.place.base)
        second.start(120)
        assert running_postmaster(cluster.place.data) == before
        second.stop()
        eventually(lambda: not owned(cluster.place.server_lock))

    def test_running_server_without_a_socket_is_replaced(self, cluster: Cluster) -> None:
        """As when a cleaner of /tmp swept the socket away."""
        cluster.start(120)
        before = running_postmaster(cluster.place.data)
        socket_file(cluster.place.sockets).unlink()
        assert not cluster.running()
        second = Cluster(cluster.place.base, SETTINGS)
        second.start(120)
        assert running_postmaster(cluster.place.data) not in (None, before)
        assert query(second, "SELECT value FROM kept", HOT) == 7
        second.stop()

    def test_any_legal_path_will_do(self, make_cluster: Callable[..., Cluster]) -> None:
        name = """it's a "déjà vu", 記憶 %s \\ $HOME; """
        if sys.platform == "linux":
            name += os.fsdecode(b"\xff")
        cluster = make_cluster(name.ljust(150, "x"))
        cluster.start(120)
        assert query(cluster, "SELECT value FROM kept", HOT) == 7
        assert running_postmaster(cluster.place.data) is not None

    def test_environment_of_the_caller_does_not_matter(
        self, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in {
            "LANG": "en_US.UTF-8", "LC_ALL": "tr_TR.UTF-8", "PGDATA": "/nowhere",
            "PGPORT": "1", "PGHOST": "/nowhere", "LD_PRELOAD": "", "TZ": "Mars/Olympus",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        cluster.start(120)
        assert query(cluster, "SELECT value FROM kept", HOT) == 7

    def test_parents_keep_their_modes_and_data_lie_where_the_server_can_go(
        self, directory: Path
    ) -> None:
        closed = directory / "home"
        closed.mkdir(mode=0o700)
        cluster = Cluster(closed / "share" / "memory", SETTINGS)
        cluster.start(120)
        try:
            assert query(cluster, "SELECT 1", HOT) == 1
            assert closed.stat().st_mode & 0o777 == 0o700
            apart = Path("/var/lib/mcp-agents-memory")
            assert cluster.place.home.parent == (apart if AS_ROOT else closed / "share")
        finally:
            cluster.remove()

    def test_killed_first_start_leaves_nothing_that_hinders_the_next(self, directory: Path) -> None:
        base = directory / "base"
        program = (
            "import sys; from agents_memory.storage.embedded.server import Cluster;"
            "Cluster(sys.argv[1]).start()"
        )
        first = subprocess.Popen([sys.executable, "-c", program, base])
        eventually(lambda: list(base.glob("pgdata.draft-*/PG_VERSION")))
        first.kill()
        first.wait()
        assert not (base / "pgdata").exists()
        cluster = Cluster(base, SETTINGS)
        cluster.start(120)
        assert query(cluster, "SELECT '[1]'::vector::text", HOT) == "[1]"
        assert not list(base.glob("pgdata.draft-*"))
        cluster.remove()

    def test_broken_configuration_is_quoted_with_its_log(self, spoilt: Cluster) -> None:
        with (spoilt.place.data / "postgresql.conf").open("a") as file:
            file.write("\nno_such_setting = 1\n")
        with pytest.raises(DatabaseUnavailable, match="no_such_setting") as refused:
            spoilt.start(120)
        assert str(spoilt.place.start_log) in str(refused.value)

    def test_data_of_another_major_version_are_not_touched(self, spoilt: Cluster) -> None:
        (spoilt.place.data / "PG_VERSION").write_text("17\n")
        with pytest.raises(ConfigurationError, match=r"Postgres 17.*pg_dump"):
            spoilt.start(120)

    def test_directory_that_is_no_database_is_not_touched(self, directory: Path) -> None:
        data = directory / "base" / "pgdata"
        data.mkdir(parents=True)
        (data / "diary").touch()
        if AS_ROOT:
            shutil.chown(data, server_account().uid)
        cluster = Cluster(directory / "base")
        with pytest.raises(ConfigurationError, match="is no database"):
            cluster.start(120)
        assert (data / "diary").exists()
        cluster.remove()

    def test_data_of_somebody_else_are_refused(self, spoilt: Cluster) -> None:
        if not AS_ROOT:
            assert spoilt.place.data.stat().st_uid == os.geteuid()
            return
        os.chown(spoilt.place.data, 54321, -1)
        with pytest.raises(ConfigurationError, match="belong to user id 54321"):
            spoilt.start(120)

    def test_newer_pgvector_files_update_the_database(self, spoilt: Cluster) -> None:
        server = server_account()
        programs = Programs(locate_binaries(), server)
        with FileLock(spoilt.place.server_lock) as lock:
            programs.run(
                lock.descriptor, "postgres", "--single", "-D", spoilt.place.data, "memory",
                words="UPDATE pg_extension SET extversion = '0.8.5' WHERE extname = 'vector'\n",
            )  # fmt: skip
        spoilt.place.last_version.write_text("18.6.2 vector 0.8.5")
        spoilt.start(120)
        found = query(spoilt, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        assert found == programs.binaries.vector_version
        assert programs.binaries.release in spoilt.place.last_version.read_text()

    def test_older_pgvector_files_do_not_hinder_the_start(self, spoilt: Cluster) -> None:
        programs = Programs(locate_binaries(), server_account())
        with FileLock(spoilt.place.server_lock) as lock:
            programs.run(
                lock.descriptor, "postgres", "--single", "-D", spoilt.place.data, "memory",
                words="UPDATE pg_extension SET extversion = '99' WHERE extname = 'vector'\n",
            )  # fmt: skip
        spoilt.place.last_version.write_text("18.99.9 vector 99")
        spoilt.start(120)
        assert query(spoilt, "SELECT '[1]'::vector::text", HOT) == "[1]"

    def test_wait_that_gives_up_leaves_no_server_behind(self, cluster: Cluster) -> None:
        class GaveUp(Exception):
            pass

        def give_up(seconds: float) -> None:
            raise GaveUp

        hasty = Cluster(cluster.place.base, SETTINGS, pause=give_up)
        with pytest.raises(GaveUp):
            hasty.start()
        hasty.stop()
        assert not owned(cluster.place.server_lock)


class TestSurviving:
    def test_committed_rows_survive_a_killed_server(self, spoilt: Cluster) -> None:
        """F8: an unclean stop is recovered from, not diagnosed as corruption.

        The killed server stays uncollected, as under a PID 1 that never reaps.
        """
        spoilt.start(120)
        query(spoilt, "INSERT INTO kept SELECT 8 FROM generate_series(1, 1000)")
        pid = running_postmaster(spoilt.place.data)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        second = Cluster(spoilt.place.base, SETTINGS)
        second.start(120)
        assert running_postmaster(spoilt.place.data) not in (None, pid)
        assert query(second, "SELECT count(*) FROM kept", HOT) == 1001
        assert not spoilt.running()
        second.stop()

    def test_start_waits_for_the_backends_of_a_killed_server(self, cluster: Cluster) -> None:
        """They still write; a second server beside them would ruin the data."""
        cluster.start(120)

        async def kill_below_a_query() -> None:
            connection = await asyncpg.connect(cluster.dsn(OWNER))
            backend = connection.get_server_pid()
            os.kill(backend, signal.SIGSTOP)
            pid = running_postmaster(cluster.place.data)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            try:
                with pytest.raises(DatabaseUnavailable, match="not up yet"):
                    Cluster(cluster.place.base, SETTINGS).start(timeout=0)
                assert owned(cluster.place.server_lock)
            finally:
                os.kill(backend, signal.SIGCONT)
                connection.terminate()

        asyncio.run(kill_below_a_query())
        second = Cluster(cluster.place.base, SETTINGS)
        second.start(120)
        assert query(second, "SELECT value FROM kept", HOT) == 7
        second.stop()

    def test_recycled_id_in_the_pid_file_harms_nobody(
        self, cluster: Cluster, stranger: subprocess.Popen[bytes]
    ) -> None:
        pidfile = cluster.place.data / "postmaster.pid"
        pidfile.write_text(f"{stranger.pid}\n{cluster.place.data}\n1700000000\n5432\n\n\n")
        cluster.place.sockets.mkdir(mode=0o700, exist_ok=True)
        socket_file(cluster.place.sockets).touch()
        Path(f"{socket_file(cluster.place.sockets)}.lock").write_text(f"{stranger.pid}\n")
        assert not cluster.alive()
        cluster.stop()
        assert stranger.poll() is None
        cluster.start(120)
        assert query(cluster, "SELECT value FROM kept", HOT) == 7
        cluster.stop()
        assert stranger.poll() is None

    @pytest.mark.parametrize("content", ["", "12", "nonsense\n/x\n"])
    def test_damaged_pid_file_does_not_hinder_the_start(
        self, cluster: Cluster, content: str
    ) -> None:
        (cluster.place.data / "postmaster.pid").write_text(content)
        cluster.start(120)
        assert query(cluster, "SELECT value FROM kept", HOT) == 7

    def test_server_started_by_hand_is_left_alone(self, cluster: Cluster) -> None:
        cluster.start(120)
        cluster.stop()
        other = subprocess.Popen(
            [locate_binaries().bin / "postgres", "-D", cluster.place.data],
            cwd="/", stderr=subprocess.DEVNULL, **as_server(),
        )  # fmt: skip
        eventually(lambda: ask(cluster.place.sockets) is Answer.READY)
        with pytest.raises(DatabaseUnavailable, match="started by hand"):
            Cluster(cluster.place.base, SETTINGS).start(120)
        assert other.poll() is None
        other.send_signal(signal.SIGINT)
        other.wait()

    def test_answer_of_a_deleted_directory_s_server_does_not_count(self, cluster: Cluster) -> None:
        cluster.start(120)
        cluster.place.server_lock.unlink()
        assert ask(cluster.place.sockets) is Answer.READY
        assert not cluster.alive()
        cluster.place.server_lock.touch()
        assert not cluster.alive()

    def test_full_server_is_still_ready(self, make_cluster: Callable[..., Cluster]) -> None:
        cluster = make_cluster(
            max_connections="2", superuser_reserved_connections="0", max_wal_senders="0"
        )
        cluster.start(120)

        async def fill() -> None:
            held_open = [await asyncpg.connect(cluster.dsn(HOT)) for _ in range(2)]
            assert ask(cluster.place.sockets) is Answer.READY
            for connection in held_open:
                await connection.close()

        asyncio.run(fill())

    def test_frozen_server_is_silence_not_absence(self, cluster: Cluster) -> None:
        cluster.start(120)
        pid = running_postmaster(cluster.place.data)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            assert ask(cluster.place.sockets, seconds=0.05) is Answer.SILENCE
        finally:
            os.kill(pid, signal.SIGCONT)

    def test_server_ends_with_the_process_it_is_tethered_to(self, cluster: Cluster) -> None:
        program = (
            "import signal, sys; from agents_memory.storage.embedded.server import Cluster;"
            "Cluster(sys.argv[1], {'fsync': 'off'}, tethered=True).start(120);"
            "print('up', flush=True); signal.pause()"
        )
        owner = subprocess.Popen(
            [sys.executable, "-c", program, cluster.place.base], stdout=subprocess.PIPE
        )
        assert owner.stdout is not None
        with owner.stdout:
            assert owner.stdout.readline() == b"up\n"
        owner.kill()
        owner.wait()
        if sys.platform != "linux":
            cluster.stop()
        eventually(lambda: not owned(cluster.place.server_lock))
