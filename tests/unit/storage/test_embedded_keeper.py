"""What the keeper decides, with a server of paper and a clock set by hand."""

import logging
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from agents_memory.domain.errors import ConfigurationError, DatabaseUnavailable
from agents_memory.storage.embedded import account
from agents_memory.storage.embedded.keeper import Keeper
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import Place
from agents_memory.storage.embedded.server import Cluster
from agents_memory.storage.embedded.services import (
    Backoff,
    Service,
    forget_wishes,
    wish,
    wished,
    wished_at,
)


class PaperCluster:
    """A server that lives or dies as the test says."""

    def __init__(self, base: Path) -> None:
        self.place = Place(base, base, base / "sockets")
        self.lives = 0
        self.dead = False

    def start(self) -> None:
        self.lives += 1
        self.dead = False

    def stop(self) -> None:
        self.dead = True

    def running(self) -> bool:
        return not self.dead


class Scene:
    """A keeper in a directory, its clients, and what happens at each of its waits."""

    def __init__(self, base: Path, events: dict[float, Callable[[], object]]) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.cluster = PaperCluster(base)
        self.events = events
        self.lock = FileLock(self.cluster.place.keeper_lock)
        self.idle_lock = FileLock(self.cluster.place.clients_lock)
        self.client = FileLock(self.cluster.place.clients_lock)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        for when in sorted(self.events):
            if when <= self.now:
                self.events.pop(when)()

    def run(self, linger: float) -> None:
        keeper = Keeper(cast(Cluster, self.cluster), [], linger, self.wait, clock=lambda: self.now)
        keeper.run(self.lock, self.idle_lock)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    found = Scene(tmp_path, {})
    yield found
    for lock in (found.lock, found.idle_lock, found.client):
        lock.close()


class TestLinger:
    def test_it_ends_after_the_linger_and_keeps_new_clients_waiting(self, scene: Scene) -> None:
        scene.run(linger=60)
        assert scene.now == 60
        assert not scene.client.share()

    def test_it_stays_while_there_is_a_client(self, scene: Scene) -> None:
        assert scene.client.share()
        scene.events[500.0] = scene.client.release
        scene.run(linger=60)
        assert scene.now == 560

    def test_client_in_between_starts_the_count_over(self, scene: Scene) -> None:
        scene.events[50.0] = lambda: scene.client.share() or pytest.fail("kept out")
        scene.events[70.0] = scene.client.release
        scene.run(linger=60)
        assert scene.now == 130

    def test_it_ends_when_its_directory_is_gone(self, scene: Scene) -> None:
        assert scene.client.share()
        scene.events[5.0] = scene.lock.path.unlink
        scene.run(linger=60)
        assert scene.now == 5


class TestRestarts:
    def test_dead_server_is_restarted(self, scene: Scene) -> None:
        scene.events[3.0] = scene.cluster.stop
        scene.run(linger=10)
        assert scene.cluster.lives == 2

    def test_server_that_keeps_dying_is_given_up(self, scene: Scene) -> None:
        """F5: a restart budget, not 2,424 restarts a day."""
        assert scene.client.share()
        for second in range(1, 200):
            scene.events[float(second)] = scene.cluster.stop
        with pytest.raises(DatabaseUnavailable, match="died 6 times"):
            scene.run(linger=10)
        assert scene.cluster.lives == 6
        assert max(scene.waits) == 8

    def test_rare_deaths_are_forgiven(self, scene: Scene) -> None:
        assert scene.client.share()
        for hour in range(1, 13):
            scene.events[hour * 3600.0] = scene.cluster.stop
        scene.events[12 * 3600.0 + 5] = scene.client.release
        scene.run(linger=10)
        assert scene.cluster.lives == 13


class TestServices:
    def test_delay_doubles_to_five_minutes_and_a_steady_life_resets_it(self) -> None:
        backoff = Backoff()
        assert [backoff.after(0) for _ in range(10)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
        assert backoff.after(59) == 300
        assert backoff.after(60) == 1

    def test_failed_service_is_tried_again_when_due_and_not_before(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        now = [0.0]
        service = Service("no_such_module", tmp_path, clock=lambda: now[0])

        def tend_until_it_ended(times: int) -> None:
            end = time.monotonic() + 60
            while caplog.text.count("ended with 1") < times:
                assert time.monotonic() < end, "it never ended"
                service.tend()

        tend_until_it_ended(1)
        now[0] = 0.9
        service.tend()
        assert caplog.text.count("started") == 1
        now[0] = 1.0
        tend_until_it_ended(2)
        said = (tmp_path / "no_such_module.log").read_text()
        assert said.count("No module named no_such_module") == 2

    def test_one_that_ended_with_0_stays_down_until_it_is_asked_for_anew(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        # Ends at once, with 0.
        service = Service("this", tmp_path, clock=lambda: 0.0)

        def tend_until_it_ended(times: int, asked: int) -> None:
            end = time.monotonic() + 60
            while caplog.text.count("ended with 0") < times:
                assert time.monotonic() < end, "it never ended"
                service.heed(asked)
                service.tend()

        tend_until_it_ended(1, asked=7)
        service.heed(7)
        service.tend()
        assert caplog.text.count("started") == 1
        tend_until_it_ended(2, asked=8)
        assert caplog.text.count("started") == 2

    def test_a_wish_is_newer_each_time(self, tmp_path: Path) -> None:
        place = Place(tmp_path, tmp_path, tmp_path)
        assert wished_at(place, "cold") == 0
        wish(place, "cold")
        os.utime(place.wishes / "cold", ns=(1, 1))
        assert wished_at(place, "cold") == 1
        wish(place, "cold")
        assert wished_at(place, "cold") > 1

    def test_wishes_are_kept_until_forgotten(self, tmp_path: Path) -> None:
        place = Place(tmp_path, tmp_path, tmp_path)
        assert wished(place) == []
        for module in ("ingest", "cold", "cold"):
            wish(place, module)
        assert wished(place) == ["cold", "ingest"]
        forget_wishes(place)
        assert wished(place) == []


class TestAccount:
    def test_server_never_runs_as_root_or_nobody(self) -> None:
        found = account.make_server_account()
        if os.geteuid() == 0:
            assert found.name == "agents-memory"
            assert found.uid not in (0, pwd.getpwnam("nobody").pw_uid)
        else:
            assert found.is_us

    def test_account_that_cannot_be_made_names_the_command(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(account, "NAME", "agents-memory-missing")
        monkeypatch.setattr(account, "PLAIN_ENVIRONMENT", {"PATH": "/nowhere"})
        with pytest.raises(ConfigurationError, match="useradd --system"):
            account.make_server_account()

    def test_user_without_a_name_is_told_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 987654)
        with pytest.raises(ConfigurationError, match="987654 has no name"):
            account.current_account()


def test_keeper_explains_itself() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "agents_memory.storage.embedded.keeper", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for word in ("--base", "--linger", "--service"):
        assert word in shown.stdout
