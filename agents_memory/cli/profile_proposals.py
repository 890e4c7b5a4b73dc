"""`profile proposals`, `accept` and `reject`: what the daemon proposes for the persona."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from typing import TypeVar

import click

from agents_memory.cli.memory import at, cited
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.diffs import shown_profile, unified
from agents_memory.domain.errors import Refusal
from agents_memory.services.patching import Patching
from agents_memory.services.policy import load_policy
from agents_memory.services.proposals import Proposals
from agents_memory.settings import Settings
from agents_memory.storage import profiles
from agents_memory.storage.notify import Hints
from agents_memory.storage.proposals import Proposal, Status

MAX_LIMIT = 1000
Answer = TypeVar("Answer")

_proposal = click.argument("proposal_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))


@click.command("proposals", epilog=f"Example: mcp-agents-memory profile proposals\n\n{EPILOG}")
@click.option(
    "--status",
    type=click.Choice([one.value for one in Status]),
    default=Status.PENDING.value,
    show_default=True,
)
@click.option("--limit", type=click.IntRange(1, MAX_LIMIT), default=50, show_default=True)
@as_json
def proposals(*, status: str, limit: int, as_json: bool) -> int:
    """List what is proposed for the persona, the newest first, as a diff to what stands now."""
    settings = load_settings()

    async def load(desk: Proposals, user: int, now: dict[str, str]) -> list[tuple[Proposal, str]]:
        found = await desk.list(user, Status(status), limit)
        return [(one, _diff(one, now.get(one.kind))) for one in found]

    found = asyncio.run(_run(settings, load))
    if as_json:
        emit_json({"ok": True, "proposals": [one for one, _ in found]})
    elif found:
        emit_text("\n\n".join(_render(one, diff, settings.time_zone) for one, diff in found))
    else:
        say(f"no proposal is {status}")
    return EXIT_OK


@click.command("accept", epilog=f"Example: mcp-agents-memory profile accept 17\n\n{EPILOG}")
@_proposal
@as_json
def accept(*, proposal_id: int, as_json: bool) -> int:
    """Make a proposal the next version of its document, as your word, with its evidence."""
    settings = load_settings()
    by = settings.user_name
    done = asyncio.run(_run(settings, lambda desk, user, _: desk.accept(user, proposal_id, by)))
    if isinstance(done, Refusal):
        return refused(done, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "done": done})
    else:
        head = f"{done.kind} is at version {done.version} (patch {done.patch_id})"
        emit_text(f"{head}\n\n{done.diff}".rstrip("\n"))
    return EXIT_OK


@click.command("reject", epilog=f"Example: mcp-agents-memory profile reject 17\n\n{EPILOG}")
@_proposal
@as_json
def reject(*, proposal_id: int, as_json: bool) -> int:
    """Decline a proposal for good: what it would have added is not proposed again."""
    settings = load_settings()
    by = settings.user_name
    done = asyncio.run(_run(settings, lambda desk, user, _: desk.reject(user, proposal_id, by)))
    if isinstance(done, Refusal):
        return refused(done, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "done": done})
    else:
        emit_text(f"rejected: proposal {done.id} for {done.kind}")
    return EXIT_OK


async def _run(
    settings: Settings, ask: Callable[[Proposals, int, dict[str, str]], Awaitable[Answer]]
) -> Answer:
    async with open_for(settings, "profile") as pool:
        hints = Hints(pool.database)
        try:
            patching = Patching(pool.database, hints, load_policy(settings.policy_path))
            found = await pool.database.run(lambda c: profiles.list_profiles(c, pool.user_id))
            now = {kind: one.content for kind, one in found.items()}
            return await ask(Proposals(pool.database, patching), pool.user_id, now)
        finally:
            await hints.close()


def _diff(proposal: Proposal, now: str | None) -> str:
    label = f"profile/{proposal.kind}"
    return unified(label, shown_profile(now), shown_profile(proposal.content))


def _render(one: Proposal, diff: str, zone: tzinfo) -> str:
    about = (
        f"[{one.id}] {one.kind}",
        at(one.proposed_at, zone),
        f"for version {one.base}",
        f"by {one.backend}",
        f"trust {one.trust}",
        cited(one.evidence),
        f"rests on {len(one.lost)} messages that were held back since" if one.lost else None,
        None
        if one.status is Status.PENDING
        else f"{one.status} by {one.decided_by or 'the daemon'}",
    )
    return "\n".join([" · ".join(filter(None, about)), diff.rstrip("\n") or "(no difference)"])
