"""What status and doctor say of the spool."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from agents_memory.domain.messages import Accepted
from agents_memory.services.diagnosis.check import Outcome
from agents_memory.services.spool_state import check_spool, spool_state
from agents_memory.settings import Settings
from agents_memory.storage.spool.folder import anything_waits
from agents_memory.storage.spool.record import Waiting
from agents_memory.storage.spool.store import spool_of
from tests.factories import NOON, draft

LATER = NOON + timedelta(hours=5)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"HOME": str(tmp_path)})


def fill(settings: Settings) -> Path:
    """One turn that waits; its file."""
    spool = spool_of(settings)
    spool.append(Waiting("mara", Accepted(UUID(int=1), NOON, draft("Hi"), None, {})))
    spool.close()
    [path] = spool.folder.glob("*.spool")
    return path


def test_nothing_waits(settings: Settings) -> None:
    assert spool_state(settings, LATER) == {
        "where": str(spool_of(settings).folder),
        "queued": 0,
        "oldest_age_s": None,
        "bytes": 0,
        "limit_bytes": 256 * 2**20,
        "aside": 0,
        "other_pools": [],
    }
    assert check_spool(settings, LATER).outcome is Outcome.OK
    assert not anything_waits(settings)
    assert not settings.data_dir.exists()


def test_what_waits_is_counted_with_its_age_and_is_no_fault(settings: Settings) -> None:
    fill(settings)
    assert anything_waits(settings)
    state = spool_state(settings, LATER)
    assert (state["queued"], state["oldest_age_s"]) == (1, 5 * 3600.0)
    check = check_spool(settings, LATER)
    assert check.outcome is Outcome.OK
    assert "the oldest 5 h" in check.detail


def test_what_is_set_aside_fails_until_somebody_looked(settings: Settings) -> None:
    fill(settings).with_suffix(".aside").write_bytes(b"half of a turn")
    check = check_spool(settings, LATER)
    assert check.outcome is Outcome.FAILED
    assert "set aside" in check.detail
    assert check.fix is not None


def test_what_waits_for_another_pool_is_named(settings: Settings) -> None:
    """A changed address must not strand turns unseen; a password is never part of the name."""
    fill(settings)
    other = replace(settings, db_schema="other")
    assert not anything_waits(other)
    check = check_spool(other, LATER)
    assert check.outcome is Outcome.FAILED
    assert f"embedded at {settings.data_dir}, schema agents_memory" in check.detail


def test_a_changed_password_is_the_same_pool(tmp_path: Path) -> None:
    here = {"HOME": str(tmp_path)}
    old = Settings.load({**here, "DATABASE_URL": "postgresql://a:old@db.example/memory"})
    new = Settings.load({**here, "DATABASE_URL": "postgresql://b:new@db.example/memory"})
    assert spool_of(old).folder == spool_of(new).folder
    assert "old" not in spool_of(old).pool
