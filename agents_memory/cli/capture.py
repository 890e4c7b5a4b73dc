"""`capture`: become the process that reads transcripts."""

import click

from agents_memory.cli.running import become
from agents_memory.settings.capturing import CAPTURE_CLIENTS

EXAMPLE = "Example: mcp-agents-memory capture --client claude-code"


@click.command("capture", epilog=EXAMPLE)
@click.option(
    "--client",
    "clients",
    multiple=True,
    type=click.Choice(CAPTURE_CLIENTS),
    help="Capture this client, instead of those CAPTURE_CLIENTS names; may be repeated.",
)
def command(*, clients: tuple[str, ...]) -> None:
    """Store what is said in other clients as they write it down, from now on, until Ctrl-C.

    Only reads their transcripts, and changes nothing of theirs. What was said before stays unread;
    `backfill` brings it in. One process captures for each memory on this machine; a further one
    says so and leaves with 0.
    """
    become("ingest", *(word for client in clients for word in ("--client", client)))
