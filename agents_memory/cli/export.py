"""`export`: a readable copy of everything, as JSON Lines."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.private_file import private_file, require_free
from agents_memory.clock import SystemClock
from agents_memory.domain.dates import parse_date_range
from agents_memory.domain.errors import Refusal
from agents_memory.services.export import Exported, export
from agents_memory.settings import Settings
from agents_memory.storage.exporting import SECTIONS

EXAMPLE = "Example: mcp-agents-memory export - --only memories | jq 'select(.type == \"memory\")'"
STDOUT = "-"


@click.command("export", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.argument("path", metavar="PATH|-")
@click.option("--only", type=click.Choice(list(SECTIONS)), multiple=True, help="Repeatable.")
@click.option("--since", metavar="DATE", help="What was made or changed then or later.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@as_json
def command(
    *, path: str, only: tuple[str, ...], since: str | None, force: bool, as_json: bool
) -> int:
    """Write messages, memories, profiles, patches and evidence to a private file, one a line.

    All rows show one moment, whoever writes meanwhile. Readable, not restorable: pg_dump makes a
    backup. Holds what was said, quarantined messages included: keep it as safe as the memory.
    """
    if path == STDOUT and as_json:
        raise click.UsageError("with - the export itself is printed; leave out --json")
    if path != STDOUT:
        require_free(Path(path), force=force)
    settings = load_settings()
    sections = tuple(name for name in SECTIONS if not only or name in only)
    done = asyncio.run(_export(settings, path, sections, _moment(since, settings), force=force))
    counts = ", ".join(f"{number} {row_type}" for row_type, number in done.rows.items())
    if path == STDOUT:
        say(f"exported: {counts}")
    elif as_json:
        emit_json({"ok": True, "path": path, "snapshot_at": done.snapshot_at, "rows": done.rows})
    else:
        emit_text(f"{path}: {counts}\nreadable, not restorable: pg_dump makes a backup")
    return EXIT_OK


async def _export(
    settings: Settings, path: str, sections: tuple[str, ...], since: datetime | None, *, force: bool
) -> Exported:
    async with open_for(settings, "export") as pool:
        with ExitStack() as stack:
            write: Callable[[str], object] = sys.stdout.write
            if path != STDOUT:
                write = stack.enter_context(private_file(Path(path), force=force)).write
            done = await export(pool.database, write, sections, since)
            sys.stdout.flush()
            return done


def _moment(since: str | None, settings: Settings) -> datetime | None:
    if since is None:
        return None
    found = parse_date_range(since, SystemClock().now(), settings.time_zone)
    if isinstance(found, Refusal):
        raise click.BadParameter(found.message, param_hint="--since")
    return found.start
