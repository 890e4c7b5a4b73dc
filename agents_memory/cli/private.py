"""`message private` and `memory private`: for the owner's eyes alone, or for all again."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.errors import Refusal
from agents_memory.services.privacy import Keeping, Privacy

OWNER_CODES = f"Signs in as OWNER_DATABASE_URL, else DATABASE_URL.\n\n{EPILOG}"


def private_command(kind: str) -> click.Command:
    """The command for one kind of item: "message" or "memory"."""

    @click.command(
        "private", epilog=f"Example: mcp-agents-memory {kind} private 17 18\n\n{OWNER_CODES}"
    )
    @click.argument(
        "numbers", metavar="ID…", nargs=-1, required=True, type=click.IntRange(1, 2**63 - 1)
    )
    @click.option("--undo", is_flag=True, help="For all again.")
    @as_json
    def private(*, numbers: tuple[int, ...], undo: bool, as_json: bool) -> int:
        outcome = asyncio.run(_mark(kind, numbers, private=not undo))
        if isinstance(outcome, Refusal):
            return refused(outcome, as_json=as_json)
        if as_json:
            emit_json({"ok": True, "private": not undo, **_document(outcome)})
        else:
            emit_text(_told(outcome, private=not undo))
        if outcome.documents:
            say(
                f"made from it and left as it is: {', '.join(outcome.documents)}; "
                "`mcp-agents-memory profile show` shows what they say"
            )
        return EXIT_OK

    private.help = _HELP[kind]
    return private


_HELP = {
    "message": "Keep messages for your own eyes: no agent and no model is shown them.\n\n"
    "Memories that rest on them alone are hidden with them. `search --private` finds them.",
    "memory": "Keep memories for your own eyes, and the words they were told with: no agent and no "
    "model is shown them.\n\n`search --private` finds them.",
}


async def _mark(kind: str, ids: tuple[int, ...], *, private: bool) -> Privacy | Refusal:
    settings = load_settings()
    async with open_for(settings, f"{kind} private", role="owner") as pool:
        owner = Keeping(pool.database, actor=settings.user_name, device=settings.device_name)
        return await owner.mark(kind, ids, pool.user_id, private=private)


def _document(outcome: Privacy) -> dict[str, object]:
    return {
        "changed": outcome.changed,
        "told": outcome.told,
        "memories": outcome.memories,
        "kept": outcome.kept,
        "documents": outcome.documents,
    }


def _told(outcome: Privacy, *, private: bool) -> str:
    word = "private" if private else "public again"
    if not outcome.changed and not outcome.told and not outcome.kept:
        return f"nothing changed: all of it was {'private' if private else 'public'} already"
    lines = [f"{_ids(outcome.changed)} {word}"] if outcome.changed else []
    if outcome.told:
        lines.append(f"{_ids(outcome.told)} {word}: the words it was told with")
    if outcome.kept:
        lines.append(
            f"{_ids(outcome.kept)} private still: by itself (`message private ID --undo`), or told "
            "for a memory that is private"
        )
    if outcome.memories:
        lines.append(f"{_ids(outcome.memories)} hidden: resting on private messages alone")
    return "\n".join(lines)


def _ids(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))
