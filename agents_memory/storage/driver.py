"""The driver as we use it: its connection types for type checkers, and our codecs."""

import json
import struct
from typing import TYPE_CHECKING

import asyncpg
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    # The driver's classes are generic for type checkers only.
    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    DedicatedConnection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    DedicatedConnection = asyncpg.Connection


def encode_halfvec(vector: NDArray[np.float32]) -> bytes:
    """pgvector's binary form of a half-precision vector: dims, zero, big-endian float16."""
    data = np.asarray(vector, dtype=">f2")
    return struct.pack(">hh", data.shape[0], 0) + data.tobytes()


def decode_halfvec(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data, dtype=">f2", offset=4).astype(np.float32)


async def add_codecs(connection: Connection, vector_home: str | None) -> None:
    """Lets jsonb be Python values, and vectors arrays of float32.

    `vector_home` is the schema that pgvector lives in, None where it is not installed.
    """
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads
    )
    if vector_home is not None:
        await connection.set_type_codec(
            "halfvec",
            schema=vector_home,
            encoder=encode_halfvec,
            decoder=decode_halfvec,
            format="binary",
        )
