"""The process that an editor starts, from its settings to its end."""

import asyncio
import gc
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from agents_memory.domain.errors import ConfigurationError
from agents_memory.observe import Action, configure, get_logger
from agents_memory.settings import Settings
from hot.descriptors import claim_stdio

if TYPE_CHECKING:
    from hot.app import App

WRONG_CONFIGURATION = 2
WHAT_FOR = (
    "This is an MCP server: an editor or agent starts it and talks to it over stdin and stdout; "
    "`mcp-agents-memory init` prints what to put into its configuration."
)
PARENT_LOOKED_AT_EVERY_S = 1.0

log = get_logger()


def main() -> NoReturn:
    """Serves one client on stdin and stdout, until it goes, its process does, or a signal comes."""
    try:
        stdin, stdout = claim_stdio()
        settings = Settings.load()
    except OSError:
        leave(WRONG_CONFIGURATION, f"stdin and stdout must both be open. {WHAT_FOR}")
    except ConfigurationError as wrong:
        leave(WRONG_CONFIGURATION, str(wrong))
    if stdin.isatty():
        sys.stderr.write(f"{WHAT_FOR} Ctrl-D ends it.\n")
    configure(settings.log_level, settings.log_format, color=not settings.no_color)
    for note in settings.notes:
        log.warning(Action.SETTING_NOTED, note=note)
    asyncio.run(_run_and_leave(settings, stdin, stdout))
    raise AssertionError("the process has left")


def leave(code: int, message: str = "") -> NoReturn:
    """Ends the process at once, with a last message on stderr.

    Threads that read stdin or compute a vector cannot be interrupted, and nothing here waits for
    them; whatever has to be closed was closed before.
    """
    if sys.stderr is not None:
        sys.stderr.write(f"{message}\n" if message else "")
        sys.stderr.flush()
    os._exit(code)


async def _run_and_leave(settings: Settings, stdin: BinaryIO, stdout: BinaryIO) -> None:
    try:
        await run(settings, stdin, stdout)
    except ConfigurationError as wrong:
        leave(WRONG_CONFIGURATION, str(wrong))
    except Exception as fault:  # noqa: BLE001 (the last stop before the process ends)
        log.critical(Action.CRASHED, error=fault)
        leave(1)
    leave(0)


async def run(settings: Settings, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serves until stdin ends, the parent process vanishes, or SIGTERM, SIGINT or SIGHUP comes.

    Raises ConfigurationError, before anything is served, for settings that cannot be meant.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    # Here, because wrong settings should show before the database driver is loaded.
    from hot.app import compose

    app = compose(settings)
    app.start()
    ends = [
        asyncio.create_task(_serve(app, stdin, stdout), name="serve"),
        asyncio.create_task(stopped.wait(), name="signal"),
        asyncio.create_task(_orphaned(), name="parent"),
    ]
    try:
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in ends:
            task.cancel()
        await asyncio.wait(ends, timeout=1)
        await app.close()


async def _serve(app: "App", stdin: BinaryIO, stdout: BinaryIO) -> None:
    # The SDK takes half a second to import, in which the database already opens.
    serve_stdio = (await asyncio.to_thread(import_module, "hot.server")).serve_stdio
    # The start had no search for garbage; later ones pass over what is there now.
    gc.freeze()
    gc.enable()
    await serve_stdio(app, stdin, stdout)


async def _orphaned() -> None:
    """Ends when another process has become our parent; a pipe may be held open by a sibling."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 (nothing tells of it)
        await asyncio.sleep(PARENT_LOOKED_AT_EVERY_S)
