"""The spool of one machine: durable, private, bounded, shared, and taken over from the dead."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from agents_memory.domain.messages import Accepted
from agents_memory.storage.spool import segment, store
from agents_memory.storage.spool.frames import scan
from agents_memory.storage.spool.record import Waiting
from agents_memory.storage.spool.store import Spool, SpoolFull, SpoolUnusable
from tests.factories import NOON, draft

Make = Callable[..., Spool]


def waiting(text: str, number: int = 1) -> Waiting:
    return Waiting("mara", Accepted(UUID(int=number), NOON, draft(text), None, {}))


def texts(spool: Spool, *, settle: bool = True) -> list[str]:
    """What a drain sees, in its order."""
    seen = []
    with spool.drain() as entries:
        assert entries is not None
        for entry in entries:
            if entry.waiting is not None:
                seen.append(entry.waiting.turn.draft.text)
            if settle:
                entry.settle()
    return seen


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(pool: str = "here", limit_bytes: int = 2**20) -> Spool:
        return Spool(tmp_path / "data", pool, limit_bytes)

    return made


def test_what_was_appended_is_drained_once_in_its_order(make: Make) -> None:
    spool = make()
    assert not spool.has_any()
    for number, text in enumerate(("one", "two", "three")):
        spool.append(waiting(text, number))
    assert spool.pending
    assert texts(spool) == ["one", "two", "three"]
    assert (spool.pending, spool.has_any(), texts(spool)) == (False, False, [])


def test_what_was_not_settled_stays_and_the_rest_does_not_come_again(make: Make) -> None:
    spool = make()
    for number, text in enumerate(("one", "two", "three")):
        spool.append(waiting(text, number))
    with spool.drain() as entries:
        assert entries is not None
        next(entries).settle()
    assert spool.pending
    spool.append(waiting("four", 4))
    assert texts(spool) == ["two", "three", "four"]


def test_a_living_writers_turns_are_its_own_and_a_dead_ones_anybodys(make: Make) -> None:
    """A20: the lock goes with its holder."""
    dead, living = make(), make()
    dead.append(waiting("left behind"))
    assert texts(living) == []
    assert living.has_any()
    dead.close()
    assert not dead.pending
    assert texts(living) == ["left behind"]


def test_several_writers_are_merged_by_time_and_each_keeps_its_order(make: Make) -> None:
    """A23, A26: both are kept; a clock that ran back does not turn a writer's order round."""
    first, second = make(), make()
    for number in (10, 5, 30):
        first.append(waiting(f"first {number}", number))
    for number in (20, 40):
        second.append(waiting(f"second {number}", number))
    first.close()
    second.close()
    seen = texts(make())
    assert [text for text in seen if "first" in text] == ["first 10", "first 5", "first 30"]
    assert seen.index("second 20") < seen.index("first 30") < seen.index("second 40")


def test_files_are_begun_anew_and_drained_in_their_order(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "SEGMENT_BYTES", 1)
    spool = make()
    for number in range(12):
        spool.append(waiting(str(number)))
    assert len(list(spool.folder.glob("*.spool"))) == 12
    assert texts(spool) == [str(number) for number in range(12)]
    assert not list(spool.folder.glob("*.spool"))


def test_one_drains_at_a_time(make: Make) -> None:
    spool, other = make(), make()
    spool.append(waiting("one"))
    other.append(waiting("two"))
    with spool.drain() as entries:
        assert entries is not None
        with other.drain() as second:
            assert second is None


