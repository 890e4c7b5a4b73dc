"""Capture, put together: settings in, an exit code out."""

import argparse
import asyncio
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from agents_memory.cli.running import until_told
from agents_memory.clock import Clock, SystemClock
from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.observe import Action, configure, get_logger
from agents_memory.services.capturer import lock_path, read_capturer, state_path
from agents_memory.services.opening import OpenedPool, open_pool
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage.embedded.locks import FileLock
from agents_memory.storage.embedded.place import find_place, make_base
from ingest.cursor import Positions
from ingest.following import Follower
from ingest.keeping import Keeping
from ingest.looking import Looker, patiently
from ingest.standing import Standing
from ingest.transcripts import CLIENTS, root_of

log = get_logger()

APPLICATION = "mcp-agents-memory capture"
# With the embedded database the daemon runs beside it, as an editor's server asks for too.
DAEMON = "cold.kept"
PARENT_LOOKED_AT_EVERY_S = 2.0


def main(
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    kept: bool = False,
) -> int:
    """Captures until it is told to stop.

    0 when it ended as it should or another one is at work, 2 for settings that cannot be meant, 1
    when something else is in its way. `kept`: the keeper of the embedded database started it, so it
    does not keep that database up, ends with its parent, and where nothing is to be captured that
    is no mistake.
    """
    options = _parse(argv)
    parent = os.getppid() if kept else None
    try:
        settings = Settings.load(inherited_environment() if environ is None else environ)
        configure(settings.log_level, settings.log_format, color=not settings.no_color)
        for note in settings.notes:
            log.info(Action.SETTING_NOTED, note=note)
        return asyncio.run(_run(settings, tuple(options.client), parent))
    except ConfigurationError as wrong:
        log.error(Action.STOPPED, error=wrong)
        return 2
    except MemoryFault as fault:
        log.error(Action.STOPPED, error=fault)
        return 1


async def _run(settings: Settings, asked: tuple[str, ...], parent: int | None) -> int:
    ended = await until_told(_while_wanted(settings, asked, parent))
    if isinstance(ended, signal.Signals):
        log.info(Action.STOPPED, signal=ended.name)
        return 0
    return ended


async def _while_wanted(settings: Settings, asked: tuple[str, ...], parent: int | None) -> int:
    kept = parent is not None
    tasks = [asyncio.create_task(_alone(settings, asked, kept=kept), name="capture")]
    if parent is not None:
        tasks.append(asyncio.create_task(_orphaned(parent), name="parent"))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task.result() for task in tasks if task in done)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _orphaned(parent: int) -> int:
    """Ends when the parent process is gone; on Linux the keeper's leash is quicker."""
    while os.getppid() == parent:  # noqa: ASYNC110 (nothing tells of it)
        await asyncio.sleep(PARENT_LOOKED_AT_EVERY_S)
    log.info(Action.STOPPED, reason="the parent process is gone")
    return 0


async def _alone(settings: Settings, asked: tuple[str, ...], *, kept: bool) -> int:
    """One capturer for each pool on this machine."""
    clients = asked or settings.capture_clients
    path = state_path(settings)
    if not clients and not kept:
        raise ConfigurationError(
            "no client is switched on; set CAPTURE_CLIENTS, or name one with --client "
            f"({', '.join(CLIENTS)})"
        )
    if clients or path.exists():
        make_base(find_place(settings.data_dir))
        lock = FileLock(lock_path(settings))
        try:
            if not lock.own():
                who = read_capturer(lock.path).process or "?"
                log.info(Action.STOPPED, reason=f"process {who} captures for this memory already")
                return 0
            positions = _positions(path)
            standing = Standing(positions, lock)
            standing.note({})
            await _capture(settings, clients, positions, standing, SystemClock(), kept=kept)
        finally:
            lock.close()
    log.info(Action.STOPPED, reason="CAPTURE_CLIENTS names no client")
    return 0


async def _capture(
    settings: Settings,
    clients: tuple[str, ...],
    positions: Positions,
    standing: Standing,
    clock: Clock,
    *,
    kept: bool,
) -> None:
    """Captures until it is cancelled; without clients only forgets what was captured before."""
    wanted = dict.fromkeys((*clients, *settings.capture_clients))
    places = {name: dict(places_of(settings, name)) for name in wanted}
    positions.forget_all_but(place for known in places.values() for place in known)
    followers = {
        name: [
            Follower(CLIENTS[name], root, positions, clock, place)
            for place, root in places[name].items()
        ]
        for name in clients
    }
    for follower in chain(*followers.values()):
        follower.begin()
    # From here on the place is held, whatever becomes of the database.
    standing.save()
    if not followers:
        return
    opening = asyncio.create_task(_opened(settings, kept=kept), name="open pool")
    keeping = Keeping(settings, opening, clock)
    looker = Looker(followers, keeping, clock, save=standing.save, say=standing.note)
    try:
        await keeping.beside(looker.run())
    finally:
        standing.save()
        await keeping.close()


async def _opened(settings: Settings, *, kept: bool) -> OpenedPool:
    services = (DAEMON,) if settings.starts_local_services and not kept else ()
    opened = await patiently(
        lambda: open_pool(
            settings, "hot", application=APPLICATION, services=services, hold=not kept
        )
    )
    log.info(Action.DATABASE_READY, database=settings.describe_database())
    return opened


def places_of(settings: Settings, client: str) -> Iterator[tuple[str, Path]]:
    """The folders of a client's transcripts by the names under which positions are kept."""
    for number, root in enumerate(settings.capture_folders(client), 1):
        yield client if number == 1 else f"{client}:{number}", root_of(client, root)


def _positions(path: Path) -> Positions:
    try:
        return Positions.load(path)
    except (ValueError, OSError) as error:
        # Reading everything anew would take in what was never to be read.
        log.error(
            Action.CAPTURE_FAILED,
            note="the positions are lost, so capture begins anew from now on; "
            "`mcp-agents-memory backfill` brings in what was missed",
            error=error,
        )
        return Positions(path, {})


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mcp-agents-memory capture",
        description="Stores what is said in other clients, as they write it down, from now on.",
    )
    parser.add_argument(
        "--client",
        action="append",
        default=[],
        choices=sorted(CLIENTS),
        help="capture this client, instead of those CAPTURE_CLIENTS names; may be repeated",
    )
    return parser.parse_args(argv)
