"""`backfill`: become the process that brings in older transcripts."""

from pathlib import Path

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.running import become
from agents_memory.settings.capturing import CAPTURE_CLIENTS

EXAMPLE = "Example: mcp-agents-memory backfill claude-code --root ~/.claude/projects --run"


@click.command("backfill", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.argument("client", type=click.Choice(CAPTURE_CLIENTS))
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of the transcripts; else the client's own.",
)
@click.option("--device", help="The machine they were written on; else DEVICE_NAME.")
@click.option("--run", is_flag=True, help="Store, instead of showing what would be stored.")
@click.option(
    "--rate",
    type=click.FloatRange(0.1, 10_000),
    default=100.0,
    show_default=True,
    help="Turns stored a second, at most.",
)
@as_json
def command(
    *,
    client: str,
    root: Path | None,
    device: str | None,
    run: bool,
    rate: float,
    as_json: bool,
) -> None:
    """Bring in what was said in a client before capture began.

    Without --run nothing is stored: it shows counts, what would be left out and why, how many
    secrets would be taken out, and up to three samples. Doing it again adds nothing.
    """
    words = [client, f"--rate={rate}"]
    words += [] if root is None else [f"--root={root}"]
    words += [] if device is None else [f"--device={device}"]
    flags = {"--run": run, "--json": as_json}
    become("ingest.backfill", *words, *(flag for flag, given in flags.items() if given))
