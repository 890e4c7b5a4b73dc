"""The command `mcp-agents-memory`: its subcommands, its errors and its exit codes.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 the database is unavailable,
70 a bug, 130 interrupted, 141 the reader of the output went away.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click
from click.shell_completion import CompletionItem

from agents_memory import __version__
from agents_memory.cli.output import (
    EXIT_DATABASE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PIPE,
    EXIT_UNEXPECTED,
    EXIT_USAGE,
    use_utf8,
    visible,
)
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    SchemaMismatch,
)

PROGRAM = "mcp-agents-memory"
DEFAULT_COMMAND = "serve"
# name: (module:attribute, one line of help). Imported when the command is run, so that help and a
# light command don't wait for what only the others need.
COMMANDS = {
    "serve": ("agents_memory.cli.serve:command", "Answer an editor over MCP (the default)."),
    "coldpath": ("agents_memory.cli.coldpath:command", "Run the daemon that tags and embeds."),
    "capture": ("agents_memory.cli.capture:command", "Store what is said in other clients, live."),
    "backfill": ("agents_memory.cli.backfill:command", "Bring in older transcripts of a client."),
    "buzz-ingest": ("agents_memory.cli.buzz_ingest:command", "Bring in what was said in Buzz."),
    "up": ("agents_memory.cli.up:command", "Run everything in the foreground, with a status."),
    "init": ("agents_memory.cli.init:command", "Prepare this machine: database, schema, model."),
    "install-client": (
        "agents_memory.cli.install_client:command",
        "Put the memory into a client's configuration.",
    ),
    "uninstall-client": (
        "agents_memory.cli.uninstall_client:command",
        "Take it out again.",
    ),
    "migrate": ("agents_memory.cli.migrate:command", "Bring the schema up to date."),
    "status": ("agents_memory.cli.status:command", "Show counts, queues and the leader."),
    "doctor": ("agents_memory.cli.doctor:command", "Check everything; name each fix."),
    "receipt": ("agents_memory.cli.receipt:command", "Show how far an item has come."),
    "work": ("agents_memory.cli.work:command", "Show what the daemon still has to do."),
    "retry": ("agents_memory.cli.retry:command", "Ask again for work that failed or is parked."),
    "park": ("agents_memory.cli.park:command", "Show what the daemon gave up, and why."),
    "spool": ("agents_memory.cli.spool:command", "Show and store what waits on this disk."),
    "brief": ("agents_memory.cli.brief:command", "Print what a new session is told."),
    "search": ("agents_memory.cli.search:command", "Search the memory."),
    "message": ("agents_memory.cli.message:command", "Store or show single messages."),
    "memory": ("agents_memory.cli.memory:command", "Show and search what is believed."),
    "profile": ("agents_memory.cli.profile:command", "Show and write profile and persona."),
    "summary": ("agents_memory.cli.summary:command", "Show what stands for older messages."),
    "patch": ("agents_memory.cli.patch:command", "Show patches, and take one back."),
    "tags": ("agents_memory.cli.tags:command", "Show and change the projects; file anew."),
    "embedding": ("agents_memory.cli.embedding:command", "List and change embedding models."),
    "quarantine": ("agents_memory.cli.quarantine:command", "Show and decide what was held back."),
    "export": ("agents_memory.cli.export:command", "Write a readable copy of everything."),
    "mirror": ("agents_memory.cli.mirror:command", "Write the memory as Markdown pages."),
    "evaluate": ("agents_memory.cli.evaluate:command", "Measure whether forgetting helps."),
    "redact": ("agents_memory.cli.redact:command", "Erase words, a message or a memory."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual, but no command, or options only, mean the default command."""
        own = {option for param in self.get_params(ctx) for option in param.opts}
        # A shell that completes (resilient parsing) still wants the names of all commands.
        if not ctx.resilient_parsing and (
            not args or (args[0].startswith("-") and args[0] not in own)
        ):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As usual, but an unknown command is answered from the whole table."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the table, and the group's own options."""
        return [
            CompletionItem(name, help=about)
            for name, (_, about) in COMMANDS.items()
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def root() -> None:
    """One shared, time-ordered memory for AI agents.

    Without a command, serve. Settings come from the environment and from
    ~/.config/mcp-agents-memory/.env; .env.example explains each.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line `args` (default: this process's) and return the exit code.

    A command may return its exit code. Known faults are printed as one line `error: …` on stderr.
    """
    use_utf8()
    try:
        return _run(list(sys.argv[1:] if args is None else args))
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        return _refuse(error)
    except Exception as error:  # noqa: BLE001 (the top level: every error gets an exit code)
        return _fail(error)


def _run(args: list[str]) -> int:
    # Not root.main(): that ends the process by itself when any pipe breaks, stdout or not.
    root._main_shell_completion({}, PROGRAM)
    try:
        with root.make_context(PROGRAM, args) as context:
            outcome = root.invoke(context)
    except click.exceptions.Exit as leaving:
        outcome = leaving.exit_code
    return outcome if isinstance(outcome, int) else EXIT_OK


def _refuse(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        # Its message is the whole help.
        assert error.ctx is not None, "it is about a command"
        _say(error.ctx.get_help())
        _print_error(f"{error.ctx.command_path} needs one of the commands above")
        return error.exit_code
    if isinstance(error, click.UsageError) and error.ctx is not None:
        _say(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help'.")
    _print_error(error.format_message())
    return error.exit_code


def _fail(error: Exception) -> int:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, BrokenPipeError) and _reader_gone():
        return EXIT_PIPE
    if isinstance(error, MemoryFault):
        _print_error(str(error))
        if isinstance(error, ConfigurationError):
            return EXIT_USAGE
        unusable = isinstance(error, DatabaseUnavailable | SchemaMismatch)
        return EXIT_DATABASE if unusable else EXIT_FAILURE
    # Heavy (structlog), and needed here only.
    from agents_memory.observe import frames, outline

    _print_error(f"unexpected {outline(error)}; run with LOG_LEVEL=debug for the traceback")
    if _debugging():
        _say(visible(frames(error)))
    return EXIT_UNEXPECTED


def _print_error(message: str) -> None:
    first, *others = visible(message).splitlines() or [""]
    _say("\n".join([f"error: {first}", *(f"       {line}" for line in others)]))


def _say(text: str) -> None:
    try:
        click.echo(text, err=True)
    except OSError:
        # The exit code still tells.
        _silence(sys.stderr)


def _debugging() -> bool:
    from agents_memory.settings import Settings

    try:
        return Settings.load().log_level == "debug"
    except MemoryFault:
        return False


def _reader_gone() -> bool:
    """Whether it is stdout that broke; if so, nothing more is written to it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
        return True
    return False


def _silence(stream: TextIO) -> None:
    # The interpreter flushes once more at its end, and would replace the exit code by its own.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
