"""Ids that are given before the database is asked."""

import secrets
from datetime import datetime
from uuid import UUID


def intake_id(now: datetime) -> UUID:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits; sorts by time."""
    milliseconds = int(now.timestamp() * 1000) & 0xFFFF_FFFF_FFFF
    random = secrets.randbits(74)
    value = (
        milliseconds << 80 | 0x7 << 76 | (random >> 62) << 64 | 0b10 << 62 | random & (2**62 - 1)
    )
    return UUID(int=value)
