"""`python -I -m ingest.backfill CLIENT`: shows what a backfill would store, or stores it."""

import argparse
import asyncio
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agents_memory.cli.output import (
    EXIT_DATABASE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    emit_json,
    emit_text,
    progress,
    use_utf8,
    visible,
)
from agents_memory.cli.pool import load_settings, open_for, say, wanted_services
from agents_memory.cli.running import until_told
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    SchemaMismatch,
)
from agents_memory.domain.messages import Origin
from agents_memory.services.intake import Intake
from agents_memory.settings import Settings
from agents_memory.storage.notify import Hints
from ingest.backfilling import Survey, store, survey
from ingest.storing import Kept, Storing
from ingest.transcripts import CLIENTS, root_of
from ingest.transcripts.claude_code import ClaudeCode

DEFAULT_RATE = 100.0
MAX_PROBLEMS_SHOWN = 50


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit codes are those of `mcp-agents-memory`."""
    use_utf8()
    options = _parse(argv)
    try:
        settings = load_settings()
        usual = settings.capture_folders(options.client)
        roots = [Path(options.root)] if options.root else [r for r in usual if r.is_dir()]
        if not roots or not roots[0].is_dir():
            raise ConfigurationError(
                f"{options.root or usual[0]} is no folder; name the one that holds the "
                "transcripts with --root"
            )
        roots = [root_of(options.client, root) for root in roots]
        _refuse_one_project(options.client, roots[0])
        return asyncio.run(_until_told(settings, options, roots))
    except MemoryFault as fault:
        click.echo(f"error: {visible(str(fault))}", err=True)
        if isinstance(fault, ConfigurationError):
            return EXIT_USAGE
        unusable = isinstance(fault, DatabaseUnavailable | SchemaMismatch)
        return EXIT_DATABASE if unusable else EXIT_FAILURE


def _refuse_one_project(client: str, root: Path) -> None:
    """Raises ConfigurationError for a folder of Claude Code's that holds one project's sessions."""
    if client == ClaudeCode.name and next(root.glob("*.jsonl"), None) is not None:
        raise ConfigurationError(
            f"{root} holds the sessions of one project; name the folder above it: "
            f"--root {shlex.quote(str(root.parent))}"
        )


async def _until_told(settings: Settings, options: argparse.Namespace, roots: list[Path]) -> int:
    ended = await until_told(_backfill(settings, options, roots))
    if isinstance(ended, signal.Signals):
        say("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    return ended


async def _backfill(settings: Settings, options: argparse.Namespace, roots: list[Path]) -> int:
    client = CLIENTS[options.client]
    device = options.device or settings.device_name
    place = ", ".join(map(str, roots))
    say(f"reading {place} …")
    now = SystemClock().now()
    found = await asyncio.to_thread(survey, client, roots, device, now)
    outcomes = await _store(settings, options, roots, device, found) if options.run else None
    if options.as_json:
        emit_json(_document(client.name, place, found, outcomes))
    else:
        emit_text(_render(settings, place, found, outcomes))
    if not found.files:
        usual = settings.capture_folders(client.name)[0]
        say(f"no transcript of {client.name} is there; --root takes a folder like {usual}")
    for problem in found.problems[:MAX_PROBLEMS_SHOWN]:
        say(problem)
    failed = outcomes is not None and outcomes[Kept.FAILED]
    return EXIT_FAILURE if found.problems or failed else EXIT_OK


async def _store(
    settings: Settings, options: argparse.Namespace, roots: list[Path], device: str, found: Survey
) -> dict[Kept, int]:
    clock = SystemClock()
    services = wanted_services(settings)
    async with open_for(settings, "backfill", create=True, services=services) as pool:
        hints = Hints(pool.database)
        storing = Storing(
            pool.database,
            Intake(pool.database, hints, clock),
            pool.user_id,
            clock,
            client=options.client,
            device=device,
            origin=Origin.IMPORTED,
        )
        total = found.total + found.copies + found.refused
        try:
            with progress("storing", total) as advance:
                client = CLIENTS[options.client]
                return await store(
                    client, roots, storing, clock, rate=options.rate, advance=advance
                )
        finally:
            await hints.close()


def _document(
    client: str, place: str, found: Survey, outcomes: dict[Kept, int] | None
) -> dict[str, Any]:
    document = {
        "client": client,
        "root": place,
        "dry_run": outcomes is None,
        "files": found.files,
        "sessions": found.sessions,
        "turns": found.turns,
        "owner": found.owner,
        "subagent": found.subagent,
        "from": found.first,
        "to": found.last,
        "copies": found.copies,
        "refused": found.refused,
        "dropped": found.dropped,
        "redacted": found.redacted,
        "samples": found.samples,
        "problems": found.problems,
    }
    if outcomes is not None:
        document |= {kind.value: outcomes.get(kind, 0) for kind in Kept}
    return document


def _render(settings: Settings, place: str, found: Survey, outcomes: dict[Kept, int] | None) -> str:
    def day(moment: Any) -> str:
        return "?" if moment is None else f"{moment.astimezone(settings.time_zone):%Y-%m-%d %H:%M}"

    def counted(counts: Any) -> str:
        pairs = sorted(((int(n), str(name)) for name, n in counts.items()), reverse=True)
        return ", ".join(f"{n} {name}" for n, name in pairs if n) or "nothing"

    lines = [
        f"{'files':<10}{found.files} in {place}",
        f"{'sessions':<10}{found.sessions}, {day(found.first)} to {day(found.last)}",
        f"{'turns':<10}{found.total} ({counted(found.turns)}); "
        f"{found.owner} typed by a person, {found.subagent} of sub-agents",
        f"{'left out':<10}{counted(found.dropped)}; {found.copies} copies, {found.refused} empty",
        f"{'secrets':<10}{counted(found.redacted)} taken out",
    ]
    if outcomes is None:
        lines += [
            f"{'sample':<10}{day(sample.said_at)}  {sample.project or '-'}  {sample.text}"
            for sample in found.samples
        ]
        lines.append(
            "nothing was stored; --run does (what is there already is not stored again)"
            if found.total
            else "there is nothing to store"
        )
    else:
        lines.append(f"{'done':<10}{counted(outcomes)}")
    return "\n".join(lines)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mcp-agents-memory backfill")
    parser.add_argument("client", choices=sorted(CLIENTS))
    parser.add_argument("--root", help="the folder of the transcripts")
    parser.add_argument("--device", help="the machine they were written on")
    parser.add_argument(
        "--run", action="store_true", help="store, instead of showing what would be"
    )
    parser.add_argument("--rate", type=float, default=DEFAULT_RATE, help="turns stored a second")
    parser.add_argument("--json", action="store_true", dest="as_json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
