"""`retry`: ask again for work that failed or was given up."""

import asyncio
from collections.abc import Iterator

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.errors import Refusal
from agents_memory.services import retrying
from agents_memory.services.retrying import Retried
from agents_memory.services.status import STAGES
from agents_memory.settings import Settings

of_stage = click.option("--stage", type=click.Choice(STAGES), help="Only of this stage.")


@click.command(
    "retry",
    epilog=f"Example: mcp-agents-memory retry --all\n\n{EPILOG}",
)
@click.argument("item_id", metavar="[ID]", type=click.IntRange(1, 2**63 - 1), required=False)
@of_stage
@click.option("--all", "everything", is_flag=True, help="All that failed, is held or is parked.")
@as_json
def command(*, item_id: int | None, stage: str | None, everything: bool, as_json: bool) -> int:
    """Ask again for work that failed or is parked: due now, with no attempt counted.

    What is held is tried at once; --all also asks models that were left alone. An ID may be that of
    a message that rules filed because a model could not. Remove the cause first: `park list` names
    it. Signs in as the daemon does (COLD_DATABASE_URL,
    else DATABASE_URL). A quarantined message has no work to retry: see `quarantine release`.
    """
    if item_id is None and stage is None and not everything:
        raise click.UsageError("say what to retry: an ID, --stage STAGE or --all")
    if everything and (item_id is not None or stage is not None):
        raise click.UsageError("--all stands alone")
    settings = load_settings()
    outcome = asyncio.run(_retry(settings, item_id, stage))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json(
            {
                "ok": True,
                "retried": outcome.stages.total(),
                "stages": outcome.stages,
                "held": outcome.held,
                "providers": outcome.providers,
            }
        )
    elif lines := list(_told(outcome)):
        emit_text("\n".join(lines))
    else:
        say("nothing failed, is held or is parked")
    return EXIT_OK


def _told(outcome: Retried) -> Iterator[str]:
    for name, rows in sorted(outcome.stages.items()):
        yield f"{name}: {rows} due again"
    for name, rows in sorted(outcome.held.items()):
        yield f"{name}: held, tried at once ({rows} rows)"
    if outcome.providers:
        yield f"models of {', '.join(outcome.providers)}: asked at once"


async def _retry(settings: Settings, item_id: int | None, stage: str | None) -> Retried | Refusal:
    async with open_for(settings, "retry", role="cold") as pool:
        return await retrying.retry(pool.database, item_id=item_id, stage=stage)
