"""`patch`: what was changed, when, why and by whom; and taking it back, the owner's act."""

import asyncio

import click

from agents_memory.cli.memory import at, cited, in_pool, item_id
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import OpenPool, load_settings, say
from agents_memory.domain.errors import Refusal
from agents_memory.domain.patches import Applied
from agents_memory.services.history import MAX_LISTED, History, PatchSummary, PatchView
from agents_memory.services.rollback import Rollback
from agents_memory.storage.notify import Hints


@click.group("patch")
def command() -> None:
    """Show patches, and take one back."""


@command.command("get", epilog=f"Example: mcp-agents-memory patch get 42 --json\n\n{EPILOG}")
@item_id
@as_json
def get(*, number: int, as_json: bool) -> int:
    """Show a patch: its operations, their evidence, and the diff."""
    settings = load_settings()

    async def load(pool: OpenPool) -> PatchView | Refusal:
        return await History(pool.database).patch_view(number, pool.user_id, private=True)

    view = asyncio.run(in_pool(settings, "patch get", load))
    if isinstance(view, Refusal):
        return refused(view, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "patch": view})
        return EXIT_OK
    lines = [
        f"patch {view.id} · {at(view.created_at, settings.time_zone)} · {view.actor} ({view.tool})",
        f"    why: {view.reason}",
        *_relations(view),
    ]
    for operation in view.operations:
        about = (
            f"    {operation.operation} {operation.item_kind} {operation.item_id}",
            f"version {operation.from_version or 0} → {operation.to_version}",
            cited(operation.evidence),
        )
        lines.append(" · ".join(filter(None, about)))
    emit_text("\n".join([*lines, "", view.diff.removesuffix("\n")]))
    return EXIT_OK


@command.command("list", epilog=f"Example: mcp-agents-memory patch list --memory 17\n\n{EPILOG}")
@click.option("--memory", type=click.IntRange(1, 2**63 - 1), help="Only those of this memory.")
@click.option("--limit", type=click.IntRange(1, MAX_LISTED), default=20, show_default=True)
@click.option("--before", type=click.IntRange(1, 2**63 - 1), help="Go on below this patch.")
@as_json
def list_command(*, memory: int | None, limit: int, before: int | None, as_json: bool) -> int:
    """List patches, the newest first."""
    settings = load_settings()

    async def load(pool: OpenPool) -> tuple[PatchSummary, ...]:
        return await History(pool.database).list_patches(
            pool.user_id, memory, limit, before, private=True
        )

    found = asyncio.run(in_pool(settings, "patch list", load))
    if as_json:
        emit_json({"ok": True, "patches": found})
        return EXIT_OK
    if not found:
        say("nothing found")
    for patch in found:
        head = (
            f"[{patch.id}] {at(patch.created_at, settings.time_zone)}",
            f"{patch.actor} ({patch.tool})",
            ", ".join(patch.operations),
        )
        emit_text("\n".join([" · ".join(head), f"    why: {patch.reason}", *_relations(patch)]))
    return EXIT_OK


@command.command(
    "rollback", epilog=f'Example: mcp-agents-memory patch rollback 42 --reason "wrong"\n\n{EPILOG}'
)
@item_id
@click.option("--reason", required=True, help="Why; it stays in the history.")
@as_json
def rollback(*, number: int, reason: str, as_json: bool) -> int:
    """Restore what a patch changed, by a new patch; nothing is erased.

    Refused while a later patch of the same memories stands. A rollback can be rolled back too.
    """
    settings = load_settings()

    async def take_back(pool: OpenPool) -> Applied | Refusal:
        hints = Hints(pool.database)
        try:
            return await Rollback(pool.database, hints).roll_back(number, pool.user_id, reason)
        finally:
            await hints.close()

    done = asyncio.run(in_pool(settings, "patch rollback", take_back))
    if isinstance(done, Refusal):
        return refused(done, as_json=as_json)
    if as_json:
        emit_json(
            {
                "ok": True,
                "patch_id": done.patch_id,
                "rollback_of": number,
                "changes": done.changes,
                "diff": done.diff,
            }
        )
    else:
        emit_text(f"patch {done.patch_id} takes back patch {number}\n\n{done.diff}".rstrip("\n"))
    return EXIT_OK


def _relations(patch: PatchView | PatchSummary) -> list[str]:
    lines = []
    if patch.rollback_of is not None:
        lines.append(f"    takes back patch {patch.rollback_of}")
    if patch.rolled_back_by is not None:
        lines.append(f"    taken back by patch {patch.rolled_back_by}")
    return lines
