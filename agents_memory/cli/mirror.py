"""`mirror`: the memory as Markdown pages, for people and for git."""

import asyncio
from pathlib import Path

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Refusal
from agents_memory.services.mirror import Mirror, MonthMirrored
from agents_memory.services.mirror_folder import Done
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory mirror --dir ~/notes/memory --month 2026-10"


@click.command("mirror", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder; MIRROR_DIR unless given.",
)
@click.option("--month", metavar="YYYY-MM", help="Which month is summed up; the last one.")
@click.option("--private", is_flag=True, help="Private items too.")
@as_json
def command(*, directory: Path | None, month: str | None, private: bool, as_json: bool) -> int:
    """Write a month's summary, a page for each project and free tag, and an index of them.

    The same memory makes the same files: what did not change is not touched. Only files that this
    command wrote are replaced or removed.
    """
    settings = load_settings()
    named = directory or settings.mirror_dir
    if named is None:
        raise click.UsageError("say where: pass --dir DIR, or set MIRROR_DIR")
    folder = named.expanduser().absolute()
    outcome = asyncio.run(_write(settings, folder, month, private=private))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    made, done = outcome
    if as_json:
        emit_json(
            {
                "ok": True,
                "folder": str(folder),
                "month": str(made.month),
                "written": done.written,
                "unchanged": len(done.unchanged),
                "removed": done.removed,
                "foreign": done.foreign,
            }
        )
        return EXIT_OK
    if made.page is None:
        say(f"nothing is known of {made.month}, so there is no page for it")
    for path in done.foreign:
        say(f"left alone, since it is not ours: {path}")
    emit_text(
        f"{folder}: {len(done.written)} written, {len(done.unchanged)} unchanged, "
        f"{len(done.removed)} removed"
    )
    return EXIT_OK


async def _write(
    settings: Settings, folder: Path, month: str | None, *, private: bool
) -> tuple[MonthMirrored, Done] | Refusal:
    async with open_for(settings, "mirror") as pool:
        mirror = Mirror(
            pool.database,
            SystemClock(),
            user_id=pool.user_id,
            user=settings.user_name,
            zone=settings.time_zone,
            directory=folder,
        )
        pages = await mirror.everything(month, private=private)
        if isinstance(pages, Refusal):
            return pages
        made, tags = pages
        assert made.done is not None, "there is a folder"
        assert tags.done is not None, "there is a folder"
        done = made.done
        done += tags.done
        return made, done
