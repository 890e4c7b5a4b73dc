"""Other programs of ours: become one, or run one that ends with us and never unnoticed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage.embedded.journal import private, read_tail, trim
from agents_memory.storage.embedded.processes import leash

T = TypeVar("T")

PATIENCE_WITH_STOP_S = 10.0
PATIENCE_WITH_KILLED_S = 5.0


def module_command(module: str, *arguments: str) -> list[str]:
    """The command line of one of our processes: safe in any folder, whatever PYTHONPATH says."""
    return [sys.executable, "-I", "-m", module, *arguments]


def become(module: str, *arguments: str) -> NoReturn:
    """Turn this process into another one of ours; its id, terminal and pipes stay."""
    sys.stdout.flush()
    sys.stderr.flush()
    command = module_command(module, *arguments)
    os.execve(command[0], command, inherited_environment())


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended, and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Child:
    """A running program of ours; `log` is where it writes, if that is a file."""

    name: str
    process: asyncio.subprocess.Process
    log: Path | None = None

    async def stop(self) -> None:
        """Ask it to end, wait, and kill it when it doesn't; harmless when it has ended."""
        if self.process.returncode is None:
            self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), PATIENCE_WITH_STOP_S)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()

    @property
    def killed(self) -> bool:
        """Whether a signal ended it; not SIGTERM, by which somebody asks it to end."""
        code = self.process.returncode
        return code is not None and code < 0 and code != -signal.SIGTERM

    def last_words(self) -> str:
        """Why it may have ended, for a person: its exit code and the end of its log."""
        said = "" if self.log is None else read_tail(self.log)
        end = f"; it said last:\n{said}" if said else ""
        return f"{self.name} ended with code {self.process.returncode}{end}"


@asynccontextmanager
async def running(name: str, command: Sequence[str], log: Path) -> AsyncIterator[Child]:
    """Run `command` beside the block, writing to `log` (private, bounded); stopped at its end.

    On Linux the kernel stops it too when this process is killed.
    """
    trim(log)
    with _opened(log) as file:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd="/",
            env=inherited_environment(),
            # A Ctrl-C in the terminal is for us alone; we pass on what it means.
            start_new_session=True,
            preexec_fn=leash(signal.SIGTERM),
        )
    child = Child(name, process, log)
    try:
        yield child
    finally:
        await child.stop()


async def finished(
    command: Sequence[str],
    *,
    words: bytes = b"",
    within_s: float,
    cwd: str = "/",
    env: Mapping[str, str] | None = None,
) -> Finished | None:
    """Run `command` to its end with `words` as its input; None when `within_s` were not enough.

    It is killed then, as it is when the call is cancelled. `env` is in place of our environment.
    Raises FileNotFoundError and PermissionError when there is no such program.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env=inherited_environment() if env is None else dict(env),
        start_new_session=True,
        preexec_fn=leash(signal.SIGTERM),
    )
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(words), within_s)
    except TimeoutError:
        return None
    finally:
        await _end(process)
    return Finished(process.returncode or 0, stdout, stderr)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), PATIENCE_WITH_KILLED_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def beside(child: Child, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; raises MemoryFault as soon as `child` ends before it."""
    task = asyncio.create_task(work)
    end = asyncio.create_task(child.process.wait())
    try:
        await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise MemoryFault(f"{child.last_words()}\nRemove the cause and start again.")
        return task.result()
    finally:
        for one in (task, end):
            one.cancel()
        await asyncio.gather(task, end, return_exceptions=True)


async def until_told(work: Coroutine[Any, Any, T]) -> T | signal.Signals:
    """The result of `work`, or the signal that ended it: SIGINT (Ctrl-C), SIGTERM or SIGHUP.

    The work is then cancelled and its end awaited; a second signal ends the process at once.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)
    told: list[signal.Signals] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: signal.Signals) -> None:
        told.append(number)
        for one in numbers:
            loop.remove_signal_handler(one)
        task.cancel()

    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not told:
            raise
        return told[0]
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _opened(log: Path) -> Any:
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(log, "ab", opener=private)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write the log {log} ({error.strerror}); set MEMORY_DATA_DIR to a folder "
            "this account may write to"
        ) from error
