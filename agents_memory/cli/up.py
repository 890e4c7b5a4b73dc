"""`up`: database, daemon and an editor's server in the foreground, with a proof that they work."""

import asyncio
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click

from agents_memory.cli.asking import ask, render_answers, unanswered
from agents_memory.cli.clients import render
from agents_memory.cli.following import Own, complete, drained, status_line
from agents_memory.cli.importing import bring_in, list_problems, summarise
from agents_memory.cli.options import EPILOG
from agents_memory.cli.output import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_OK, emit_text, visible
from agents_memory.cli.pool import OpenPool, load_settings, open_for, say
from agents_memory.cli.running import (
    Child,
    beside,
    finished,
    module_command,
    running,
    until_told,
)
from agents_memory.cli.status import describe_leader, embedder_of
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import MemoryFault
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.conversations import find_files, survey
from agents_memory.services.spooling import draining
from agents_memory.services.status import Report, report
from agents_memory.settings import Settings
from agents_memory.settings.capturing import CAPTURE_CLIENTS
from agents_memory.storage.embedded.services import Backoff

EXAMPLE = 'Example: mcp-agents-memory up --conversations examples/conversations --ask "…" --once'
DAEMON_LOG = "up-cold.log"
REFRESH_S = 5.0
RATE = 10_000
OWN_LIMIT_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to bring in and ask before staying."""

    conversations: tuple[Path, ...]
    questions: tuple[str, ...]
    once: bool
    own_transcripts: bool = False


@click.command("up", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option(
    "--conversations",
    "conversations",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Import these conversation files or folders first; may be repeated.",
)
@click.option(
    "--ask",
    "questions",
    multiple=True,
    help="Ask this over MCP and show what is found; repeatable.",
)
@click.option(
    "--own-transcripts",
    is_flag=True,
    help="Bring in what the agents of this account kept on this machine, too; they are only read.",
)
@click.option("--once", is_flag=True, help="Leave after the answers instead of staying.")
def command(
    *,
    conversations: tuple[Path, ...],
    questions: tuple[str, ...],
    own_transcripts: bool,
    once: bool,
) -> int:
    """Run everything in the foreground until Ctrl-C: the database, the daemon, a status line.

    First brings in conversations and transcripts, if any, waits until they are worked through, and
    asks the questions over MCP as an editor would. With --once the exit code is 0 only if every
    question was answered and nothing of the queue is left or set aside.
    """
    settings = load_settings()
    plan = Plan(conversations, questions, once, own_transcripts)
    return asyncio.run(_until_told(settings, plan))


async def _until_told(settings: Settings, plan: Plan) -> int:
    up = _Up(settings, plan)
    ended = await until_told(up.run())
    if isinstance(ended, signal.Signals):
        say("stopped" if up.proved else "interrupted")
        return EXIT_OK if up.proved else EXIT_INTERRUPTED
    return ended


class _Up:
    """One run; `proved` once all that was asked for is done and only staying is left."""

    def __init__(self, settings: Settings, plan: Plan) -> None:
        self.proved = False
        self._settings = settings
        self._plan = plan
        self._clock = SystemClock()
        self._embedder: Embedder = embedder_of(settings)

    async def run(self) -> int:
        settings = self._settings
        emit_text(f"database   {settings.describe_database()}")
        async with (
            open_for(settings, "up", create=True) as pool,
            draining(settings, pool.database, self._clock),
        ):
            log = settings.data_dir / DAEMON_LOG
            backoff = Backoff()
            while True:
                began = time.monotonic()
                daemon = running("the daemon", module_command("cold"), log)
                async with daemon as child:
                    try:
                        return await beside(child, self._work(pool, child))
                    except MemoryFault:
                        if not (self.proved and child.killed):
                            raise
                delay = backoff.after(time.monotonic() - began)
                say(f"{child.last_words()}\nIt is started again in {delay:g} s.")
                await asyncio.sleep(delay)

    async def _work(self, pool: OpenPool, child: Child) -> int:
        own = Own(self._settings.device_name, child.process.pid)
        emit_text(f"daemon     process {own.pid}, log {child.log}")
        await self._tell_of_another(pool, own)
        if self.proved:
            return await self._stay(pool, own)
        whole = await self._import(pool)
        if self._plan.own_transcripts:
            whole = await self._bring_in_own() and whole
        state = await drained(lambda: self._look(pool), self._clock)
        parked = sum(stage["parked"] for stage in state.values["stages"].values())
        emit_text(f"memory     {status_line(state, own)}")
        answers = await ask(self._plan.questions)
        emit_text(render_answers(answers))
        missing = unanswered(answers)
        for question in missing:
            say(f"error: nothing was found for: {question}")
        if parked:
            say(f"error: {parked} rows of work are set aside; `mcp-agents-memory doctor` says why")
        emit_text(f"\n{render(self._settings)}\n")
        if self._plan.once:
            return EXIT_OK if whole and not missing and not parked else EXIT_FAILURE
        self.proved = True
        return await self._stay(pool, own)

    async def _import(self, pool: OpenPool) -> bool:
        """Whether everything could be brought in."""
        if not self._plan.conversations:
            return True
        files = find_files(self._plan.conversations)
        if not files:
            say("error: no conversation file (*.jsonl) was found")
            return False
        usable, outcome = survey(files)
        await bring_in(pool, usable, outcome)
        emit_text(f"imported   {summarise(outcome)}")
        list_problems(outcome)
        return not outcome.problems

    async def _bring_in_own(self) -> bool:
        """Whether all that the clients kept could be brought in."""
        whole = True
        folders = self._settings.capture_folders
        used = [name for name in CAPTURE_CLIENTS if any(f.is_dir() for f in folders(name))]
        for client in used or CAPTURE_CLIENTS[:1]:
            command = module_command("ingest.backfill", client, "--run", f"--rate={RATE}")
            done = await finished(command, within_s=OWN_LIMIT_S)
            if done is None or done.code != EXIT_OK:
                told = "it took too long" if done is None else done.stderr.decode(errors="replace")
                say(f"error: the transcripts of {client} are not all brought in: {told.strip()}")
                whole = False
                continue
            emit_text(f"transcripts of {client}\n{done.stdout.decode(errors='replace').rstrip()}")
        return whole

    async def _look(self, pool: OpenPool) -> Report:
        return await report(
            pool.database, self._embedder, described=self._settings.describe_database()
        )

    async def _tell_of_another(self, pool: OpenPool, own: Own) -> None:
        """Two daemons would look like two that work, and Ctrl-C ends ours alone."""
        report = await self._look(pool)
        if complete(report) and own.stands_by(leader := report.values["leader"]):
            emit_text(
                f"           stands by: {describe_leader(leader)} does the work; ours takes over "
                "when that one ends"
            )

    async def _stay(self, pool: OpenPool, own: Own) -> int:
        """Keep the status line fresh until the task is cancelled."""
        say("running; Ctrl-C ends it")
        terminal, shown = sys.stderr.isatty(), ""
        try:
            while True:
                line = status_line(await self._look(pool), own)
                if terminal:
                    click.echo(f"\r\x1b[K{visible(line)}", nl=False, err=True)
                elif line != shown:
                    say(line)
                shown = line
                await asyncio.sleep(REFRESH_S)
        finally:
            if terminal:
                click.echo(err=True)
