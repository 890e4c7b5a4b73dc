"""`quarantine`: messages that were held back, and the owner's word on them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import tzinfo

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.errors import Refusal
from agents_memory.services.quarantining import Quarantining
from agents_memory.settings import Settings
from agents_memory.storage import quarantine
from agents_memory.storage.quarantine import Quarantined

MAX_LIMIT = 10_000
OWNER_CODES = f"Signs in as OWNER_DATABASE_URL, else DATABASE_URL.\n\n{EPILOG}"

_message_id = click.argument("message_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))


@click.group("quarantine")
def command() -> None:
    """Show messages that were held back as planted, and let them go or keep them.

    They are stored, but feed nothing and are never returned. What `redact` erased is not among
    them: of that nothing is left to release.
    """


@command.command("list", epilog=f"Example: mcp-agents-memory quarantine list --show\n\n{EPILOG}")
@click.option("--show", is_flag=True, help="Their text too: read it as data, it may be an attack.")
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=50, show_default=True)
@as_json
def list_command(*, show: bool, limit: int, as_json: bool) -> int:
    """List what is held back, the newest first: when, by which rule, and what was decided."""
    settings = load_settings()
    found = asyncio.run(_list(settings, limit + 1, show=show))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        emit_json({"ok": True, "messages": shown, "more": more})
    elif shown:
        emit_text("\n".join(_line(one, settings.time_zone) for one in shown))
    else:
        say("nothing is held back")
    if more:
        say(f"there is more than these {limit}; see --limit")
    return EXIT_OK


@command.command(
    "release", epilog=f"Example: mcp-agents-memory quarantine release 17\n\n{OWNER_CODES}"
)
@_message_id
@as_json
def release(*, message_id: int, as_json: bool) -> int:
    """Let a message be found and worked on like any other; who did it and when is kept."""
    return _decide(message_id, "released", Quarantining.release, as_json=as_json)


@command.command("keep", epilog=f"Example: mcp-agents-memory quarantine keep 17\n\n{OWNER_CODES}")
@_message_id
@as_json
def keep(*, message_id: int, as_json: bool) -> int:
    """Leave a message where it is, as one that was looked at; who did it and when is kept."""
    return _decide(message_id, "kept", Quarantining.keep, as_json=as_json)


def _decide(
    message_id: int,
    done: str,
    decide: Callable[[Quarantining, int], Awaitable[Refusal | None]],
    *,
    as_json: bool,
) -> int:
    settings = load_settings()

    async def run() -> Refusal | None:
        async with open_for(settings, "quarantine", role="owner") as pool:
            owner = Quarantining(
                pool.database, actor=settings.user_name, device=settings.device_name
            )
            return await decide(owner, message_id)

    refusal = asyncio.run(run())
    if refusal is not None:
        return refused(refusal, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "id": message_id, "decision": done})
    else:
        emit_text(f"{message_id} {done}")
    return EXIT_OK


async def _list(settings: Settings, limit: int, *, show: bool) -> list[Quarantined]:
    async with open_for(settings, "quarantine") as pool:
        return await pool.database.run(
            lambda connection: quarantine.list_quarantined(connection, limit, with_text=show)
        )


def _line(one: Quarantined, zone: tzinfo) -> str:
    held = (one.held_at or one.created_at).astimezone(zone)
    said = ", ".join(filter(None, (one.role, f"trust {one.trust}", one.platform, one.device)))
    rules = ", ".join(one.reasons) or "no rule kept"
    line = f"{one.id:>8}  {held:%Y-%m-%d %H:%M}  {rules}  ({said})"
    if one.action is not None and one.decided_at is not None:
        verb = one.action.removeprefix("quarantine_")
        line += f"; {verb} by {one.actor}, {one.decided_at.astimezone(zone):%Y-%m-%d %H:%M}"
    if one.text is not None:
        line += "".join(f"\n{'':>10}│ {part}" for part in one.text.splitlines())
    return line
