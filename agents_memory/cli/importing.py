"""`message import`: conversation files, or folders of them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_FAILURE, EXIT_OK, emit_json, emit_text, progress
from agents_memory.cli.pool import OpenPool, load_settings, open_for, say, wanted_services
from agents_memory.clock import SystemClock
from agents_memory.services.conversations import (
    ImportReport,
    find_files,
    import_files,
    rehearse,
    survey,
)
from agents_memory.services.intake import Intake
from agents_memory.settings import Settings
from agents_memory.storage.notify import Hints

MAX_PROBLEMS_SHOWN = 50


@click.command(
    "import", epilog=f"Example: mcp-agents-memory message import examples/conversations\n\n{EPILOG}"
)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path, readable=True)
)
@click.option("--dry-run", is_flag=True, help="Read and check everything, store nothing.")
@as_json
def import_command(*, paths: tuple[Path, ...], dry_run: bool, as_json: bool) -> int:
    """Import conversation files, or folders of them (*.jsonl), with their real times.

    Doing it again adds nothing. What people said counts as yours, the rest as an agent's word.
    The exit code is 1 when something was left out; all that could be stored is stored then.
    """
    settings = load_settings()
    files = find_files(paths)
    usable, report = survey(files)
    if dry_run:
        rehearse(usable, report)
    elif usable:
        asyncio.run(_import(settings, usable, report))
    if as_json:
        emit_json({"dry_run": dry_run, **_counts(report)})
    else:
        emit_text(summarise(report, dry_run=dry_run))
    list_problems(report)
    if not files:
        say("no conversation file (*.jsonl) was found")
    return EXIT_OK if files and not report.problems else EXIT_FAILURE


def summarise(report: ImportReport, *, dry_run: bool = False) -> str:
    """The counts of an import in one line."""
    secrets = sum(report.redacted.values())
    if dry_run:
        left = report.found - report.refused
        head = f"{left} messages would be stored (those stored before are not counted out)"
    else:
        head = f"{report.stored} messages stored, {report.duplicates} were there already"
    return f"{report.files} files: {head}, {report.refused} refused, {secrets} secrets taken out"


async def bring_in(pool: OpenPool, paths: Sequence[Path], report: ImportReport) -> None:
    """Store what the files hold, with a progress bar; `report` is filled in."""
    hints = Hints(pool.database)
    intake = Intake(pool.database, hints, SystemClock())
    try:
        with progress("importing", report.found - report.refused) as advance:
            await import_files(paths, report, intake, pool.user_id, advance=advance)
    finally:
        await hints.close()


def list_problems(report: ImportReport) -> None:
    """Name what was left out, on stderr."""
    for problem in report.problems[:MAX_PROBLEMS_SHOWN]:
        line = "" if problem.line is None else f" line {problem.line}"
        say(f"{problem.path}{line}: {problem.message}")
    if (more := len(report.problems) - MAX_PROBLEMS_SHOWN) > 0:
        say(f"… and {more} more problems; `message import --json` lists all")


async def _import(settings: Settings, paths: Sequence[Path], report: ImportReport) -> None:
    services = wanted_services(settings)
    async with open_for(settings, "message", create=True, services=services) as pool:
        await bring_in(pool, paths, report)


def _counts(report: ImportReport) -> dict[str, Any]:
    return {
        "files": report.files,
        "found": report.found,
        "stored": report.stored,
        "duplicates": report.duplicates,
        "refused": report.refused,
        "redacted": report.redacted,
        "problems": [
            {"path": problem.path, "line": problem.line, "message": problem.message}
            for problem in report.problems
        ],
    }