def test_nobody_else_can_read_it(make: Make) -> None:
    spool = make()
    spool.append(waiting("private"))
    texts(spool, settle=False)
    for path in (spool.folder.parent, spool.folder, *spool.folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_may_look_into_is_refused(make: Make, mode: int) -> None:
    spool = make()
    spool.folder.mkdir(parents=True)
    spool.folder.parent.chmod(0o700)
    spool.folder.chmod(mode)
    with pytest.raises(SpoolUnusable, match="not a private folder"):
        spool.append(waiting("exposed"))


def test_a_link_in_place_of_the_folder_is_refused(make: Make, tmp_path: Path) -> None:
    spool, elsewhere = make(), tmp_path / "elsewhere"
    elsewhere.mkdir(0o700)
    spool.folder.parent.mkdir(parents=True, mode=0o700)
    spool.folder.symlink_to(elsewhere)
    with pytest.raises(SpoolUnusable, match="not a private folder"):
        spool.append(waiting("led astray"))
    assert not list(elsewhere.iterdir())


def test_each_pool_has_its_own_and_others_are_named(make: Make) -> None:
    here, there = make("here"), make("there:5432/memory")
    there.append(waiting("for there"))
    there.close()
    assert texts(here) == []
    assert here.strangers() == ["there:5432/memory"]
    assert there.strangers() == []


def test_a_file_of_another_pool_is_refused_turn_by_turn(make: Make) -> None:
    here, there = make("here"), make("there")
    there.append(waiting("for there"))
    there.close()
    here.append(waiting("for here"))
    [stray] = there.folder.glob("*.spool")
    stray.rename(here.folder / stray.name)
    with here.drain() as entries:
        assert entries is not None
        found = [entry.waiting and entry.waiting.turn.draft.text for entry in entries]
    assert found == [None, "for here"]


def test_it_is_bounded_and_takes_more_once_it_was_drained(make: Make) -> None:
    spool = make(limit_bytes=2_000)

    def fill() -> None:
        for number in range(100):
            spool.append(waiting(str(number)))

    with pytest.raises(SpoolFull, match="SPOOL_MAX_MB"):
        fill()
    kept = texts(spool)
    assert kept == [str(number) for number in range(len(kept))]
    assert len(kept) > 2
    spool.append(waiting("more"))


def test_another_writers_files_count_too(make: Make) -> None:
    other = make()
    other.append(waiting("x" * 1_000))
    with pytest.raises(SpoolFull):
        make(limit_bytes=1_500).append(waiting("y" * 500))


def test_a_full_disk_adds_nothing_and_spoils_nothing(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a turn was written when the disk was full."""
    spool, real = make(), os.pwrite
    spool.append(waiting("before"))

    def half(descriptor: int, data: memoryview, at: int) -> int:
        monkeypatch.setattr(os, "pwrite", full)
        return real(descriptor, data[: len(data) // 2], at)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", half)
    with pytest.raises(SpoolUnusable, match="No space left"):
        spool.append(waiting("lost"))
    monkeypatch.setattr(os, "pwrite", real)
    spool.append(waiting("after"))
    assert texts(spool) == ["before", "after"]


def test_a_disk_that_is_full_from_the_first_turn_on_leaves_nothing_that_seems_to_wait(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = make()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(SpoolUnusable, match="No space left"):
            spool.append(waiting("lost"))
    assert (spool.pending, spool.has_any()) == (False, False)
    spool.append(waiting("kept"))
    assert texts(spool) == ["kept"]


def test_a_turn_that_may_not_be_on_the_disk_is_not_acknowledged(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = make()
    spool.append(waiting("before"))

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(SpoolUnusable, match="Input/output"):
            spool.append(waiting("in doubt"))
    assert texts(spool) == ["before"]


def test_the_file_and_its_name_are_on_the_disk_before_the_answer(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F103: fsync of the file, of the folder where it is new, and of the folders made for it."""
    synced: list[Path] = []
    real = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    spool = make()
    spool.append(waiting("one"))
    folder = Path(os.path.realpath(spool.folder))
    assert synced[:3] == [folder.parent.parent, folder.parent, folder]
    assert (synced[3].parent, len(synced)) == (folder, 4)
    spool.append(waiting("two"))
    assert synced[4:] == [synced[3]]


def test_damage_is_kept_aside_and_the_rest_comes(make: Make) -> None:
    spool = make()
    for number, text in enumerate(("one", "two", "three")):
        spool.append(waiting(text, number))
    spool.close()
    [path] = spool.folder.glob("*.spool")
    data = bytearray(path.read_bytes())
    second = list(scan(bytes(data)))[1]
    data[second.end - 3] ^= 0x40
    path.write_bytes(bytes(data) + b"half of a turn")
    seen = []
    later = make()
    with later.drain() as entries:
        assert entries is not None
        for entry in entries:
            seen.append(entry.waiting and entry.waiting.turn.draft.text)
            entry.set_aside() if entry.waiting is None else entry.settle()
    assert seen == ["one", None, "three", None]
    census = later.census()
    assert census.queued == 0
    [aside] = census.aside
    assert aside.read_bytes() == data[second.start : second.end] + b"half of a turn"
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600


def test_damage_is_kept_aside_once_however_often_a_drain_is_killed(make: Make) -> None:
    spool = make()
    spool.append(waiting("one"))
    spool.append(waiting("two", 1))
    spool.close()
    [path] = spool.folder.glob("*.spool")
    data = bytearray(path.read_bytes())
    first = next(scan(bytes(data)))
    data[first.end - 3] ^= 0x40
    path.write_bytes(data)
    for _ in range(2):
        killed = make()
        with killed.drain() as entries:
            assert entries is not None
            next(entries).set_aside()
        killed.close()
        assert path.exists()
    [aside] = make().census().aside
    assert aside.read_bytes() == data[first.start : first.end]


def test_what_is_set_aside_is_there_once_and_whole_wherever_a_drain_is_killed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A19: equal damage in two places, and a drain killed before and after each step of keeping."""
    spool = make()
    spool.append(waiting("one"))
    spool.close()
    [path] = spool.folder.glob("*.spool")
    data = path.read_bytes()
    path.write_bytes(b"half" + data + b"half")

    def killed(*_: object, **__: object) -> None:
        raise OSError("killed")

    for place, step in [(os, "fsync"), (os, "replace"), (segment, "sync_folder"), (None, "")] * 2:
        drained = make()
        with drained.drain() as entries, monkeypatch.context() as patch, suppress(OSError):
            assert entries is not None
            if place is not None:
                patch.setattr(place, step, killed)
            for entry in entries:
                if entry.waiting is None:
                    # And not settled, since then it was killed.
                    entry.segment.set_aside(entry.piece)
        drained.close()
    [aside] = make().census().aside
    assert aside.read_bytes() == b"halfhalf"


def test_the_census_counts_what_living_writers_hold(make: Make) -> None:
    spool, other = make(), make()
    assert (other.census().queued, other.census().oldest) == (0, None)
    spool.append(waiting("one"))
    early = waiting("two")
    spool.append(replace(early, turn=replace(early.turn, at=NOON.replace(year=2020))))
    census = other.census()
    assert (census.queued, census.oldest) == (2, NOON.replace(year=2020))
    assert census.size > 0


def test_an_empty_file_of_one_killed_at_its_birth_goes(make: Make) -> None:
    spool = make()
    spool.append(waiting("one"))
    texts(spool)
    (spool.folder / "1-dead-000001.spool").touch(0o600)
    assert texts(spool) == []
    assert not spool.has_any()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "data"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(SpoolUnusable, match="cannot be written"):
        Spool(blocked, "here", 2**20).append(waiting("Hi"))


def test_a_killed_writers_acknowledged_turns_are_all_there(tmp_path: Path) -> None:
    """F103: kill -9 between two turns, or within one."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from agents_memory.storage.spool.store import Spool\n"
        "from tests.unit.storage.test_spool_store import waiting\n"
        "spool = Spool(Path(sys.argv[1]), 'here', 2**30)\n"
        "for number in range(10**6):\n"
        "    spool.append(waiting(f'{number} ' + 'x' * 5000, number))\n"
        "    print(number, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "data")], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(50)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().splitlines() if line]
    seen = [int(text.split()[0]) for text in texts(Spool(tmp_path / "data", "here", 2**30))]
    assert seen[: len(acknowledged)] == acknowledged
    assert len(seen) - len(acknowledged) in (0, 1)
