"""The driver as we use it: its connection types for type checkers, and our codecs."""

import json
from typing import TYPE_CHECKING

import asyncpg

if TYPE_CHECKING:
    import numpy as np
    from asyncpg.pool import PoolConnectionProxy
    from numpy.typing import NDArray

    # The driver's classes are generic for type checkers only.
    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    DedicatedConnection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    DedicatedConnection = asyncpg.Connection


def _encode(vector: "NDArray[np.float32]") -> bytes:
    # In both, because it brings numpy, and many a connection never carries a vector.
    from pgvector import HalfVector

    return HalfVector(vector).to_binary()


def _decode(data: bytes) -> "NDArray[np.float32]":
    from pgvector import HalfVector

    return HalfVector.from_binary(data).to_numpy().astype("float32")


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
            encoder=_encode,
            decoder=_decode,
            format="binary",
        )
