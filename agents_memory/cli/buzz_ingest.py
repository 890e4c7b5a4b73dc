"""`buzz-ingest`: become the process that brings in what was said in Buzz."""

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.running import become

EXAMPLE = "Example: mcp-agents-memory buzz-ingest --dry-run"


@click.command("buzz-ingest", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option(
    "--max",
    "most",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Messages written in this run, at most.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
@click.option("--no-reclean", is_flag=True, help="Leave captured turns in their wrapping.")
@as_json
def command(*, most: int, dry_run: bool, no_reclean: bool, as_json: bool) -> None:
    """Bring in what was said in the rooms of Buzz that your identity is a member of.

    It asks Buzz's own program (BUZZ_CLI), as BUZZ_PRIVATE_KEY, and reads everything before it
    writes anything: an answer that is not as expected changes nothing. Doing it again adds
    nothing. A timer runs it; docs/buzz.md says how.
    """
    flags = {"--dry-run": dry_run, "--no-reclean": no_reclean, "--json": as_json}
    become("ingest.buzz", f"--max={most}", *(flag for flag, given in flags.items() if given))
