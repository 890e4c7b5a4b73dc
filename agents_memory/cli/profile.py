"""`profile`: the documents about you and the persona, in your own hand."""  # noqa: A005 (as the command)

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from pathlib import Path
from typing import TypeVar

import click

from agents_memory.cli.memory import at, cited
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import OpenPool, load_settings, open_for, say
from agents_memory.cli.profile_proposals import accept, proposals, reject
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.domain.patches import PROFILE_KINDS
from agents_memory.services.intake import Intake
from agents_memory.services.patching import Patching
from agents_memory.services.persona_seeds import (
    MAX_FILE_BYTES,
    in_folder,
    page_for,
    read_file,
    shipped,
)
from agents_memory.services.policy import load_policy
from agents_memory.services.profiles import OWNER, Profiles, Written
from agents_memory.settings import Settings
from agents_memory.storage.notify import Hints
from agents_memory.storage.profiles import Profile, ProfileVersion

PLATFORM = "cli"
STDIN = "-"
Answer = TypeVar("Answer")

_kind = click.argument("kind", metavar="KIND", type=click.Choice(PROFILE_KINDS))


@click.group("profile")
def command() -> None:
    """Show and write the documents about you (core, sub) and the persona (agent, user, shared).

    KIND is one of core, sub, persona.agent, persona.user, persona.shared. Each has versions, of
    which none is lost. What the daemon proposes for the persona changes nothing until you
    accept it.
    """


for one in (proposals, accept, reject):
    command.add_command(one)


@command.command("list", epilog=f"Example: mcp-agents-memory profile list\n\n{EPILOG}")
@as_json
def list_command(*, as_json: bool) -> int:
    """List the documents: their version, whose word they are, and how they begin."""
    settings = load_settings()
    found = asyncio.run(_run(settings, lambda desk, user: desk.list(user)))
    if as_json:
        emit_json(
            {"ok": True, "profiles": [found[kind] for kind in PROFILE_KINDS if kind in found]}
        )
        return EXIT_OK
    for kind in PROFILE_KINDS:
        emit_text(_line(kind, found.get(kind), settings.time_zone))
    return EXIT_OK


@command.command("show", epilog=f"Example: mcp-agents-memory profile show persona.user\n\n{EPILOG}")
@_kind
@click.option("--version", type=int, help="An older version; else the current one.")
@as_json
def show(*, kind: str, version: int | None, as_json: bool) -> int:
    """Show a document, as it is or as it was."""
    settings = load_settings()

    async def load(desk: Profiles, user: int) -> Profile | ProfileVersion | Refusal:
        if version is not None:
            return await desk.version(user, kind, version)
        return (await desk.list(user)).get(kind) or _never_written(kind)

    found = asyncio.run(_run(settings, load))
    if isinstance(found, Refusal):
        return refused(found, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "kind": kind, "profile": found})
    else:
        emit_text(found.content)
    return EXIT_OK


@command.command("history", epilog=f"Example: mcp-agents-memory profile history core\n\n{EPILOG}")
@_kind
@as_json
def history(*, kind: str, as_json: bool) -> int:
    """Show every version of a document, the oldest first: who wrote it, why, on what evidence."""
    settings = load_settings()
    found = asyncio.run(_run(settings, lambda desk, user: desk.history(user, kind)))
    if not found:
        return refused(_never_written(kind), as_json=as_json)
    if as_json:
        emit_json({"ok": True, "kind": kind, "versions": found})
    else:
        emit_text("\n\n".join(_version(one, settings.time_zone) for one in found))
    return EXIT_OK


@command.command(
    "write",
    epilog=f"Example: mcp-agents-memory profile write persona.user --file me.md\n\n{EPILOG}",
)
@_kind
@click.option("--file", "path", required=True, metavar="F", help="The text; - is stdin.")
@click.option("--expect", type=click.IntRange(0), help="Only if it is at this version.")
@as_json
def write(*, kind: str, path: str, expect: int | None, as_json: bool) -> int:
    """Write a document anew, as your own word; the older versions are kept."""
    settings = load_settings()
    data = _stdin() if path == STDIN else read_file(Path(path))
    if data is None:
        raise click.UsageError(f"there is no file {path}; name one, or - for stdin")
    page = data if isinstance(data, Refusal) else page_for(path, data, kind)
    if isinstance(page, Refusal):
        return refused(page, as_json=as_json)
    content, said = page.content, _said(settings)

    async def change(desk: Profiles, user: int) -> Written | Refusal:
        return await desk.write(user, kind, content, said, OWNER, expected_version=expect)

    return _done(asyncio.run(_run(settings, change)), as_json=as_json)


