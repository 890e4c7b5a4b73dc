"""Summaries of old messages and of ended sessions, and the messages that they tell of."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_memory.domain.lexical import analyse, to_tsvector_literal
from agents_memory.domain.messages import Role, Trust
from agents_memory.storage import patches, queries, vectors
from agents_memory.storage.connections import Connection

SQL = queries.load("summaries")

ACTIVE, WITHDRAWN = "active", "withdrawn"
ARCHIVE, SESSION = "archive", "session"
"""What a summary is for: it stands for archived messages, or tells a part of a session as well."""
MAX_MESSAGES = 40
"""Of one summary; few enough to be read and cited at once."""
MOST_ASKED, ASKED_AGAIN = 3, timedelta(days=7)
"""So often models are asked in vain to write one; the same model again after so long."""


@dataclass(frozen=True, slots=True)
class Archivable:
    """A message that may be summarised; `bytes` is the length of its text."""

    id: int
    user_id: int
    p_tag: int | None
    platform: str
    private: bool
    trust: Trust
    said_at: datetime
    bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A summary that is to be: whose, where its messages were said, and which they are.

    With a `session` it is of a part of it.
    """

    user_id: int
    p_tag: int | None
    platform: str
    private: bool
    trust: Trust
    began_at: datetime
    ended_at: datetime
    messages: tuple[int, ...]
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A message of a summary; `fits`: it may still be part of it."""

    id: int
    role: Role
    text: str
    said_at: datetime
    tags: tuple[str, ...]
    fits: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A summary that is to be written, and its messages in the order of time.

    `provisional`: rules wrote it already. `attempts` counts this one.
    """

    id: int
    version: int
    kind: str
    user_id: int
    private: bool
    trust: Trust
    status: str
    provisional: bool
    attempts: int
    messages: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A summary as readers see it; `messages` are the ids of those it tells of.

    `session` is that of which it tells a part, None for one that stands for archived messages.
    """

    id: int
    version: int
    kind: str
    session: str | None
    content: str
    platform: str
    trust: Trust
    backend: str
    private: bool
    project: str | None
    began_at: datetime
    ended_at: datetime
    created_at: datetime
    messages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PassSummary:
    """What a pass needs of a summary; `backend` wrote it.

    `unanswered` is why a model, `asked` if its name is known, could not.
    """

    id: int
    version: int
    status: str
    content: str
    backend: str | None
    updated_at: datetime
    unanswered: str | None = None
    asked: str | None = None


async def list_archivable(connection: Connection, before: datetime, limit: int) -> list[Archivable]:
    """Messages learned before a time that no summary stands for, the oldest first."""
    rows = await connection.fetch(SQL["list_archivable"].sql, before, limit)
    return [Archivable(**{**dict(row), "trust": Trust(row["trust"])}) for row in rows]


async def plan(connection: Connection, one: Plan) -> int:
    """Plans a summary; its id."""
    id_ = await connection.fetchval(
        SQL["insert_summary"].sql, one.user_id, one.p_tag, one.platform, one.private, one.trust,
        one.began_at, one.ended_at, ARCHIVE if one.session is None else SESSION, one.session,
    )  # fmt: skip
    await patches.insert_sources(connection, id_, 1, one.messages)
    return int(id_)


async def list_spans(connection: Connection, ids: Sequence[int]) -> list[Span]:
    """Those of the summaries that are to be written; they need a transaction of one moment."""
    spans = []
    for row in await connection.fetch(SQL["list_spans"].sql, list(ids)):
        told = await list_told(connection, row["id"])
        spans.append(Span(**{**dict(row), "trust": Trust(row["trust"])}, messages=told))
    return spans


async def list_told(connection: Connection, summary_id: int) -> tuple[Told, ...]:
    """The messages of a summary as they are now."""
    rows = await connection.fetch(SQL["list_span_messages"].sql, summary_id)
    return tuple(
        Told(**{**dict(row), "role": Role(row["role"]), "tags": tuple(row["tags"])}) for row in rows
    )


async def hold(connection: Connection, span: Span) -> bool:
    """Keeps a span as it was read until the transaction ends; False when it is not so any more."""
    row = await connection.fetchrow(SQL["lock_summary"].sql, span.id)
    if row is None or (row["version"], row["status"]) != (span.version, span.status):
        return False
    ids = [message.id for message in span.messages]
    await connection.fetch(SQL["lock_states"].sql, ids)
    return await list_told(connection, span.id) == span.messages


async def write(
    connection: Connection, span: Span, content: str, *, backend: str, provisional: bool
) -> None:
    """Writes what a span says; `hold` comes first.

    Messages that it stands for are archived, and told by no summary of their session any more.
    """
    ids = [message.id for message in span.messages]
    version = span.version
    if span.status == ACTIVE:
        version += 1
        await patches.insert_sources(connection, span.id, version, ids)
    analysis = analyse(content)
    await connection.execute(
        SQL["write_summary"].sql, span.id, version, content, backend, provisional,
        to_tsvector_literal(analysis.terms), analysis.length,
    )  # fmt: skip
    if span.kind == SESSION:
        return
    retold = await connection.fetch(SQL["list_retold"].sql, ids)
    await withdraw(connection, [row["id"] for row in retold])
    await connection.execute(SQL["archive_messages"].sql, ids)
    await _mark_vectors(connection, ids, archived=True)


async def record_asked(
    connection: Connection, summary_id: int, model: str | None, why: str
) -> None:
    """A model, by its name where that is known, could not write it."""
    await connection.execute(SQL["record_asked"].sql, summary_id, model, why)


async def list_misfits(connection: Connection, limit: int) -> list[int]:
    """Summaries with a message that was held back since, or does not belong there any more."""
    return [row["id"] for row in await connection.fetch(SQL["list_misfits"].sql, limit)]


async def list_resting(connection: Connection, message_ids: Sequence[int]) -> list[int]:
    """Summaries, planned ones too, that stand for one of these messages."""
    rows = await connection.fetch(SQL["list_resting"].sql, list(message_ids))
    return [row["id"] for row in rows]


async def withdraw(connection: Connection, ids: Sequence[int]) -> None:
    """Leaves nothing of summaries but their ids; what was archived is in everyday search again."""
    if not ids:
        return
    covered = [row["message_id"] for row in await connection.fetch(SQL["list_covered"].sql, ids)]
    await connection.execute(SQL["withdraw_summaries"].sql, list(ids))
    await connection.fetch(SQL["lock_states"].sql, covered)
    await connection.execute(SQL["restore_messages"].sql, covered)
    await _mark_vectors(connection, covered, archived=False)
    for model in await vectors.list_models(connection):
        for summary_id in ids:
            await vectors.replace_summary_vectors(connection, model, summary_id, ())


async def _mark_vectors(connection: Connection, ids: Sequence[int], *, archived: bool) -> None:
    for model in await vectors.list_models(connection):
        sql = SQL["archive_vectors"].render(table=model.message_table)
        await connection.execute(sql, list(ids), archived)


async def queue_provisional(connection: Connection, limit: int, model: str | None) -> int:
    """Asks anew for what rules wrote, the newest first; for how many.

    What `model` was asked about in vain only after ASKED_AGAIN, and nothing more than MOST_ASKED
    times.
    """
    status = await connection.execute(
        SQL["queue_provisional"].sql, limit, model, ASKED_AGAIN, MOST_ASKED
    )
    return int(status.rpartition(" ")[2])


async def queue_unanswered(connection: Connection, summary_id: int) -> bool:
    """Asks anew for what rules wrote because a model could not."""
    value = await connection.fetchval(SQL["queue_unanswered_summary"].sql, summary_id)
    return value is not None


async def queue_rejected(connection: Connection) -> int:
    """The same of all about which a provider took no question; how many there are."""
    tag = await connection.execute(SQL["queue_rejected_summaries"].sql)
    # The command tag reads `INSERT 0 <rows>`.
    return int(tag.rpartition(" ")[2])


async def list_summaries(
    connection: Connection, ids: Sequence[int], user_id: int
) -> list[SummaryView]:
    """The summaries in the order of `ids`; unknown, withdrawn and hidden ones are left out."""
    rows = await connection.fetch(SQL["list_summaries"].sql, list(ids), user_id)
    return [
        SummaryView(
            **{**dict(row), "trust": Trust(row["trust"]), "messages": tuple(row["messages"])}
        )
        for row in rows
    ]


async def list_newest(connection: Connection, user_id: int, limit: int) -> list[int]:
    """Ids of the summaries of what was said last, the newest first."""
    rows = await connection.fetch(SQL["list_newest_summaries"].sql, user_id, limit)
    return [row["id"] for row in rows]


async def find_covering(connection: Connection, message_id: int) -> int | None:
    """The summary that stands for an archived message."""
    value = await connection.fetchval(SQL["find_covering"].sql, message_id)
    return None if value is None else int(value)


async def list_of_sessions(connection: Connection, ids: Collection[int]) -> frozenset[int]:
    """Those of some summaries that tell a part of a session."""
    if not ids:
        return frozenset()
    rows = await connection.fetch(SQL["list_sessions_among"].sql, list(ids))
    return frozenset(row["id"] for row in rows)


async def list_for_pass(connection: Connection, ids: Sequence[int]) -> list[PassSummary]:
    """The summaries that a pass works on; ids of other kinds are left out."""
    rows = await connection.fetch(SQL["list_summaries_for_pass"].sql, list(ids))
    return [PassSummary(**dict(row)) for row in rows]


async def count(connection: Connection) -> tuple[int, int]:
    """How many summaries stand for archived messages, and for how many."""
    row = await connection.fetchrow(SQL["count_summaries"].sql)
    assert row is not None, "an aggregate has a row"
    return row["summaries"], row["archived"]
