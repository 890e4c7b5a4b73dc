"""`brief`: what a new session is told, for a person or for a client's hook."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import click

from agents_memory.cli.hook import answer
from agents_memory.cli.options import EPILOG
from agents_memory.cli.output import EXIT_OK, emit_text
from agents_memory.cli.pool import load_settings, open_for
from agents_memory.clock import SystemClock
from agents_memory.domain.text import truncate
from agents_memory.domain.tokens import BRIEF_CHARS_PER_TOKEN
from agents_memory.services.brief import STARTUP_MAX_CHARS, Briefing, Reader
from agents_memory.settings import Settings
from agents_memory.settings.inherited import enter_hook

EXAMPLE = "Example: mcp-agents-memory brief --client claude-code"
# Claude Code shows only the first 2 KB of what is longer than 10,000 characters.
MOST_CHARS = 9_500
LATER = (
    "The shared memory could not be read in time for the start of this session. Call the tool "
    "memory_startup before work that may depend on earlier sessions."
)


class _HookFirst(click.Command):
    """Answers a hook whatever its other options say: a wrong one is left out, or the usual one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not any(word.startswith("--hook") for word in args):
            return super().parse_args(ctx, args)
        ctx.ignore_unknown_options = ctx.allow_extra_args = True
        # Help is no JSON.
        ctx.help_option_names = []
        try:
            return super().parse_args(ctx, list(args))
        except click.UsageError:
            return super().parse_args(ctx, ["--hook"])


@click.command("brief", cls=_HookFirst, epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option("--client", "platform", default="cli", help="For a session of this client.")
@click.option(
    "--max-chars",
    type=click.IntRange(500, MOST_CHARS, clamp=True),
    default=MOST_CHARS,
    show_default=True,
    help="The longest it may become; what is out of bounds counts as the bound.",
)
@click.option("--hook", is_flag=True, help="Answer a client's session-start hook, as JSON.")
def command(*, platform: str, max_chars: int, hook: bool) -> int:
    """Print what a new session is told: profile, pins, open promises, projects, recent turns.

    With --hook the answer is one JSON object and the exit code 0, whatever happens: a memory that
    cannot be reached must not stop a session from starting.
    """
    if hook:
        answer(lambda payload: _for_hook(platform, max_chars, payload), envelope(LATER))
    emit_text(asyncio.run(_brief(load_settings(), platform, max_chars)))
    return EXIT_OK


def _for_hook(platform: str, max_chars: int, payload: bytes) -> dict[str, Any]:
    # A session that our own work started must not start more of it.
    if not enter_hook():
        return {}
    asked_by = _asking(platform, payload)
    return envelope(asyncio.run(_brief(load_settings(), asked_by, max_chars)))


def envelope(text: str) -> dict[str, Any]:
    """The one form that every client with such a hook understands."""
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}


def _asking(platform: str, payload: bytes) -> str:
    # Other clients run Claude Code's hooks too, and give themselves away by their spelling.
    with suppress(ValueError, RecursionError):
        given = json.loads(payload)
        if isinstance(given, dict) and "hookEventName" in given:
            return "other"
    return platform


async def _brief(settings: Settings, platform: str, max_chars: int) -> str:
    async with open_for(settings, "brief") as pool:
        briefing = Briefing(
            pool.database,
            SystemClock(),
            zone=settings.time_zone,
            token_limit=min(
                settings.short_term_token_limit,
                int(min(max_chars, STARTUP_MAX_CHARS) / BRIEF_CHARS_PER_TOKEN),
            ),
        )
        reader = Reader(pool.user_id, platform, settings.device_name)
        made = await briefing.startup(reader, days=settings.short_term_days)
        return truncate(made.text, max_chars)
