"""`work`: the daemon's queue, looked at and put right by hand."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.retry import command as retry
from agents_memory.cli.retry import of_stage
from agents_memory.settings import Settings
from agents_memory.storage import work
from agents_memory.storage.work import Row, State

MAX_LIMIT = 10_000

with_limit = click.option(
    "--limit", type=click.IntRange(1, MAX_LIMIT), default=50, show_default=True, help="So many."
)


@click.group("work")
def command() -> None:
    """Show what the daemon still has to do, and ask for what failed again."""


@command.command("list", epilog=f"Example: mcp-agents-memory work list --failed\n\n{EPILOG}")
@of_stage
@click.option("--waiting", "state", flag_value=State.WAITING.value, help="What was never tried.")
@click.option("--failed", "state", flag_value=State.FAILED.value, help="What is tried again.")
@click.option("--parked", "state", flag_value=State.PARKED.value, help="What was given up.")
@with_limit
@as_json
def list_command(*, stage: str | None, state: str | None, limit: int, as_json: bool) -> int:
    """List what waits, failed or is parked, the oldest first."""
    return show(stage, None if state is None else State(state), limit, as_json=as_json)


command.add_command(retry)


def show(stage: str | None, state: State | None, limit: int, *, as_json: bool) -> int:
    """Print up to `limit` rows of the queue, of one stage and in one state where given."""
    settings = load_settings()
    rows = asyncio.run(_rows(settings, stage, state, limit + 1))
    shown, more = rows[:limit], len(rows) > limit
    if as_json:
        emit_json({"ok": True, "work": shown, "more": more})
    elif shown:
        emit_text("\n".join(_line(row, settings) for row in shown))
    else:
        say("nothing" if state is None else f"nothing is {state}")
    if more:
        say(f"there is more than these {limit}; see --limit")
    return EXIT_OK


async def _rows(
    settings: Settings, stage: str | None, state: State | None, limit: int
) -> list[Row]:
    async with open_for(settings, "work") as pool:
        return await pool.database.run(
            lambda connection: work.list_work(connection, limit, stage=stage, state=state)
        )


def _line(row: Row, settings: Settings) -> str:
    zone = settings.time_zone
    parts = [
        f"{row.item_id:>8}  {row.stage:<18}  {row.state:<7}  since "
        f"{row.queued_at.astimezone(zone):%Y-%m-%d %H:%M}"
    ]
    if row.attempts:
        parts.append(f"{row.attempts} tries")
    if row.state is State.FAILED:
        parts.append(f"next {row.run_after.astimezone(zone):%Y-%m-%d %H:%M:%S}")
    if row.reason is not None:
        parts.append(row.reason)
    return ", ".join(parts)
