"""Work on texts of any length that must not hold up the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Rules look through so many in a fifth of a millisecond, and a thread costs more to reach.
SHORT_CHARS = 1000


async def apart(work: Callable[[], T], chars: int) -> T:
    """What the work returns; done in a thread where its texts have more than a few characters."""
    return work() if chars <= SHORT_CHARS else await asyncio.to_thread(work)
