"""Programs of ours: one that takes our place, and ones that end with us."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents_memory.cli.running import (
    beside,
    finished,
    module_command,
    running,
    until_told,
)
from agents_memory.domain.errors import ConfigurationError, MemoryFault

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]


def test_a_process_of_ours_is_named_so_that_no_folder_can_take_its_place() -> None:
    assert module_command("cold", "--drain") == [sys.executable, "-I", "-m", "cold", "--drain"]


async def test_a_program_that_ends_gives_its_output_and_code() -> None:
    program = "import sys; print(sys.stdin.read().upper()); sys.exit(3)"
    end = await finished([sys.executable, "-c", program], words=b"abc", within_s=30)
    assert end is not None
    assert (end.code, end.stdout.strip()) == (3, b"ABC")


async def test_a_program_that_does_not_end_is_killed_and_reported() -> None:
    assert await finished(FOREVER, within_s=0.2) is None


async def test_a_child_is_stopped_at_the_end_of_the_block(tmp_path: Path) -> None:
    """F4: children end with their parent."""
    async with running("sleeper", FOREVER, tmp_path / "sleeper.log") as child:
        assert child.process.returncode is None
    assert child.process.returncode == -signal.SIGTERM


async def test_work_beside_a_child_that_dies_ends_with_its_last_words(tmp_path: Path) -> None:
    dying = [sys.executable, "-c", "import sys; sys.exit('no model here')"]
    async with running("the daemon", dying, tmp_path / "dying.log") as child:
        with pytest.raises(MemoryFault, match=r"the daemon ended with code 1") as raised:
            await beside(child, asyncio.Event().wait())
    assert "no model here" in str(raised.value)


async def test_work_beside_a_living_child_gives_its_result(tmp_path: Path) -> None:
    async def work() -> int:
        return 7

    async with running("sleeper", FOREVER, tmp_path / "sleeper.log") as child:
        assert await beside(child, work()) == 7


async def test_a_log_that_cannot_be_written_names_the_setting() -> None:
    with pytest.raises(ConfigurationError, match="MEMORY_DATA_DIR"):
        async with running("x", FOREVER, Path("/dev/null/x.log")):
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_work_and_its_clean_up_is_awaited(number: signal.Signals) -> None:
    cleaned = asyncio.Event()

    async def work() -> int:
        os.kill(os.getpid(), number)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.set()
        return 0

    assert await until_told(work()) is number
    assert cleaned.is_set()


async def test_work_that_is_not_told_to_stop_gives_its_result() -> None:
    async def work() -> int:
        return 5

    assert await until_told(work()) == 5


def test_a_killed_parent_takes_its_child_along(tmp_path: Path) -> None:
    """F4: the kernel ends the child even when nothing of ours can run any more."""
    program = f"""
import asyncio, os, signal, sys
from pathlib import Path
from agents_memory.cli.running import running

async def main():
    async with running("sleeper", {FOREVER!r}, Path({str(tmp_path / "log")!r})) as child:
        print(child.process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    pid = int(ended.stdout)
    # The pipe's end came with the parent's; wait for the orphan by its handle.
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    import select

    assert select.select([handle], [], [], 30)[0], "the child outlived its parent"
    os.close(handle)
