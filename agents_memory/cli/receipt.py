"""`receipt`: how far a message, memory, summary or job has come."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, tzinfo

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for
from agents_memory.domain.errors import Refusal
from agents_memory.services.receipts import Receipt, Receipts, StageReceipt, StageState
from agents_memory.settings import Settings


@click.command("receipt", epilog=f"Example: mcp-agents-memory receipt 17 --json\n\n{EPILOG}")
@click.argument("item_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@as_json
def command(*, item_id: int, as_json: bool) -> int:
    """Show how far a message, memory or job has come: done, waiting for what, failed or parked why.

    Of a quarantined message too; shows no content.
    """
    settings = load_settings()
    outcome = asyncio.run(_receipt(settings, item_id))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "complete": outcome.complete, "receipt": outcome})
    else:
        emit_text(render(outcome, settings.time_zone))
    return EXIT_OK


def render(receipt: Receipt, zone: tzinfo) -> str:
    """A line a stage, with what to do below it where a person is needed."""
    lines = [f"{receipt.kind:<9}{receipt.id}"]
    if receipt.screening is not None:
        rules = f" ({', '.join(receipt.reasons)})" if receipt.reasons else ""
        lines.append(f"{'state':<9}{receipt.screening}{rules}")
    lines += [
        f"{'decided':<9}{one.action.removeprefix('quarantine_')} by {one.actor} on {one.device}, "
        f"{_at(one.at, zone)}"
        for one in receipt.decisions
    ]
    return "\n".join([*lines, *render_stages(receipt, zone)])


def render_stages(receipt: Receipt, zone: tzinfo) -> Iterator[str]:
    """The lines of the stages alone."""
    for stage in receipt.stages:
        yield f"{stage.stage:<20}{_described(stage, zone)}"
        if stage.fix is not None:
            yield f"{'':<20}→ {stage.fix}"


def _described(stage: StageReceipt, zone: tzinfo) -> str:
    done = [
        f"by {one.backend}"
        + ("" if one.version is None else f" v{one.version}")
        + ("" if one.at is None else f", {_at(one.at, zone)}")
        for one in stage.settled
    ]
    parts = [stage.state.replace("_", " ")]
    match stage.state:
        case StageState.SETTLED:
            text = " ".join([*parts, "; ".join(done)])
            return text if stage.reason is None else f"{text}: {stage.reason}"
        case StageState.FAILED if stage.next_try is not None:
            parts.append(f"{stage.attempts} tries, next {_at(stage.next_try, zone)}")
        case StageState.FAILED | StageState.PARKED:
            parts.append(f"{stage.attempts} tries")
        case StageState.WAITING if stage.next_try is not None:
            parts.append(f"until {_at(stage.next_try, zone)}")
        case _:
            pass
    if stage.since is not None:
        parts.append(f"since {_at(stage.since, zone)}")
    text = ", ".join(parts)
    if stage.reason is not None:
        text += f": {stage.reason}"
    return text + (f" (done before {'; '.join(done)})" if done else "")


def _at(moment: datetime, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S}"


async def _receipt(settings: Settings, item_id: int) -> Receipt | Refusal:
    async with open_for(settings, "receipt") as pool:
        return await Receipts(pool.database).receipt(item_id)
