"""`coldpath`: become the daemon."""

import click

from agents_memory.cli.running import become
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory coldpath --drain"


@click.command("coldpath", epilog=EXAMPLE)
@click.option("--exit-if-held", is_flag=True, help="Leave with 0 when another daemon leads.")
@click.option("--drain", is_flag=True, help="Work until nothing waits any more, then leave.")
def command(*, exit_if_held: bool, drain: bool) -> None:
    """Run the daemon that screens, tags and embeds what was stored.

    One daemon a pool works; further ones wait and take over. With the embedded database it starts
    by itself; with a database of your own run one, on the machine that has the models.
    """
    # Before the exec, so that wrong settings end with their own exit code.
    Settings.load()
    flags = {"--exit-if-held": exit_if_held, "--drain": drain}
    become("cold", *(flag for flag, given in flags.items() if given))
