"""The Buzz ingest, put together: one run, read first, then written."""

import argparse
import asyncio
import signal
from collections.abc import Awaitable, Sequence

import click

from agents_memory.cli.output import (
    EXIT_DATABASE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    emit_json,
    emit_text,
    use_utf8,
    visible,
)
from agents_memory.cli.pool import OpenPool, load_settings, open_for, say, wanted_services
from agents_memory.cli.running import until_told
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    MemoryFault,
    SchemaMismatch,
)
from agents_memory.observe import Action, get_logger
from agents_memory.services.intake import Intake
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import withdrawals
from agents_memory.storage.faults import blames_the_data
from agents_memory.storage.notify import Hints
from ingest.buzz.cli import Buzz, child_environment
from ingest.buzz.envelopes import Envelopes, find_envelopes
from ingest.buzz.people import find_names, find_self
from ingest.buzz.plan import Plan, asked_for, make
from ingest.buzz.reading import read_rooms
from ingest.buzz.report import Report
from ingest.buzz.storing import SOURCE, STORE_ID, Speakers, Storing

DEFAULT_MAX = 20

log = get_logger()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit codes are those of `mcp-agents-memory`."""
    use_utf8()
    options = _parse(argv)
    try:
        settings = load_settings()
        if not settings.buzz_ingest_owner:
            raise ConfigurationError(
                "set BUZZ_INGEST_OWNER to your own public keys in Buzz (64 hexadecimal digits "
                "each, separated by commas): what they said counts as said by you"
            )
        return asyncio.run(_until_told(settings, options))
    except MemoryFault as fault:
        click.echo(f"error: {visible(str(fault))}", err=True)
        if isinstance(fault, ConfigurationError):
            return EXIT_USAGE
        unusable = isinstance(fault, DatabaseUnavailable | SchemaMismatch)
        return EXIT_DATABASE if unusable else EXIT_FAILURE


async def _until_told(settings: Settings, options: argparse.Namespace) -> int:
    ended = await until_told(_ingest(settings, options))
    if isinstance(ended, signal.Signals):
        say("interrupted; run it again to go on")
        return EXIT_INTERRUPTED
    return ended


async def _ingest(settings: Settings, options: argparse.Namespace) -> int:
    buzz = Buzz(settings.buzz_cli, child_environment(settings, inherited_environment()))
    dry: bool = options.dry_run
    services = () if dry else wanted_services(settings)
    async with open_for(settings, "buzz-ingest", create=not dry, services=services) as pool:
        report = Report(dry_run=dry)
        own = await find_self(buzz)
        plan = await _planned(buzz, pool, settings, report)
        now = plan.within(options.max)
        names = await find_names(buzz, now.authors, own)
        speakers = Speakers(settings.buzz_ingest_owner, own, names)
        # Here ends what Buzz is asked; from here on, it is written.
        await _write(pool, now, report, speakers, options)
    if options.as_json:
        emit_json(report.as_json())
    else:
        emit_text(report.render())
    return EXIT_FAILURE if report.failed else EXIT_OK


async def _planned(buzz: Buzz, pool: OpenPool, settings: Settings, report: Report) -> Plan:
    known = await pool.database.run(
        lambda c: withdrawals.list_heard(c, pool.user_id, SOURCE, STORE_ID)
    )
    read = await read_rooms(buzz, known, count_unsupported=report.dry_run)
    ids = sorted(asked_for(read.messages, read.changes))
    standing = await pool.database.run(
        lambda c: withdrawals.list_standing(c, pool.user_id, SOURCE, STORE_ID, ids)
    )
    plan = make(read.messages, read.changes, standing, settings.buzz_ingest_owner)
    report.channels = len(read.rooms)
    report.pending = len(plan.inserts)
    report.changes = len(plan.edits) + len(plan.hides)
    report.pinned, report.ignored, report.blank = plan.pinned, plan.ignored, plan.blank
    report.unsupported = read.unsupported
    return plan


async def _write(
    pool: OpenPool, plan: Plan, report: Report, speakers: Speakers, options: argparse.Namespace
) -> None:
    clock, hints = SystemClock(), Hints(pool.database)
    intake = Intake(pool.database, hints, clock)
    storing = Storing(pool.database, intake, pool.user_id, clock, speakers)
    try:
        if not report.dry_run:
            await _write_plan(pool, storing, plan, report)
        if options.reclean:
            envelopes = await find_envelopes(pool.database, pool.user_id)
            report.envelopes_ready = sum(bool(one.quotes) for _, one in envelopes.ready)
            report.heal_ready = len(envelopes.ready) - report.envelopes_ready
            report.envelopes_stuck = envelopes.stuck.total()
            report.envelopes_stuck_by = envelopes.stuck
            left = options.max - len(plan.hides) - len(plan.edits) - len(plan.inserts)
            if not report.dry_run:
                await _clean(storing, envelopes, left, report)
    finally:
        await hints.close()


async def _write_plan(pool: OpenPool, storing: Storing, plan: Plan, report: Report) -> None:
    for standing in plan.hides:
        report.hidden += await _done(storing.hide(standing), report)
    for edit in plan.edits:
        report.edited += await _done(storing.edit(edit), report)
    for insert in plan.inserts:
        if await _done(storing.insert(insert), report):
            report.inserted += 1
            report.by_venue[insert.said.room.venue] += 1
    changed = [one.id for one in plan.hides] + [one.standing.id for one in plan.edits]
    if changed:
        report.resting = await pool.database.run(
            lambda c: withdrawals.list_memories_resting(c, changed)
        )


async def _clean(storing: Storing, envelopes: Envelopes, left: int, report: Report) -> None:
    for wrapped, wrapping in envelopes.ready[:left]:
        done = await _done(storing.clean(wrapped, wrapping), report)
        if wrapping.quotes:
            report.recleaned += done
        elif done:
            report.healed += 1
            report.healed_by_device[wrapped.draft.device or "-"] += 1
        else:
            report.heal_rejected += 1


async def _done(step: Awaitable[bool], report: Report) -> bool:
    """Whether a step was taken; one that the database will never take stops no other."""
    try:
        done = await step
    except MemoryFault as fault:
        if not blames_the_data(fault):
            raise
        log.error(Action.CAPTURE_FAILED, client=SOURCE, error=fault)
        report.failed += 1
        return False
    report.refused += not done
    return done


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mcp-agents-memory buzz-ingest")
    parser.add_argument("--max", type=int, default=DEFAULT_MAX, help="most rows written")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument(
        "--no-reclean", action="store_false", dest="reclean", help="leave wrapped turns alone"
    )
    parser.add_argument("--json", action="store_true", dest="as_json")
    return parser.parse_args(argv)
