"""`search`: what a client's search_memory finds, in a shell."""

import asyncio
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.status import embedder_of
from agents_memory.clock import SystemClock
from agents_memory.domain.dates import DateRange, parse_date_range
from agents_memory.domain.errors import Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.tags import normalise_tag
from agents_memory.domain.text import repair
from agents_memory.services.recall import Recall, RecallAnswer, RecallRequest
from agents_memory.services.recalled import RecalledItem
from agents_memory.settings import Settings

EXAMPLE = 'Example: mcp-agents-memory search "idempotency keys" --project harbor-api'
# A command loads the model anew, which takes longer than a running server's search.
EMBED_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; the options as they were written."""

    query: str | None
    limit: int
    max_tokens: int
    project: str | None
    platform: str | None
    role: str | None
    device: str | None
    venue: str | None
    said: DateRange
    archived: bool
    private: bool

    def request(self, user_id: int) -> RecallRequest:
        """The same as a request to the recall of every tool."""
        project = None
        if self.project:
            project = normalise_tag(self.project) or repair(self.project).text
        filters = Filters(
            user_id=user_id,
            since=self.said.start,
            until=self.said.end,
            role=self.role,
            platform=None if not self.platform else repair(self.platform).text,
            device=None if not self.device else repair(self.device).text,
            venue=None if not self.venue else repair(self.venue).text,
            include_archived=self.archived,
            include_private=self.private,
        )
        return RecallRequest(self.query, filters, self.limit, self.max_tokens, project=project)


@click.command("search", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.argument("query", nargs=-1)
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True)
@click.option(
    "--max-tokens",
    type=click.IntRange(200, 20_000),
    default=2_000,
    show_default=True,
    help="Room for the texts of the results together.",
)
@click.option("--project", help="Only this project.")
@click.option(
    "--date-range",
    metavar="RANGE",
    help="When it was said: today, last_week, 7_days_ago, 2026-11-01, 2026-11-01..2026-11-15.",
)
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Only what they said.")
@click.option("--platform", help="Only this client, such as claude-code.")
@click.option("--device", help="Only this machine, and what is pinned.")
@click.option("--venue", help="Only this place: buzz, or exactly buzz:Room.")
@click.option("--archived", is_flag=True, help="Also what was summarised and put away.")
@click.option("--private", is_flag=True, help="Also what you made private.")
@as_json
def command(*, query: tuple[str, ...], date_range: str | None, as_json: bool, **given: Any) -> int:
    """Search the memory by meaning and by words; without QUERY, the newest first."""
    settings = load_settings()
    said = _range(date_range, settings.time_zone)
    wanted = Wanted(query=" ".join(query) or None, said=said, **given)
    answer = asyncio.run(_search(settings, wanted))
    if as_json:
        emit_json(answer)
        return EXIT_OK
    for remark in (answer.degraded, answer.note):
        if remark:
            say(f"note: {remark}")
    if answer.items:
        emit_text("\n\n".join(render(item, settings.time_zone) for item in answer.items))
    else:
        say("nothing found")
    if answer.left_out:
        say(f"{answer.left_out} more did not fit into --max-tokens {wanted.max_tokens}")
    return EXIT_OK


def render(item: RecalledItem, zone: tzinfo) -> str:
    """One result: a line about it, then its text, indented."""
    said = item.said_at.astimezone(zone)
    about = (
        f"[{item.id}] {said:%Y-%m-%d %H:%M}",
        item.kind if item.role is None else item.role,
        item.project,
        item.platform,
        item.device,
        f"trust {item.trust}",
        "pinned" if item.pinned else None,
        f"score {item.score:.2f}" if item.score else None,
    )
    text = item.text + (" …" if item.truncated else "")
    return "\n".join(
        [" · ".join(filter(None, about)), *(f"    {line}" for line in text.splitlines())]
    )


def _range(text: str | None, zone: tzinfo) -> DateRange:
    if text is None:
        return DateRange(None, None)
    said = parse_date_range(text, SystemClock().now(), zone)
    if isinstance(said, Refusal):
        raise click.BadParameter(said.message, param_hint="--date-range")
    return said


async def _search(settings: Settings, wanted: Wanted) -> RecallAnswer:
    embedder = embedder_of(settings)
    try:
        async with open_for(settings, "search") as pool:
            recall = Recall(
                pool.database,
                embedder,
                threshold=settings.search_fallback_threshold,
                fusion=settings.search_fusion,
                embed_deadline_s=EMBED_WITHIN_S,
            )
            try:
                return await recall.search(wanted.request(pool.user_id))
            finally:
                await recall.close()
    finally:
        await embedder.close()
