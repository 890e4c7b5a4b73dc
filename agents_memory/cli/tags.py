"""`tags`: the registry of projects, what is suggested for it, and filing messages anew."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.retag import retag
from agents_memory.domain.errors import Refusal
from agents_memory.services.project_tags import ProjectTags, Registered
from agents_memory.storage.registry import Entry
from agents_memory.storage.suggestions import Kind, Status, Suggestion

MAX_LIMIT = 1000
Answer = TypeVar("Answer")

_tag = click.argument("tag", metavar="TAG")
_suggestion = click.argument("suggestion_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))


@click.group("tags")
def command() -> None:
    """Show and change the projects that messages are filed under.

    An alias stands for another tag wherever a project is asked for; messages keep the tag they
    have, so it can be taken back. Suggestions are the daemon's; nothing comes of them until you
    confirm, and a rejection is final. Who changed what is kept.
    """


command.add_command(retag)


@command.command("list", epilog=f"Example: mcp-agents-memory tags list\n\n{EPILOG}")
@as_json
def list_command(*, as_json: bool) -> int:
    """List all tags, the fullest first: messages, aliases, what each is about."""
    entries = asyncio.run(_run(lambda tags: tags.list()))
    if as_json:
        emit_json({"ok": True, "tags": entries})
    elif entries:
        emit_text("\n".join(_lines(entries)))
    else:
        say("there is no tag yet; the daemon makes them known, or `tags add` does")
    return EXIT_OK


@command.command(
    "add", epilog=f"Example: mcp-agents-memory tags add harbor --about 'the port app'\n\n{EPILOG}"
)
@_tag
@click.option("--about", default="", metavar="TEXT", help="What it is about, 200 characters.")
@as_json
def add(*, tag: str, about: str, as_json: bool) -> int:
    """Make a project known, so that messages can be filed under it."""
    return _change(lambda tags: tags.add(tag, about), as_json=as_json)


@command.command(
    "describe", epilog=f"Example: mcp-agents-memory tags describe harbor 'the port app'\n\n{EPILOG}"
)
@_tag
@click.argument("text", metavar="TEXT")
@as_json
def describe(*, tag: str, text: str, as_json: bool) -> int:
    """Say in up to 200 characters what a project is about; '' takes it back."""
    return _change(lambda tags: tags.describe(tag, text), as_json=as_json)


@command.command(
    "alias", epilog=f"Example: mcp-agents-memory tags alias harbour harbor\n\n{EPILOG}"
)
@_tag
@click.argument("of", metavar="OF")
@as_json
def alias(*, tag: str, of: str, as_json: bool) -> int:
    """Let TAG stand for OF: asking for either finds both."""
    return _change(lambda tags: tags.alias(tag, of), as_json=as_json)


@command.command("unalias", epilog=f"Example: mcp-agents-memory tags unalias harbour\n\n{EPILOG}")
@_tag
@as_json
def unalias(*, tag: str, as_json: bool) -> int:
    """Let TAG stand for itself again; it is not suggested for that other tag any more."""
    return _change(lambda tags: tags.unalias(tag), as_json=as_json)


@command.command("suggestions", epilog=f"Example: mcp-agents-memory tags suggestions\n\n{EPILOG}")
@click.option(
    "--status",
    type=click.Choice([Status.PENDING, Status.CONFIRMED, Status.REJECTED]),
    default=Status.PENDING,
    show_default=True,
)
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=50, show_default=True)
@as_json
def suggestions(*, status: str, limit: int, as_json: bool) -> int:
    """List what the daemon suggests: aliases and new projects, the surest of each first."""
    found = asyncio.run(_run(lambda tags: tags.suggestions(Status(status), limit + 1)))
    shown, more = found[:limit], len(found) > limit
    if as_json:
        emit_json({"ok": True, "suggestions": shown, "more": more})
    elif shown:
        emit_text("\n".join(map(_suggested, shown)))
    else:
        say(f"no suggestion is {status}")
    if more:
        say(f"there is more than these {limit}; see --limit")
    return EXIT_OK


@command.command("confirm", epilog=f"Example: mcp-agents-memory tags confirm 17\n\n{EPILOG}")
@_suggestion
@as_json
def confirm(*, suggestion_id: int, as_json: bool) -> int:
    """Do what was suggested.

    Under a new project the daemon then files the messages that have none and carry the very name
    as a free tag.
    """
    return _change(lambda tags: tags.confirm(suggestion_id), as_json=as_json)


@command.command("reject", epilog=f"Example: mcp-agents-memory tags reject 17\n\n{EPILOG}")
@_suggestion
@as_json
def reject(*, suggestion_id: int, as_json: bool) -> int:
    """Decline for good: this name, or this alias in this direction, is not suggested again."""
    return _change(lambda tags: tags.reject(suggestion_id), as_json=as_json)


async def _run(ask: Callable[[ProjectTags], Awaitable[Answer]]) -> Answer:
    settings = load_settings()
    async with open_for(settings, "tags") as pool:
        return await ask(
            ProjectTags(
                pool.database,
                actor=settings.user_name,
                device=settings.device_name,
                via="cli",
            )
        )


def _change(
    change: Callable[[ProjectTags], Awaitable[Registered | Refusal]], *, as_json: bool
) -> int:
    outcome = asyncio.run(_run(change))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "done": outcome})
    else:
        emit_text(_done(outcome))
    return EXIT_OK


def _done(done: Registered) -> str:
    of = f" for {done.target}" if done.target else ""
    line = f"{done.action}: {done.tag}{of}" + ("" if done.changed else " (it was so before)")
    return f"{line}; the daemon files what carries this name" if done.filing else line


def _lines(entries: Sequence[Entry]) -> list[str]:
    aliases: dict[str, list[str]] = {}
    for entry in entries:
        if entry.alias_of is not None:
            aliases.setdefault(entry.alias_of, []).append(entry.name)
    width = max(len(entry.name) for entry in entries)
    lines = []
    for entry in entries:
        facts = [
            f"stands for {entry.alias_of}" if entry.alias_of else "",
            f"also {', '.join(aliases[entry.name])}" if entry.name in aliases else "",
            entry.description,
        ]
        text = f"{entry.name:<{width}}  {entry.messages:>8}  {'; '.join(filter(None, facts))}"
        lines.append(text.rstrip())
    return lines


def _suggested(one: Suggestion) -> str:
    if one.kind is Kind.NEW:
        what = f"new project {one.name}"
        why = f"used {one.reasons.get('uses')} times in {one.reasons.get('days')} days"
        if one.description:
            why = one.description
    else:
        what = f"{one.name} may stand for {one.target}"
        why = ", ".join(one.reasons.get("signs", {}))
    sure = "" if one.confidence is None else f", confidence {one.confidence:.2f}"
    line = f"{one.id:>8}  {what}  ({why}{sure}; {one.judged_by})"
    if one.decided_by is not None:
        line += f"; {one.status} by {one.decided_by}"
    if one.kind is Kind.NEW and one.status is Status.CONFIRMED:
        line += f", {one.filed} filed" + ("" if one.filed_at else " so far")
    return line
