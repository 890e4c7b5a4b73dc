"""`memory`: what is believed, and how it came to be."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, tzinfo
from typing import TypeVar

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import OpenPool, load_settings, open_for, say
from agents_memory.cli.private import private_command
from agents_memory.domain.errors import Refusal
from agents_memory.domain.memories import MemoryView
from agents_memory.domain.patches import Verb
from agents_memory.services.history import History, Version
from agents_memory.services.memory_search import MAX_LIMIT, MemorySearch
from agents_memory.settings import Settings

T = TypeVar("T")

item_id = click.argument("number", metavar="ID", type=click.IntRange(1, 2**63 - 1))
_ENDED = {
    Verb.UPDATE: "reworded",
    Verb.SUPERSEDE: "superseded",
    Verb.REPLACE: "superseded by another memory",
    Verb.MERGE: "joined by the evidence of another memory",
    Verb.SUPPORT: "said again",
    Verb.ARCHIVE: "archived",
    Verb.REMOVE: "removed",
    Verb.PIN: "pinned",
    Verb.UNPIN: "unpinned",
    Verb.RESOLVE: "resolved",
    Verb.RETAG: "retagged",
    Verb.RESTORE: "rolled back",
}


@click.group("memory")
def command() -> None:
    """Show and search what is believed, and how it came to be."""


command.add_command(private_command("memory"))


@command.command("get", epilog=f"Example: mcp-agents-memory memory get 17 --history\n\n{EPILOG}")
@item_id
@click.option("--history", "with_history", is_flag=True, help="Also every version it had.")
@as_json
def get(*, number: int, with_history: bool, as_json: bool) -> int:
    """Show a memory as it is now, whatever its status."""
    settings = load_settings()

    async def load(pool: OpenPool) -> tuple[MemoryView, tuple[Version, ...]] | Refusal:
        view = await MemorySearch(pool.database).read(number, pool.user_id, private=True)
        if isinstance(view, Refusal) or not with_history:
            return view if isinstance(view, Refusal) else (view, ())
        versions = await History(pool.database).versions(number, pool.user_id, private=True)
        return versions if isinstance(versions, Refusal) else (view, versions)

    outcome = asyncio.run(in_pool(settings, "memory get", load))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    view, versions = outcome
    if as_json:
        history = {"versions": versions} if with_history else {}
        emit_json({"ok": True, "memory": view, **history})
    else:
        zone = settings.time_zone
        emit_text("\n\n".join([render(view, zone), *(_version(one, zone) for one in versions)]))
    return EXIT_OK


@command.command("search", epilog=f"Example: mcp-agents-memory memory search tea\n\n{EPILOG}")
@click.argument("query", nargs=-1, required=True)
@click.option("--removed", is_flag=True, help="Also what was removed or has given way.")
@click.option("--private", is_flag=True, help="Also what you made private.")
@click.option("--subject", help="Only of this subject.")
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=20, show_default=True)
@as_json
def search(
    *,
    query: tuple[str, ...],
    removed: bool,
    private: bool,
    subject: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """Find memories that hold every word of QUERY; `search` finds by meaning too."""
    settings = load_settings()

    async def load(pool: OpenPool) -> tuple[MemoryView, ...] | Refusal:
        return await MemorySearch(pool.database).search(
            " ".join(query),
            pool.user_id,
            subject=subject,
            include_removed=removed,
            private=private,
            limit=limit,
        )

    outcome = asyncio.run(in_pool(settings, "memory search", load))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "memories": outcome})
    elif outcome:
        emit_text("\n\n".join(render(view, settings.time_zone) for view in outcome))
    else:
        say("nothing found")
    return EXIT_OK


@command.command("history", epilog=f"Example: mcp-agents-memory memory history 17\n\n{EPILOG}")
@item_id
@as_json
def history(*, number: int, as_json: bool) -> int:
    """Show every version of a memory, the oldest first: who changed it, why, on what evidence."""
    settings = load_settings()

    async def load(pool: OpenPool) -> tuple[Version, ...] | Refusal:
        return await History(pool.database).versions(number, pool.user_id, private=True)

    outcome = asyncio.run(in_pool(settings, "memory history", load))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "memory_id": number, "versions": outcome})
    else:
        emit_text("\n\n".join(_version(version, settings.time_zone) for version in outcome))
    return EXIT_OK


async def in_pool(settings: Settings, name: str, work: Callable[[OpenPool], Awaitable[T]]) -> T:
    """What `work` makes of the pool that the settings name. Raises what `open_for` does."""
    async with open_for(settings, name) as pool:
        return await work(pool)


def at(moment: datetime, zone: tzinfo) -> str:
    """A moment as people of that zone write it, to the minute."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def cited(evidence: Iterable[int]) -> str | None:
    """Message ids in words; None for none."""
    listed = ", ".join(map(str, evidence))
    return f"cites {listed}" if listed else None


def render(view: MemoryView, zone: tzinfo) -> str:
    """A memory as it is now: a line about it, then its words, indented."""
    about = (
        f"[{view.id}] {view.subject}",
        view.kind,
        f"version {view.version}",
        f"trust {view.trust}",
        None if view.status == "active" else view.status,
        f"superseded by {view.superseded_by}" if view.superseded_by else None,
        "pinned" if view.pinned else None,
        f"resolved {at(view.resolved_at, zone)}" if view.resolved_at else None,
        f"tags {', '.join(view.tags)}" if view.tags else None,
        view.project,
        f"made {at(view.created_at, zone)}",
    )
    return _entry(about, view.content)


def _version(version: Version, zone: tzinfo) -> str:
    ended = None if version.ended_by is None else _ENDED.get(version.ended_by, version.ended_by)
    about = (
        f"version {version.version}",
        at(version.created_at, zone),
        f"{version.operation} by {version.actor} ({version.tool})",
        f"patch {version.patch_id}",
        cited(version.evidence),
        None if version.status == "active" else version.status,
        "current" if ended is None else f"then {ended}",
    )
    return _entry(about, f"why: {version.reason}\n{version.content}")


def _entry(about: Iterable[str | None], text: str) -> str:
    lines = (f"    {line}" for line in text.split("\n"))
    return "\n".join([" · ".join(filter(None, about)), *lines])
