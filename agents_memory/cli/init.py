"""`init`: everything a machine needs before its first message."""

import asyncio
import sys

import click

from agents_memory.cli.clients import instructions, render, unsaved
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import emit_json, emit_text
from agents_memory.cli.pool import load_settings, never_made, open_for, say
from agents_memory.clients.entry import entry_for
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.opening import prepare_pool
from agents_memory.settings import Settings
from agents_memory.storage import migrate, vectors
from agents_memory.storage.vectors import Model

EXAMPLE = "Example: mcp-agents-memory init"
NEXT = (
    "Next: `mcp-agents-memory install-client NAME --with-brief` writes the entry into a client's "
    "own configuration (`install-client --help` names them, `--dry-run` only shows it). By hand:"
)


@click.command("init", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@as_json
def command(*, as_json: bool) -> None:
    """Prepare the memory that the settings name, and print what to tell your clients.

    Makes the embedded database where none is configured, brings the schema to this version and
    sets up the embedding model. Safe to repeat.
    """
    settings = load_settings()
    made = never_made(settings)
    if made:
        say(f"making a new memory in {settings.data_dir} …")
    steps, step, model = asyncio.run(_prepare(settings))
    entry = entry_for(settings, sys.executable)
    if as_json:
        emit_json(
            {
                "database": {
                    "where": settings.describe_database(),
                    "schema": settings.db_schema,
                    "step": step,
                },
                "made": made,
                "applied": steps,
                "active_model": model.profile,
                "config_file": settings.config_path,
                "client": entry.as_json(),
                "snippets": instructions(entry),
                "shell_only": unsaved(settings),
                "next": "mcp-agents-memory install-client NAME --with-brief",
            }
        )
        return
    applied = f"applied {', '.join(steps)}" if steps else "up to date"
    emit_text(
        f"database   {settings.describe_database()}\n"
        f"schema     {settings.db_schema}, step {step} ({'made now' if made else applied})\n"
        f"embedding  {model.profile}\n"
        f"settings   {settings.config_path or 'defaults and the environment'}\n"
    )
    emit_text(f"{NEXT}\n")
    emit_text(render(settings))


async def _prepare(settings: Settings) -> tuple[tuple[str, ...], int, Model]:
    steps = await prepare_pool(settings)
    async with open_for(settings, "init", create=True) as pool:
        compatible = await pool.database.run(migrate.compatibility)
        model = await pool.database.run(vectors.find_active_model)
    if model is None:
        raise MemoryFault(
            "the pool has no active embedding model; run `mcp-agents-memory init` again as its "
            "owner"
        )
    return steps, compatible.version, model
