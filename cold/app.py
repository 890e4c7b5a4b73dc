"""The daemon, put together: settings in, an exit code out."""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence

from agents_memory.clock import Clock, DatabaseClock, SystemClock
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    SchemaMismatch,
)
from agents_memory.embedding.opening import open_embedders
from agents_memory.observe import Action, configure, get_logger
from agents_memory.services.opening import open_pool
from agents_memory.services.policy import load_policy
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import work
from agents_memory.storage.connections import Database
from cold.account import unfinished
from cold.composition import compose
from cold.guard import Hung
from cold.leadership import Held, Leadership
from cold.llm.port import LanguageModel, Rules
from cold.passes.librarianship import Librarianship
from cold.passes.mirror import Mirror
from cold.passes.tag_upkeep import TagUpkeep
from cold.sdnotify import Notifier
from cold.stopping import (
    Stop,
    Stopped,
    ask_when_orphaned,
    end_by_force,
    first,
    stopping_on_signals,
)
from cold.worker import Finish, Pace, Worker

log = get_logger()

APPLICATION = "mcp-agents-memory coldpath"
# Exit codes. Of `--once`: something is left failed, held or parked.
WORK_LEFT = 4
# Another start would not help.
MISCONFIGURED = 2
# The database is away, or its schema does not fit.
UNUSABLE = 3
# Work hung, and only a new process helps.
HUNG = 5


def main(
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    kept: bool = False,
) -> int:
    """Runs until it is told to stop; 0 when it ended as it should, 1 when something is in its way.

    MISCONFIGURED for settings that cannot be meant: another start would not help. UNUSABLE when the
    database was at its start. HUNG when work hung. With `--once`, WORK_LEFT when it could not do
    all that was due.

    `environ` is that of this process unless given. `kept`: the keeper of the embedded database
    started it, so it does not keep that database up, and ends with its parent.
    """
    environ = inherited_environment() if environ is None else environ
    options = _parse(argv)
    try:
        settings = Settings.load(environ)
        configure(settings.log_level, settings.log_format, color=not settings.no_color)
        for note in settings.notes:
            log.info(Action.SETTING_NOTED, note=note)
        if not settings.cold_path_enabled:
            log.info(Action.STOPPED, reason="COLD_PATH_ENABLED is false")
            return 0
        return asyncio.run(_run(settings, options, Notifier(environ), kept=kept))
    except ConfigurationError as fault:
        log.error(Action.STOPPED, error=fault)
        return MISCONFIGURED
    except (DatabaseUnavailable, SchemaMismatch) as fault:
        log.error(Action.STOPPED, error=fault)
        return UNUSABLE
    except MemoryFault as fault:
        log.error(Action.STOPPED, error=fault)
        return 1


async def _run(
    settings: Settings, options: argparse.Namespace, notifier: Notifier, *, kept: bool
) -> int:
    stop = Stop()
    with stopping_on_signals(stop):
        sides = [notifier.keep_alive()]
        if kept:
            sides.append(ask_when_orphaned(stop))
        try:
            code: int = await first(_serve(settings, options, notifier, stop, kept=kept), *sides)
        except Stopped:
            code = 0
        except Hung as hung:
            log.error(Action.STOPPED, error=hung)
            end_by_force(HUNG)
            return HUNG
    log.info(Action.STOPPED)
    return code


async def _serve(
    settings: Settings,
    options: argparse.Namespace,
    notifier: Notifier,
    stop: Stop,
    *,
    kept: bool,
) -> int:
    log.info(Action.STARTING, database=settings.describe_database())
    embedders = open_embedders(settings)
    opened = await stop.race(open_pool(settings, "cold", application=APPLICATION, hold=not kept))
    models: LanguageModel = Rules()
    try:
        clock = DatabaseClock(SystemClock())
        models = _open_models(settings, opened.database, clock)
        worker = compose(
            opened.database,
            embedders,
            stop,
            clock,
            pace=Pace(
                settings.cold_path_batch_size,
                settings.cold_path_interval_sec,
                settings.cold_path_warmup_sec,
                drain=options.drain,
                once=options.once,
            ),
            max_attempts=settings.cold_path_max_attempts,
            policy=load_policy(settings.policy_path),
            upkeep=TagUpkeep.of(settings),
            models=models,
            at_once=settings.model_calls_at_once,
            librarianship=Librarianship.of(settings),
            archive_after_days=settings.archive_after_days,
            log_retention_days=settings.log_retention_days,
            inferred_use_weight=settings.inferred_use_weight,
            mirror=Mirror.of(settings, opened.database, clock),
        )
        leadership = Leadership(
            opened.database,
            stop,
            holder=settings.device_name,
            wait=not (options.exit_if_held or options.once),
            standing_by=lambda: notifier.ready("stands by"),
            set_clock=clock.set,
        )

        async def lead(epoch: int) -> Finish:
            notifier.ready(f"leads the pool, term {epoch}")
            try:
                return await worker.run(epoch)
            finally:
                notifier.status(f"lets go of the lead, term {epoch}")

        log.info(Action.READY, embedder=", ".join(one.profile.id for one in embedders))
        finish = await leadership.run(lead)
        if options.once:
            return await _account_for(opened.database, worker, finish)
        return 1 if finish is Finish.HELD else 0
    except Held as held:
        log.info(Action.STOPPED, reason=str(held))
        if options.once:
            _tell(f"{held}; nothing was done here")
        return 0
    finally:
        notifier.stopping()
        await models.close()
        await opened.close()
        for embedder in embedders:
            await embedder.close()


def _open_models(settings: Settings, database: Database, clock: Clock) -> LanguageModel:
    if not settings.names_models:
        return Rules()
    # Here, because most pools have none, and it takes its share of the start.
    from cold.llm.opening import open_models

    return open_models(settings, database, clock)


async def _account_for(database: Database, worker: Worker, finish: Finish) -> int:
    """Says what was done and what is left; the exit code."""
    left = await database.run(work.summarise_work)
    _tell(worker.account.render(left))
    whole = finish is Finish.DRAINED and not any(map(unfinished, left))
    return 0 if whole else WORK_LEFT


def _tell(text: str) -> None:
    """Prints the result of a run by hand, whatever the locale."""
    sys.stdout.buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mcp-agents-memory coldpath",
        description="The daemon that screens, embeds and tags what agents stored.",
    )
    parser.add_argument(
        "--exit-if-held", action="store_true", help="end with 0 when another daemon leads"
    )
    until = parser.add_mutually_exclusive_group()
    until.add_argument(
        "--drain",
        action="store_true",
        help="end with 0 when the queue is empty, with 1 when it cannot be emptied",
    )
    until.add_argument(
        "--once",
        action="store_true",
        help="do what is due, say so and end: with 0, or 4 when something is left failed, held or "
        "parked; with 0 when another daemon leads",
    )
    return parser.parse_args(argv)
