"""The driver as we use it: its connection types for type checkers, and our codecs."""

import json
import struct
from typing import TYPE_CHECKING

import asyncpg
import numpy as np
from numpy.typing import NDArray

from agents_memory.storage import queries

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    # The driver's classes are generic for type checkers only.
    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    DedicatedConnection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    DedicatedConnection = asyncpg.Connection

SQL = queries.load("sessions")


def encode_halfvec(vector: NDArray[np.float32]) -> bytes:
    """pgvector's binary form of a half-precision vector: dims, zero, big-endian float16."""
    data = np.asarray(vector, dtype=">f2")
    return struct.pack(">hh", data.shape[0], 0) + data.tobytes()


def decode_halfvec(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data, dtype=">f2", offset=4).astype(np.float32)


async def add_codecs(connection: Connection) -> str | None:
    """Lets jsonb be Python values, and vectors arrays of float32 where pgvector is installed.

    Returns the schema that pgvector lives in, None without it.
    """
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads
    )
    home: str | None = await connection.fetchval(SQL["find_vector_home"].sql)
    if home is not None:
        await connection.set_type_codec(
            "halfvec", schema=home, encoder=encode_halfvec, decoder=decode_halfvec, format="binary"
        )
    return home
