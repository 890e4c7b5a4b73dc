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
