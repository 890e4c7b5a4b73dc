"""Reads what an evaluation of forgetting needs, in batches, in the caller's snapshot."""

from collections.abc import AsyncIterator, Sequence

import asyncpg

from agents_memory.domain.activation import DEFAULT_IMPORTANCE, MESSAGE
from agents_memory.storage import queries
from agents_memory.storage.connections import Connection
from agents_memory.storage.exporting import batches

SQL = queries.load("evaluating")

Batches = AsyncIterator[Sequence[asyncpg.Record]]


def list_judged_items(connection: Connection) -> Batches:
    """Items with traces: id, kind, importance, valence, intensity, resolved_at; by id."""
    return batches(connection, SQL["list_judged_items"].sql, MESSAGE, DEFAULT_IMPORTANCE)


def list_traces(connection: Connection) -> Batches:
    """All traces: item_id, kind, inferred, at."""
    return batches(connection, SQL["list_traces"].sql)


def list_felt(connection: Connection) -> Batches:
    """Messages that felt like something: at, valence, intensity."""
    return batches(connection, SQL["list_felt"].sql)
