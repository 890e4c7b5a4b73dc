"""Puts a generated corpus into a pool as the daemon would leave it, by COPY."""

import uuid
from collections.abc import Iterable
from itertools import islice
from typing import Any

from agents_memory.domain.lexical import to_tsvector_literal
from agents_memory.storage import tags, users, vectors
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.vectors import Model
from bench import report
from bench.corpus import Message

BATCH = 5_000
# Built in one go at the end, which takes a tenth of the time.
KEYWORD_INDEXES = ("messages_lexemes", "message_context_lexemes")
STAGED = """\
CREATE TEMP TABLE staged (id bigint, intake_id uuid, user_id bigint, platform text, session text,
    role text, message text, occurred_at timestamptz, p_tag bigint, lexemes text,
    lexeme_count integer, previous_id bigint, context text, context_count integer)"""
MOVES = """\
INSERT INTO messages (id, intake_id, user_id, platform, session, role, message, origin, trust,
    occurred_at, created_at, lexemes, lexeme_count)
SELECT id, intake_id, user_id, platform, session, role, message, 'imported', 'owner', occurred_at,
    occurred_at, lexemes::tsvector, lexeme_count FROM staged;
INSERT INTO message_state (message_id, p_tag, screening) SELECT id, p_tag, 'clear' FROM staged;
INSERT INTO message_context (message_id, previous_id, lexemes, lexeme_count)
SELECT id, previous_id, context::tsvector, context_count FROM staged;
TRUNCATE staged"""
VECTORS = (
    "message_id", "chunk", "content_hash", "user_id", "platform", "role", "p_tag", "pinned",
    "archived", "searchable", "said_at", "embedding",
)  # fmt: skip


def project_name(number: int) -> str:
    """The tag of a generated project."""
    return f"project-{number:03d}"


async def load(owner: Database, messages: Iterable[Message], projects: int, user: str) -> int:
    """Stores the messages with state and vectors, settled; returns the id of their user."""
    async with owner.acquire() as connection:
        model = await vectors.find_active_model(connection)
        assert model is not None, "the pool was prepared with one"
        user_id = await users.ensure_user(connection, user)
        tag_ids = [
            await tags.find_or_add_project(connection, project_name(number), "owner")
            for number in range(projects)
        ]
        await connection.execute(STAGED)
        indexes = [
            await connection.fetchval("SELECT pg_get_indexdef($1::regclass)", name)
            for name in KEYWORD_INDEXES
        ]
        await connection.execute(f"DROP INDEX {', '.join(KEYWORD_INDEXES)}")
        stored, rest = 0, iter(messages)
        while batch := list(islice(rest, BATCH)):
            await _store(connection, model, user_id, tag_ids, batch)
            stored += len(batch)
            report.note(f"{stored} messages")
        for index in indexes:
            await connection.execute(index, timeout=600)
        # As autovacuum would have left them.
        for table in ("messages", "message_state", "message_context", model.message_table):
            await connection.execute(f"VACUUM (ANALYZE) {table}", timeout=600)
    return user_id


async def _store(
    connection: Connection,
    model: Model,
    user_id: int,
    tag_ids: list[int],
    batch: list[Message],
) -> None:
    rows = await connection.fetch(
        "SELECT nextval('item_id') AS id FROM generate_series(1, $1)", len(batch)
    )
    ids = [row["id"] for row in rows]
    async with connection.transaction():
        await connection.copy_records_to_table(
            "staged",
            records=[
                (
                    item, uuid.uuid4(), user_id, message.platform, message.session, message.role,
                    message.text, message.said_at, tag_ids[message.project],
                    to_tsvector_literal(message.lexemes.terms), message.lexemes.length,
                    item - 1 if message.follows else None,
                    to_tsvector_literal(message.context.terms), message.context.length,
                )
                for item, message in zip(ids, batch, strict=True)
            ],
        )  # fmt: skip
        await connection.execute(MOVES, timeout=600)
        await connection.copy_records_to_table(
            model.message_table,
            columns=VECTORS,
            records=[
                row
                for item, message in zip(ids, batch, strict=True)
                for row in _chunks(item, user_id, tag_ids[message.project], message)
            ],
        )


def _chunks(item: int, user_id: int, tag_id: int, message: Message) -> list[tuple[Any, ...]]:
    return [
        (
            item, number, b"", user_id, message.platform, message.role, tag_id, False, False, True,
            message.said_at, vector,
        )
        for number, vector in enumerate(message.vectors)
    ]  # fmt: skip
