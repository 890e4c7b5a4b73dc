"""`spool`: what waits on this machine's disk, because the database was away."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_FAILURE, EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.alarms import lasting
from agents_memory.services.captured import Kept
from agents_memory.services.intake import Intake
from agents_memory.services.spool_state import spool_state
from agents_memory.services.spooling import drain
from agents_memory.settings import Settings
from agents_memory.storage.notify import Hints
from agents_memory.storage.spool.store import spool_of


@click.group("spool")
def command() -> None:
    """Show and store what waits on this machine's disk, because the database was away.

    Editors' servers and the capturer store it by themselves; this is for who wants to see to it.
    """


@command.command("status", epilog=f"Example: mcp-agents-memory spool status --json\n\n{EPILOG}")
@as_json
def status_command(*, as_json: bool) -> int:
    """Show how many turns wait, since when, and what was set aside; asks no database."""
    state = spool_state(load_settings(), SystemClock().now())
    if as_json:
        emit_json({"ok": True, **state})
        return EXIT_OK
    age = "" if state["oldest_age_s"] is None else f", the oldest {lasting(state['oldest_age_s'])}"
    lines = [
        f"folder      {state['where']}",
        f"waiting     {state['queued']} turns{age}",
        f"size        {state['bytes']} of {state['limit_bytes']} bytes",
    ]
    if state["aside"]:
        lines.append(f"set aside   {state['aside']} files (*.aside): look into them")
    lines += [f"elsewhere   turns wait for {pool}" for pool in state["other_pools"]]
    emit_text("\n".join(lines))
    return EXIT_OK


@command.command("drain", epilog=f"Example: mcp-agents-memory spool drain\n\n{EPILOG}")
@as_json
def drain_command(*, as_json: bool) -> int:
    """Store now what processes that are gone left here; safe to break off and repeat.

    What a running editor's server or capturer holds, it stores itself. Exits with 1 when another
    process is draining, or something had to be set aside.
    """
    settings = load_settings()
    outcomes = asyncio.run(_drain(settings))
    if outcomes is None:
        say("another process is storing what waits")
        return EXIT_FAILURE
    if as_json:
        emit_json({"ok": not outcomes["failed"], **outcomes})
    else:
        emit_text(
            ", ".join(f"{number} {kind}" for kind, number in outcomes.items() if number)
            or "nothing waits"
        )
    return EXIT_FAILURE if outcomes["failed"] else EXIT_OK


async def _drain(settings: Settings) -> dict[str, int] | None:
    spool = spool_of(settings)
    if not spool.has_any():
        return {kind.value: 0 for kind in Kept}
    async with open_for(settings, "spool") as pool:
        hints = Hints(pool.database)
        try:
            intake = Intake(pool.database, hints, SystemClock())
            outcomes = await drain(spool, pool.database, intake)
        except OSError as error:
            raise MemoryFault(
                f"{spool.folder} cannot be read ({error.strerror}); give it back to this account"
            ) from error
        finally:
            await hints.close()
    return None if outcomes is None else {kind.value: outcomes[kind] for kind in Kept}
