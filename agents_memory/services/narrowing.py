"""Recall of some kinds and tags alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from agents_memory.services.candidates import Candidates
from agents_memory.services.recalled import Ranked
from agents_memory.storage import narrowing
from agents_memory.storage.connections import Connection

MESSAGE, SUMMARY = "message", "summary"


@dataclass(frozen=True, slots=True)
class Narrow:
    """Kinds (of memories, "message", "summary") and tags, any of each; empty asks for nothing."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.tags)

    @property
    def takes_messages(self) -> bool:
        return not self.kinds or MESSAGE in self.kinds

    @property
    def takes_memories(self) -> bool:
        return not self.kinds or any(kind not in (MESSAGE, SUMMARY) for kind in self.kinds)

    async def keep(self, connection: Connection, ids: Collection[int]) -> set[int]:
        """Those of some items that are asked for."""
        if not self:
            return set(ids)
        return await narrowing.list_matching(connection, ids, self.kinds, self.tags)


EVERYTHING = Narrow()


async def narrow_candidates(
    connection: Connection, found: Candidates, narrow: Narrow
) -> Candidates:
    """The candidates that are asked for."""
    kept = await narrow.keep(connection, found.keyword.keys())
    return replace(
        found,
        keyword=_only(found.keyword, kept),
        context=_only(found.context, kept),
        cosine=_only(found.cosine, kept),
    )


async def narrow_ranked(connection: Connection, ranked: Ranked, narrow: Narrow) -> Ranked:
    """What is ranked, without neighbours that are not asked for."""
    if not narrow:
        return ranked
    kept = await narrow.keep(connection, ranked.scores.keys())
    return replace(ranked, scores=_only(ranked.scores, kept))


def _only(scores: Mapping[int, float], kept: set[int]) -> dict[int, float]:
    return {item: score for item, score in scores.items() if item in kept}
