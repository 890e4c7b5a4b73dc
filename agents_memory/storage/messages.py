"""Messages and their state."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Draft, Role, Screening, Trust
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.plans import planned_for_values

SQL = queries.load("messages")


class Row(NamedTuple):
    """The acknowledgement of an insert; `added` is false when the turn was there before.

    `identical` is false when what was there has another role, other words or another time.
    """

    id: int
    intake_id: UUID
    created_at: datetime
    added: bool
    identical: bool = True


class MessageView(NamedTuple):
    """A message with its current state, as it is shown to whoever asks.

    `told_for`: it was stored as the evidence of this memory, and is no turn of a conversation.
    """

    id: int
    role: str
    text: str
    platform: str
    model: str | None
    subagent: bool
    device: str | None
    venue: str | None
    session: str | None
    origin: str
    trust: Trust
    occurred_at: datetime | None
    created_at: datetime
    tags: tuple[str, ...]
    pinned: bool
    archived: bool
    screening: Screening
    project: str | None
    private: bool = False
    told_for: int | None = None


class PassItem(NamedTuple):
    """What a pass needs of a message."""

    id: int
    role: Role
    trust: Trust
    text: str
    cwd: str | None
    project_hint: str | None
    screening: Screening


class NewMessage(NamedTuple):
    """A message as it is written, with the terms it is found by."""

    intake_id: UUID
    draft: Draft
    raw_text: str | None
    lexemes: str
    lexeme_count: int
    redactions: int


async def insert_message(
    connection: Connection, new: NewMessage, *, user_id: int, first_stage: str
) -> Row:
    """Stores a message with its first work, or finds the same turn that is already there."""
    fields = _fields(new)
    row = await connection.fetchrow(
        SQL["insert_message"].sql, fields[0], user_id, *fields[1:], first_stage
    )
    if row is not None:
        return Row(row["id"], row["intake_id"], row["created_at"], added=True)
    return await _stored(connection, new, user_id)


async def insert_messages(
    connection: Connection, news: Sequence[NewMessage], *, user_id: int, first_stage: str
) -> list[Row]:
    """Stores messages in one statement and in their order; each as `insert_message` does."""
    columns = [list(column) for column in zip(*map(_fields, news), strict=True)]
    rows = await connection.fetch(
        SQL["insert_messages"].sql, columns[0], user_id, *columns[1:], first_stage
    )
    added = {
        row["intake_id"]: Row(row["id"], row["intake_id"], row["created_at"], added=True)
        for row in rows
    }
    return [added.get(new.intake_id) or await _stored(connection, new, user_id) for new in news]


def _fields(new: NewMessage) -> tuple[Any, ...]:
    draft = new.draft
    return (
        new.intake_id, draft.platform, draft.model, draft.subagent, draft.subagent_model,
        draft.subagent_role, draft.device, draft.venue, draft.session, draft.role, draft.text,
        new.raw_text, draft.origin, draft.trust, draft.cwd, draft.project_hint, draft.source,
        draft.store_id, draft.native_id, new.redactions, draft.occurred_at, new.lexemes,
        new.lexeme_count,
    )  # fmt: skip


async def _stored(connection: Connection, new: NewMessage, user_id: int) -> Row:
    """The row that an insert ran into."""
    draft = new.draft
    found = await connection.fetchrow(
        SQL["find_stored"].sql,
        new.intake_id, user_id, draft.source, draft.store_id, draft.native_id, draft.role,
        draft.text, draft.occurred_at,
    )  # fmt: skip
    assert found is not None, "a conflict without a row to conflict with"
    return Row(
        found["id"],
        found["intake_id"],
        found["created_at"],
        added=False,
        identical=found["identical"],
    )


async def list_messages(
    connection: Connection,
    ids: Sequence[int],
    user_id: int,
    *,
    outdated: bool = False,
    private: bool = False,
) -> list[MessageView]:
    """The messages in the order of `ids`; unknown and quarantined ones are left out.

    So are, unless asked for, `private` ones and `outdated` ones: told for a memory that does not
    hold any more.
    """
    rows = await connection.fetch(SQL["list_messages"].sql, list(ids), user_id, outdated, private)
    return [
        MessageView(
            id=row["id"],
            role=row["role"],
            text=row["message"],
            platform=row["platform"],
            model=row["model"],
            subagent=row["subagent"],
            device=row["device"],
            venue=row["venue"],
            session=row["session"],
            origin=row["origin"],
            trust=Trust(row["trust"]),
            occurred_at=row["occurred_at"],
            created_at=row["created_at"],
            tags=tuple(row["d_tags"]),
            pinned=row["pinned"],
            archived=row["archived_at"] is not None,
            screening=Screening(row["screening"]),
            project=row["p_tag"],
            private=row["private"],
            told_for=row["told_for"],
        )
        for row in rows
    ]


def filter_arguments(filters: Filters) -> tuple[Any, ...]:
    """The first ten arguments of every statement that filters messages."""
    projects = None if filters.projects is None else list(filters.projects)
    return (
        filters.user_id, projects, filters.since, filters.until, filters.role, filters.platform,
        filters.device, filters.venue, filters.shows_archived, filters.include_private,
    )  # fmt: skip


async def list_recent(connection: Connection, filters: Filters, limit: int) -> list[int]:
    """Ids of the newest messages that match, newest first."""
    async with planned_for_values(connection):
        rows = await connection.fetch(SQL["list_recent"].sql, *filter_arguments(filters), limit)
    return [row["id"] for row in rows]


async def list_for_pass(connection: Connection, ids: Sequence[int]) -> list[PassItem]:
    """The messages a pass works on; ids of other kinds are left out."""
    rows = await connection.fetch(SQL["list_for_pass"].sql, list(ids))
    return [
        PassItem(
            id=row["id"],
            role=Role(row["role"]),
            trust=Trust(row["trust"]),
            text=row["message"],
            cwd=row["cwd"],
            project_hint=row["project_hint"],
            screening=Screening(row["screening"]),
        )
        for row in rows
    ]


async def settle_screening(connection: Connection, message_id: int, screening: Screening) -> None:
    """Writes what the screen pass found."""
    await settle_screenings(connection, [(message_id, screening)])


async def settle_screenings(
    connection: Connection, verdicts: Sequence[tuple[int, Screening]]
) -> None:
    """The same for several messages."""
    await connection.executemany(SQL["settle_screening"].sql, verdicts)


async def settle_tags(
    connection: Connection,
    message_id: int,
    *,
    p_tag: int | None,
    d_tags: Sequence[str],
    importance: int | None,
    valence: float | None,
    intensity: float | None,
) -> None:
    """Writes what the tag pass found."""
    await connection.execute(
        SQL["settle_tags"].sql, message_id, p_tag, list(d_tags), importance, valence, intensity
    )


class Settled(NamedTuple):
    """Who settled a stage for a message; `detail` holds numbers and labels, no content."""

    message_id: int
    backend: str
    detail: Mapping[str, Any]


async def record_results(
    connection: Connection, results: Sequence[Settled], *, stage: str, version: int
) -> None:
    """Remembers who settled a stage."""
    await connection.executemany(
        SQL["record_result"].sql,
        [(one.message_id, stage, one.backend, version, dict(one.detail)) for one in results],
    )


async def list_results(connection: Connection, message_id: int) -> list[dict[str, Any]]:
    """How far a message has come: stage, backend, version, detail, settled_at."""
    return [dict(row) for row in await connection.fetch(SQL["list_results"].sql, message_id)]


async def count_messages(connection: Connection) -> int:
    """How many messages the pool holds."""
    return int(await connection.fetchval(SQL["count_messages"].sql))


class ActiveProject(NamedTuple):
    """A project that was talked about lately."""

    name: str
    messages: int
    last_said: datetime


async def list_active_projects(
    connection: Connection, user_id: int, since: datetime, limit: int
) -> list[ActiveProject]:
    """Projects with clear messages since a time, the liveliest first."""
    rows = await connection.fetch(SQL["list_active_projects"].sql, user_id, since, limit)
    return [ActiveProject(row["name"], row["messages"], row["last_said"]) for row in rows]


async def list_for_brief(
    connection: Connection,
    *,
    user_id: int,
    since: datetime,
    platform: str,
    device: str | None,
    here: bool,
    limit: int,
) -> list[int]:
    """Ids of the newest clear turns of this platform and device, or of the others."""
    async with planned_for_values(connection):
        rows = await connection.fetch(
            SQL["list_for_brief"].sql, user_id, since, platform, device, here, limit
        )
    return [row["id"] for row in rows]


async def list_pinned(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of pinned messages that may be shown."""
    return [row["id"] for row in await connection.fetch(SQL["list_pinned"].sql, user_id, limit)]
