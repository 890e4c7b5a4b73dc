"""Work that failed, was parked or held, or was left to rules, asked for again."""

from collections import Counter
from dataclasses import dataclass, field

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.storage import filing, health, holds, summaries, work
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import send_hint

RIGHTS = [("work", "INSERT"), ("work", "UPDATE"), ("provider_holds", "DELETE")]


@dataclass(frozen=True, slots=True)
class Retried:
    """What was asked for again, in rows by stage.

    `stages`: failed, parked or left to rules, due now as if new. `held`: handed back untried,
    and tried at once. `providers` of language models are no longer left alone.
    """

    stages: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    providers: tuple[str, ...] = ()


async def retry(
    database: Database, *, item_id: int | None = None, stage: str | None = None
) -> Retried | Refusal:
    """Makes what failed or is parked due now with no attempt counted, and ends the rests of stages.

    Of one item, of one stage, or of all, which also lets every provider of models be asked at once.
    One message or summary that rules did because a model could not is asked of a model again, and
    of a stage or of all whatever a provider took no question about. It is no write of a term and so
    not fenced: what the daemon is at right now is left to it. A quarantined message has no work, so
    this releases none. Raises ConfigurationError unless `database` signs in as the cold role or the
    owner.
    """
    async with database.transaction() as connection:
        if await health.list_missing_rights(connection, database.schema, RIGHTS):
            raise ConfigurationError(
                "this user of the database may not change the queue; set COLD_DATABASE_URL to sign "
                "in as the daemon does"
            )
        stages = await work.retry_work(connection, item_id=item_id, stage=stage)
        held = await work.count_held(connection, item_id=item_id, stage=stage)
        providers: list[str] = []
        if item_id is None and stage is None:
            providers = await holds.delete_holds(connection)
        elif item_id is not None and not (stages or held):
            stages["tag"] += await filing.queue_unanswered(connection, item_id)
            stages["summarise"] += await summaries.queue_unanswered(connection, item_id)
        if item_id is None and stage in (None, "tag"):
            stages["tag"] += await filing.queue_rejected(connection)
        if item_id is None and stage in (None, "summarise"):
            stages["summarise"] += await summaries.queue_rejected(connection)
        stages = +stages
        # Sent without any of it, too: a stage may rest whose rows were settled meanwhile.
        await send_hint(connection, database.schema, retry=True)
    if item_id is not None and not (stages or held):
        return Refusal(
            Code.UNKNOWN_ITEM,
            f"no work on {item_id} failed, is held or parked, or was left to rules by a model; "
            f"`mcp-agents-memory receipt {item_id}` says how far it has come",
            {"id": item_id},
        )
    return Retried(stages, held, tuple(providers))
