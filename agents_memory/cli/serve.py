"""`serve`: become the process that answers an editor."""

import click

from agents_memory.cli.running import become

EXAMPLE = "Example: claude mcp add memory -- mcp-agents-memory serve"


@click.command("serve", epilog=EXAMPLE)
def command() -> None:
    """Answer an editor over MCP on stdin and stdout.

    An editor starts this; `init` prints what to put into its configuration. Nothing but MCP goes
    to stdout. With the embedded database, the database and the daemon start by themselves.
    """
    become("hot")