@command.command(
    "revert", epilog=f"Example: mcp-agents-memory profile revert persona.user --to 2\n\n{EPILOG}"
)
@_kind
@click.option("--to", required=True, type=click.IntRange(0), help="A version; 0 empties it.")
@as_json
def revert(*, kind: str, to: int, as_json: bool) -> int:
    """Let a document say again what it said in an older version, as a new one."""
    settings = load_settings()
    done = asyncio.run(_run(settings, lambda desk, user: desk.revert(user, kind, to)))
    return _done(done, as_json=as_json)


@command.command(
    "seed", epilog=f"Example: mcp-agents-memory profile seed --from ~/persona\n\n{EPILOG}"
)
@click.option("--from", "folder", metavar="DIR", help="Holds agent.md, user.md, shared.md.")
@as_json
def seed(*, folder: str | None, as_json: bool) -> int:
    """Begin the persona from files of yours, or from examples to edit; overwrites nothing."""
    settings = load_settings()
    seeds = shipped() if folder is None else in_folder(Path(folder).expanduser())
    if isinstance(seeds, Refusal):
        return refused(seeds, as_json=as_json)
    said = None if folder is None else _said(settings)
    done = asyncio.run(_run(settings, lambda desk, user: desk.seed(user, seeds, said), create=True))
    if isinstance(done, Refusal):
        return refused(done, as_json=as_json)
    if as_json:
        emit_json(
            {"ok": True, "written": done.written, "kept": done.kept, "patch_id": done.patch_id}
        )
    else:
        lines = [f"written  {kind}" for kind in done.written]
        lines += [f"kept     {kind} (it was there)" for kind in done.kept]
        emit_text("\n".join(lines))
        if done.written and folder is None:
            say(
                "these are examples, which every brief shows until you change them: `profile show "
                "KIND > F`, edit F, `profile write KIND --file F`"
            )
    return EXIT_OK


async def _run(
    settings: Settings,
    ask: Callable[[Profiles, int], Awaitable[Answer]],
    *,
    create: bool = False,
) -> Answer:
    async with open_for(settings, "profile", create=create) as pool:
        hints = Hints(pool.database)
        try:
            return await ask(_profiles(settings, pool, hints), pool.user_id)
        finally:
            await hints.close()


def _profiles(settings: Settings, pool: OpenPool, hints: Hints) -> Profiles:
    intake = Intake(pool.database, hints, SystemClock())
    patching = Patching(pool.database, hints, load_policy(settings.policy_path))
    return Profiles(pool.database, intake, patching)


def _said(settings: Settings) -> Draft:
    """What the owner writes here is his own word; its text follows."""
    return Draft(
        role=Role.USER,
        text="",
        origin=Origin.ASSERTED,
        trust=Trust.OWNER,
        platform=PLATFORM,
        device=settings.device_name,
    )


def _stdin() -> bytes:
    if sys.stdin is None:
        raise click.UsageError("there is no stdin; name a file with --file")
    if sys.stdin.isatty():
        say("Type the text; Ctrl-D on a line of its own ends it.")
    return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)


def _done(done: Written | Refusal, *, as_json: bool) -> int:
    if isinstance(done, Refusal):
        return refused(done, as_json=as_json)
    if as_json:
        emit_json(
            {
                "ok": True,
                "kind": done.kind,
                "version": done.version,
                "patch_id": done.patch_id,
                "message_id": done.message_id,
                "diff": done.diff,
            }
        )
    else:
        head = f"{done.kind} is at version {done.version} (patch {done.patch_id})"
        emit_text(f"{head}\n\n{done.diff}".rstrip("\n"))
    return EXIT_OK


def _never_written(kind: str) -> Refusal:
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{kind} was never written; `profile write {kind} --file F` writes it, and `profile seed` "
        "begins the persona",
        {"profile": kind},
    )


def _line(kind: str, profile: Profile | None, zone: tzinfo) -> str:
    if profile is None:
        return f"{kind:<15} (never written)"
    begins = " ".join(profile.content.split())[:60] or "(empty)"
    facts = (
        f"version {profile.version}",
        at(profile.updated_at, zone),
        f"trust {profile.trust}",
        "rests on what was held back since" if profile.held else None,
    )
    return f"{kind:<15} {' · '.join(filter(None, facts))}\n    {begins}"


def _version(one: ProfileVersion, zone: tzinfo) -> str:
    about = (
        f"version {one.version}",
        at(one.created_at, zone),
        f"by {one.actor} ({one.tool})",
        f"patch {one.patch_id}",
        cited(one.evidence),
    )
    lines = (f"    {line}" for line in f"why: {one.reason}\n{one.content}".split("\n"))
    return "\n".join([" · ".join(filter(None, about)), *lines])
