"""`park`: what the daemon gave up."""

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.retry import of_stage
from agents_memory.cli.work import show, with_limit
from agents_memory.storage.work import State


@click.group("park")
def command() -> None:
    """Show what the daemon gave up after repeated failures; `retry` asks for it again."""


@command.command("list", epilog=f"Example: mcp-agents-memory park list --json\n\n{EPILOG}")
@of_stage
@with_limit
@as_json
def list_command(*, stage: str | None, limit: int, as_json: bool) -> int:
    """List what is parked, the oldest first, with its reason."""
    return show(stage, State.PARKED, limit, as_json=as_json)
