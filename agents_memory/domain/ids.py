"""Ids that are given before the database is asked."""

import os
from datetime import datetime
from uuid import UUID

# The bits beside time, version and variant.
_RANDOM = 0xFFF << 64 | 2**62 - 1


def intake_id(now: datetime) -> UUID:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits; sorts by time."""
    milliseconds = int(now.timestamp() * 1000) & 0xFFFF_FFFF_FFFF
    random = int.from_bytes(os.urandom(10), "big")
    return UUID(int=milliseconds << 80 | 0x7 << 76 | random & _RANDOM | 0b10 << 62)
