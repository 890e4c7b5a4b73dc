"""Captured turns in Buzz's wrapping: which may lose it, as all that it quotes is stored."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agents_memory.storage import withdrawals
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.withdrawals import Wrapped
from ingest.buzz.plan import stored_form
from ingest.buzz.storing import SOURCE
from ingest.buzz.wrapper import Wrapping, same_words, unwrap

# The newest that are looked at in a run.
MOST = 2000


@dataclass(slots=True)
class Envelopes:
    """Turns that may lose their wrapping, and how many may not, by reason.

    `shape`: it is not clear what belongs to the wrapping; `no_row`: a quoted message is not stored
    (yet); `text_differs`: it is, in other words.
    """

    ready: list[tuple[Wrapped, Wrapping]] = field(default_factory=list)
    stuck: Counter[str] = field(default_factory=Counter)


async def find_envelopes(database: Database, user_id: int) -> Envelopes:
    """Looks at the turns that begin like a wrapping. Raises DatabaseUnavailable."""

    async def look(connection: Connection) -> Envelopes:
        found = Envelopes()
        for wrapped in await withdrawals.list_wrapped(connection, user_id, MOST):
            wrapping = unwrap(wrapped.draft.text)
            if wrapping is None:
                found.stuck["shape"] += 1
            elif reason := await _missing(connection, user_id, wrapping):
                found.stuck[reason] += 1
            else:
                found.ready.append((wrapped, wrapping))
        found.ready.reverse()
        return found

    return await database.run(look)


async def _missing(connection: Connection, user_id: int, wrapping: Wrapping) -> str | None:
    """Why the history must stay; None where each of its messages is stored."""
    times = sorted({quote.said_at for quote in wrapping.quotes})
    if not times:
        return None
    said: dict[datetime, list[str]] = defaultdict(list)
    rows = await withdrawals.list_said(connection, user_id, SOURCE, wrapping.room, times)
    for at, text in rows:
        said[at.astimezone(UTC)].append(text)
    if any(quote.said_at not in said for quote in wrapping.quotes):
        return "no_row"
    for quote in wrapping.quotes:
        words = stored_form(quote.text)
        if not any(same_words(words, text) for text in said[quote.said_at]):
            return "text_differs"
    return None
