"""Trust carried through: what is derived inherits the lowest trust of its sources."""

from collections.abc import Iterable

from agents_memory.domain.messages import Trust

# From the most to the least trusted.
_ORDER = (Trust.OWNER, Trust.AGENT, Trust.OTHER, Trust.TOOL)


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The least trusted of the sources.

    Without any source the answer is `agent`: nobody but an agent claims things without evidence.
    """
    return max(trusts, key=_ORDER.index, default=Trust.AGENT)


def highest(trusts: Iterable[Trust]) -> Trust:
    """The most trusted of some that would each be enough; there is at least one."""
    return min(trusts, key=_ORDER.index)


def at_least(one: Trust, other: Trust) -> bool:
    """Whether `one` is trusted no less than `other`."""
    return _ORDER.index(one) <= _ORDER.index(other)
