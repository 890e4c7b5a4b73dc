"""`coldpath`: become the daemon."""

import click

from agents_memory.cli.running import become
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory coldpath --once"
CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 the database cannot be used; with "
    "--once 4 when work is left failed, held or parked."
)


@click.command("coldpath", epilog=f"{EXAMPLE}\n\n{CODES}")
@click.option("--exit-if-held", is_flag=True, help="Leave with 0 when another daemon leads.")
@click.option("--drain", is_flag=True, help="Work until nothing waits any more, then leave.")
@click.option("--once", is_flag=True, help="Do what is due, say what was done, and leave.")
def command(*, exit_if_held: bool, drain: bool, once: bool) -> None:
    """Run the daemon that screens, tags and embeds what was stored.

    One daemon a pool works; further ones wait and take over. With the embedded database it starts
    by itself; with a database of your own run one, on the machine that has the models.

    --once is for a timer: it never waits, neither for another daemon (it says who leads, and
    leaves with 0) nor for work that was put off.
    """
    if drain and once:
        raise click.UsageError("choose one of --drain and --once")
    # Before the exec, so that wrong settings end with their own exit code.
    Settings.load()
    flags = {"--exit-if-held": exit_if_held, "--drain": drain, "--once": once}
    become("cold", *(flag for flag, given in flags.items() if given))
