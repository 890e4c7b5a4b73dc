"""`message`: single messages, and whole conversation files, by the owner's own hand."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from agents_memory.cli.importing import import_command
from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say, wanted_services
from agents_memory.cli.private import private_command
from agents_memory.cli.receipt import render_stages
from agents_memory.clock import SystemClock
from agents_memory.domain.errors import Code, DatabaseUnavailable, Refusal
from agents_memory.domain.messages import Draft, Origin, Queued, Role, Screening, Stored, Trust
from agents_memory.domain.text import MAX_MESSAGE_BYTES
from agents_memory.services.intake import Intake, accept
from agents_memory.services.receipts import Receipt, read_receipt
from agents_memory.services.spooling import queue
from agents_memory.settings import Settings
from agents_memory.storage import messages, summaries, traces
from agents_memory.storage.connections import Connection
from agents_memory.storage.messages import MessageView
from agents_memory.storage.notify import Hints
from agents_memory.storage.spool.store import spool_of

PLATFORM = "cli"


@click.group("message")
def command() -> None:
    """Store or show single messages, or import conversation files."""


command.add_command(import_command)
command.add_command(private_command("message"))


@command.command(
    "add", epilog=f"Example: echo 'We ship on Friday.' | mcp-agents-memory message add\n\n{EPILOG}"
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.USER.value,
    show_default=True,
    help="Who spoke.",
)
@click.option("--text", help="The message; without it, stdin to its end.")
@click.option("--project", help="The project it belongs to; else that of this folder.")
@click.option("--platform", default=PLATFORM, show_default=True, help="Where it was said.")
@click.option("--model", help="The model that spoke, for an assistant.")
@click.option("--device", help="The machine it was said on; else DEVICE_NAME.")
@click.option("--venue", help="The room or channel, such as slack:general.")
@click.option("--session", help="The session it belongs to.")
@click.option("--at", "said_at", metavar="TIME", help="When it was said: 2026-09-16T09:12+02:00.")
@as_json
def add(*, text: str | None, said_at: str | None, as_json: bool, **labels: str | None) -> int:
    """Store one message in your own name: it is trusted as yours.

    While the database is away it waits on this machine's disk, and is stored once that is back.
    """
    settings = load_settings()
    occurred_at = None if said_at is None else _moment(said_at)
    draft = Draft(
        role=Role(labels["role"] or Role.USER),
        text=_from_stdin() if text is None else text,
        origin=Origin.ASSERTED,
        trust=Trust.OWNER,
        platform=labels["platform"] or PLATFORM,
        model=labels["model"],
        device=labels["device"] or settings.device_name,
        venue=labels["venue"],
        session=labels["session"],
        cwd=_folder(),
        project_hint=labels["project"],
        occurred_at=occurred_at,
    )
    outcome = asyncio.run(_store(settings, draft))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, **_acknowledged(outcome)})
    else:
        taken = sum(outcome.redactions.values())
        what = f"queued as {outcome.intake_id}"
        if isinstance(outcome, Stored):
            what = f"stored as {outcome.id}"
        emit_text(what + (f"; {taken} secrets taken out" if taken else ""))
    if isinstance(outcome, Queued):
        say(
            f"the database is away: {outcome.why}. The message is safe on this machine's disk and "
            "stored by the next client, or by `mcp-agents-memory spool drain`; do not add it again"
        )
    return EXIT_OK


@command.command("show", epilog=f"Example: mcp-agents-memory message show 17 --json\n\n{EPILOG}")
@click.argument("message_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@as_json
def show(*, message_id: int, as_json: bool) -> int:
    """Show a message in full, and how far it has come: done, failed, waiting for what."""
    settings = load_settings()
    outcome = asyncio.run(_load(settings, message_id))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    message, receipt, summary = outcome
    if as_json:
        emit_json({"ok": True, "message": message, "receipt": receipt, "summary": summary})
    else:
        emit_text(_render(settings, message, receipt, summary))
    return EXIT_OK


async def _store(settings: Settings, draft: Draft) -> Stored | Queued | Refusal:
    clock = SystemClock()
    turn = await accept(draft, clock.now())
    if isinstance(turn, Refusal):
        return turn
    try:
        async with open_for(
            settings, "message", create=True, services=wanted_services(settings)
        ) as pool:
            hints = Hints(pool.database)
            try:
                return await Intake(pool.database, hints, clock).insert(turn, pool.user_id)
            finally:
                await hints.close()
    except DatabaseUnavailable as why:
        spool = spool_of(settings)
        try:
            return await queue(spool, turn, settings.user_name, why)
        finally:
            spool.close()


async def _load(
    settings: Settings, message_id: int
) -> tuple[MessageView, Receipt, int | None] | Refusal:
    """A message, how far it has come, and the summary that stands for it."""
    async with open_for(settings, "message") as pool:

        async def load(
            connection: Connection,
        ) -> tuple[MessageView, Receipt, int | None] | Refusal:
            found = await messages.list_messages(
                connection, [message_id], pool.user_id, outdated=True, private=True
            )
            receipt = await read_receipt(connection, pool.database.schema, message_id)
            if found and isinstance(receipt, Receipt):
                covering = await summaries.find_covering(connection, message_id)
                return found[0], receipt, covering
            if isinstance(receipt, Receipt) and receipt.screening is Screening.QUARANTINED:
                return _held_back(message_id)
            kinds = await traces.find_kinds(connection, [message_id], pool.user_id)
            return _unknown(message_id, kinds.get(message_id))

        return await pool.database.run(load)


def _held_back(message_id: int) -> Refusal:
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{message_id} is held back and not shown; `mcp-agents-memory receipt {message_id}` says "
        "why, `mcp-agents-memory quarantine list --show` shows its text",
        {"id": message_id},
    )


def _unknown(message_id: int, kind: str | None) -> Refusal:
    what = f"there is no message {message_id}"
    if kind is not None:
        what = f"{message_id} is a {kind}, not a message"
    return Refusal(
        Code.UNKNOWN_ITEM,
        f"{what}; `mcp-agents-memory search` shows the ids of messages",
        {"id": message_id},
    )


def _render(settings: Settings, message: MessageView, receipt: Receipt, summary: int | None) -> str:
    said = (message.occurred_at or message.created_at).astimezone(settings.time_zone)
    speaker = (message.role, message.platform, message.model, message.device)
    marks = (
        "pinned" if message.pinned else "",
        "private" if message.private else "",
        f"archived, summary {summary} stands for it" if message.archived else "",
    )
    about = (
        ("message", str(message.id)),
        ("said", f"{said:%Y-%m-%d %H:%M %Z}{'' if message.occurred_at else ' (when stored)'}"),
        ("from", ", ".join(filter(None, speaker))),
        ("project", message.project),
        ("tags", ", ".join(message.tags)),
        ("session", message.session),
        ("venue", message.venue),
        ("origin", f"{message.origin}, trust {message.trust}"),
        ("state", ", ".join(filter(None, (message.screening, *marks)))),
    )
    lines = [f"{name:<9}{value}" for name, value in about if value]
    lines += render_stages(receipt, settings.time_zone)
    return "\n".join([*lines, "", message.text])


def _acknowledged(outcome: Stored | Queued) -> dict[str, Any]:
    """`id` and `duplicate` are null as long as it waits, `why` is once it is stored."""
    about: dict[str, Any] = {"intake_id": outcome.intake_id, "redactions": outcome.redactions}
    if isinstance(outcome, Queued):
        waits = {"queued": True, "id": None, "duplicate": None, "why": outcome.why}
        return about | waits | {"created_at": outcome.at}
    stored = {"queued": False, "id": outcome.id, "duplicate": outcome.duplicate, "why": None}
    return about | stored | {"created_at": outcome.created_at}


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        # A time at the edge of the calendar has no UTC form and so fits no timestamptz.
        moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        hint = "write it like 2026-09-16T09:12+02:00"
        raise click.BadParameter(hint, param_hint="--at") from error
    if moment.tzinfo is None:
        raise click.BadParameter("add the offset, such as +02:00 or Z", param_hint="--at")
    return moment


def _from_stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("there is no stdin; give the message with --text")
    if sys.stdin.isatty():
        say("Type the message; Ctrl-D on a line of its own ends it.")
    # One byte more than is allowed is enough for the intake to refuse it.
    return sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1).decode("utf-8", "replace")


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:
        # The folder this was started in is gone.
        return None
