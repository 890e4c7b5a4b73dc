"""Frames: how turns lie in a file, so that damage costs only what it hit.

magic (4 bytes) · length (4, little-endian) · CRC-32 of length and payload (4) · payload
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

# F5 occurs in no UTF-8, so no payload of ours holds it, and a search finds the next frame.
MAGIC = b"\xf5AMS"
_NUMBERS = struct.Struct("<II")
HEAD_BYTES = len(MAGIC) + _NUMBERS.size


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start` to `end` of a file: a whole frame, or damage (`payload` None)."""

    start: int
    end: int
    payload: bytes | None


def frame(payload: bytes) -> bytes:
    """The payload (less than 4 GiB) as it lies in a file."""
    return MAGIC + _NUMBERS.pack(len(payload), _check(payload)) + payload


def scan(data: bytes) -> Iterator[Piece]:
    """All of `data` in pieces, whatever was cut off, turned over or glued together."""
    told = at = 0
    while (at := data.find(MAGIC, at)) >= 0:
        payload = _payload(data, at)
        if payload is None:
            at += 1
            continue
        if told < at:
            yield Piece(told, at, None)
        told = at + HEAD_BYTES + len(payload)
        yield Piece(at, told, payload)
        at = told
    if told < len(data):
        yield Piece(told, len(data), None)


def _payload(data: bytes, at: int) -> bytes | None:
    begin = at + HEAD_BYTES
    if begin > len(data):
        return None
    length, check = _NUMBERS.unpack_from(data, at + len(MAGIC))
    if begin + length > len(data):
        return None
    payload = data[begin : begin + length]
    return payload if _check(payload) == check else None


def _check(payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(len(payload).to_bytes(4, "little")))
