"""`serve`: become the process that answers an editor."""

import click

from agents_memory.cli.running import become

EXAMPLE = "Example: claude mcp add memory -- /absolute/path/to/venv/bin/python -I -m hot"


@click.command("serve", epilog=EXAMPLE)
def command() -> None:
    """Answer an editor over MCP on stdin and stdout.

    An editor starts this, by the absolute path of the Python of its environment: `init` prints what
    to put into its configuration, and `install-client` puts it there. Nothing but MCP goes
    to stdout. With the embedded database, the database and the daemon start by themselves.
    """
    become("hot")
