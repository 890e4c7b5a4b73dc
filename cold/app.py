"""The daemon, put together: settings in, an exit code out."""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence

from agents_memory.clock import Clock, SystemClock
from agents_memory.domain.activation import INFERRED, TRACE_WEIGHTS
from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.domain.policy import Policy
from agents_memory.embedding.opening import open_embedders
from agents_memory.embedding.protocol import Embedder
from agents_memory.observe import Action, configure, get_logger
from agents_memory.services.adding import Adding
from agents_memory.services.opening import open_pool
from agents_memory.services.patching import Patching
from agents_memory.services.policy import load_policy
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import work
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from cold.account import unfinished
from cold.guard import Guard, Hung
from cold.leadership import Held, Leadership
from cold.llm.port import LanguageModel, Role, Rules
from cold.passes.affects import Affects
from cold.passes.calibrate import Calibrate
from cold.passes.cluster import ARCHIVE_AFTER_DAYS, Cluster
from cold.passes.context import Context
from cold.passes.decay import Decay
from cold.passes.digest import Digest
from cold.passes.duplicates import Duplicates
from cold.passes.embed import Embed, EmbedOther
from cold.passes.embed_memory import EmbedMemory, EmbedMemoryOther
from cold.passes.embed_summary import EmbedSummary
from cold.passes.lexeme_statistics import LexemeStatistics
from cold.passes.librarianship import Librarianship
from cold.passes.mirror import Mirror
from cold.passes.missing_vectors import MissingVectors
from cold.passes.observe_use import ObserveUse
from cold.passes.persona import Persona
from cold.passes.protocol import Chore
from cold.passes.prune import LOG_RETENTION_DAYS, Prune
from cold.passes.retag_by_model import RetagByModel
from cold.passes.screen import Screen
from cold.passes.sessions import Sessions
from cold.passes.summarise import Summarise
from cold.passes.tag import Tag
from cold.passes.tag_upkeep import TagUpkeep
from cold.passes.vector_index import VectorIndex
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
# The exit code of `--once` when something is left failed, held or parked.
WORK_LEFT = 4
# The exit code when work hung, and only a new process helps.
MISCONFIGURED = 2
HUNG = 5


def main(
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    kept: bool = False,
) -> int:
    """Runs until it is told to stop; 0 when it ended as it should, 1 when something is in its way.

    MISCONFIGURED for settings that cannot be meant: another start would not help. HUNG when work
    hung. With `--once`, WORK_LEFT when it could not do all that was due.

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
        models = _open_models(settings, opened.database)
        clock = SystemClock()
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


def _open_models(settings: Settings, database: Database) -> LanguageModel:
    if not settings.names_models:
        return Rules()
    # Here, because most pools have none, and it takes its share of the start.
    from cold.llm.opening import open_models

    return open_models(settings, database, SystemClock())


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


def compose(
    database: Database,
    embedders: Sequence[Embedder],
    stop: Stop,
    clock: Clock,
    *,
    pace: Pace,
    max_attempts: int,
    policy: Policy | None = None,
    models: LanguageModel | None = None,
    at_once: int = 1,
    librarianship: Librarianship | None = None,
    upkeep: TagUpkeep | None = None,
    archive_after_days: int = ARCHIVE_AFTER_DAYS,
    log_retention_days: int = LOG_RETENTION_DAYS,
    inferred_use_weight: float = TRACE_WEIGHTS[INFERRED],
    mirror: Mirror | None = None,
) -> Worker:
    """The worker with every pass and chore of this version."""
    models = models or Rules()
    patching = Patching(database, Hints(database), policy)
    affects = Affects(embedders)
    return Worker(
        database,
        [
            Screen(),
            # Somebody waits for it.
            Digest(Adding(database, patching), models),
            Embed(*embedders),
            Tag(*embedders, models=models, at_once=at_once, affects=affects),
            Context(),
            ObserveUse(database.schema, inferred_use_weight),
            EmbedMemory(*embedders, affects=affects),
            Duplicates(patching),
            Summarise(models),
            EmbedSummary(*embedders),
            Persona(models),
            EmbedOther(*embedders),
            EmbedMemoryOther(*embedders),
        ],
        [
            MissingVectors(database, embedders, clock),
            LexemeStatistics(database, clock),
            VectorIndex(database, clock),
            Calibrate(database, embedders, clock),
            Decay(database, clock),
            *(upkeep or TagUpkeep()).chores(database, models, clock),
            RetagByModel(database, models, clock),
            *_librarian(database, models, patching, clock, librarianship),
            Cluster(database, models, clock, archive_after_days),
            Sessions(database, clock, archive_after_days),
            *([] if mirror is None else [mirror]),
            Prune(database, clock, log_retention_days),
        ],
        guard=Guard(max_attempts),
        pace=pace,
        stop=stop,
        clock=clock,
    )


def _librarian(
    database: Database,
    models: LanguageModel,
    patching: Patching,
    clock: Clock,
    plan: Librarianship | None,
) -> list[Chore]:
    if not models.serves(Role.LIBRARIAN):
        return []
    # Here, because it loads what a daemon without a model has no use for.
    from cold.passes.librarian import Librarian

    return [Librarian(database, models, patching, clock, plan or Librarianship())]


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
