"""`summary`: what stands for older messages, and what tells of sessions nobody wrote down."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.receipt import render_stages
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.excerpt import excerpt
from agents_memory.services.receipts import Receipt, read_receipt
from agents_memory.settings import Settings
from agents_memory.storage import summaries
from agents_memory.storage.connections import Connection
from agents_memory.storage.summaries import SummaryView

LINE_CHARS = 90


@click.group("summary")
def command() -> None:
    """Show the summaries of older messages and of sessions.

    The messages stay as they are. Those of sessions are found as before; for older ones a summary
    stands, and `message show`, a search with a time, or --archived shows them.
    """


@command.command("list", epilog=f"Example: mcp-agents-memory summary list --limit 5\n\n{EPILOG}")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="At most so many."
)
@as_json
def list_command(*, limit: int, as_json: bool) -> int:
    """List summaries, those of what was said last first."""
    settings = load_settings()
    found = asyncio.run(_list(settings, limit))
    if as_json:
        emit_json({"ok": True, "summaries": found})
    elif found:
        emit_text("\n".join(_line(settings, one) for one in found))
    else:
        days = settings.archive_after_days
        say(
            f"there is no summary yet; the daemon makes one of messages older than {days} days, "
            "and of a session that ended and nobody wrote down"
        )
    return EXIT_OK


@command.command("show", epilog=f"Example: mcp-agents-memory summary show 57 --json\n\n{EPILOG}")
@click.argument("summary_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@as_json
def show(*, summary_id: int, as_json: bool) -> int:
    """Show a summary in full, its messages, and how far it has come."""
    settings = load_settings()
    outcome = asyncio.run(_load(settings, summary_id))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    summary, receipt = outcome
    if as_json:
        emit_json({"ok": True, "summary": summary, "receipt": receipt})
    else:
        emit_text(_render(settings, summary, receipt))
    return EXIT_OK


async def _list(settings: Settings, limit: int) -> list[SummaryView]:
    async with open_for(settings, "summary") as pool:

        async def load(connection: Connection) -> list[SummaryView]:
            ids = await summaries.list_newest(connection, pool.user_id, limit)
            return await summaries.list_summaries(connection, ids, pool.user_id)

        return await pool.database.run(load)


async def _load(settings: Settings, summary_id: int) -> tuple[SummaryView, Receipt] | Refusal:
    async with open_for(settings, "summary") as pool:

        async def load(connection: Connection) -> tuple[SummaryView, Receipt] | Refusal:
            found = await summaries.list_summaries(connection, [summary_id], pool.user_id)
            receipt = await read_receipt(connection, pool.database.schema, summary_id)
            if found and isinstance(receipt, Receipt):
                return found[0], receipt
            return Refusal(
                Code.UNKNOWN_ITEM,
                f"there is no summary {summary_id} to show; `mcp-agents-memory summary list` shows "
                f"ids, `mcp-agents-memory receipt {summary_id}` says what became of this one",
                {"id": summary_id},
            )

        return await pool.database.run(load)


def _line(settings: Settings, summary: SummaryView) -> str:
    began = summary.began_at.astimezone(settings.time_zone)
    text, _ = excerpt(" ".join(summary.content.split()), (), LINE_CHARS)
    kind = "" if summary.session is None else ", of a session"
    about = (
        f"{summary.project or '-'} on {summary.platform}, {len(summary.messages)} messages{kind}"
    )
    return f"{summary.id}  {began:%Y-%m-%d}  {about}: {text}"


def _render(settings: Settings, summary: SummaryView, receipt: Receipt) -> str:
    zone = settings.time_zone
    began, ended = summary.began_at.astimezone(zone), summary.ended_at.astimezone(zone)
    about = (
        ("summary", f"{summary.id}, version {summary.version}"),
        ("said", f"{began:%Y-%m-%d %H:%M} to {ended:%Y-%m-%d %H:%M %Z}"),
        ("on", summary.platform),
        ("project", summary.project),
        ("trust", f"{summary.trust}{', private' if summary.private else ''}"),
        ("session", summary.session),
        ("tells of", ", ".join(map(str, summary.messages))),
    )
    lines = [f"{name:<11}{value}" for name, value in about if value]
    lines += render_stages(receipt, zone)
    return "\n".join([*lines, "", summary.content])
