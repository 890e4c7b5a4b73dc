"""`migrate`: the schema of the pool, brought to this version by its owner."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import emit_json, emit_text
from agents_memory.cli.pool import load_settings, never_made, say
from agents_memory.services.opening import prepare_pool

EXAMPLE = "Example: OWNER_DATABASE_URL=… mcp-agents-memory migrate"


@click.command("migrate", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@as_json
def command(*, as_json: bool) -> None:
    """Bring the schema up to date and give the two runtime roles their rights.

    Signs in as OWNER_DATABASE_URL (else DATABASE_URL). Forward only, safe to repeat, and safe
    while others use the pool. The embedded database does this by itself.
    """
    settings = load_settings()
    if never_made(settings):
        say(f"making a new memory in {settings.data_dir} …")
    applied = asyncio.run(prepare_pool(settings))
    if as_json:
        emit_json({"database": settings.describe_database(), "applied": applied})
        return
    if not applied:
        emit_text(f"up to date: {settings.describe_database()}, schema {settings.db_schema}")
    for step in applied:
        emit_text(f"applied {step}")
