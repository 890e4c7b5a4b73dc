"""Duplicates: a memory that says the same as another joins it; one that is outdated gives way."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents_memory.domain.comparing import Verdict, compare
from agents_memory.domain.errors import Refusal
from agents_memory.domain.patches import PatchRequest, Replace
from agents_memory.domain.policy import ActorClass
from agents_memory.domain.statements import Statement
from agents_memory.services.patching import Patching
from agents_memory.storage import comparing, vectors
from agents_memory.storage.comparing import Neighbours
from agents_memory.storage.connections import Connection
from cold.guard import Done

ACTOR = "cold/dedupe"


@dataclass(frozen=True, slots=True)
class Compared:
    """A memory and what it is to be compared with."""

    neighbours: Neighbours

    @property
    def id(self) -> int:
        return self.neighbours.statement.id


class Duplicates:
    """Looks at each memory once its vectors are there: whatever was added or changed comes by.

    The words of both stay in the history, and a rollback takes it back. No memory is touched that
    is pinned, of another subject, scope or project, or trusted more than what would take its place.
    """

    stage = "compare_memory"
    backend = "rules"
    version = 1
    next_stages: tuple[str, ...] = ()

    def __init__(self, patching: Patching) -> None:
        self._patching = patching

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Compared]:
        model = await vectors.find_active_model(connection)
        found = [await comparing.find_neighbours(connection, number, model) for number in ids]
        return [Compared(neighbours) for neighbours in found if neighbours is not None]

    async def prepare(self, items: Sequence[Compared]) -> list[list[Verdict]]:
        # Long words are compared as well, and the loop has its lead to keep.
        return [await asyncio.to_thread(_verdicts, item.neighbours) for item in items]

    async def settle(self, connection: Connection, item: Compared, result: list[Verdict]) -> Done:
        mine = item.neighbours.statement
        for verdict in result:
            winner = verdict.winner
            if winner.id == mine.id:
                # It has a version more for each that joined it.
                winner = replace(winner, version=mine.version)
            done = await self._patching.apply_within(
                connection, _request(item.neighbours.user_id, verdict.loser, winner, verdict.merge)
            )
            if isinstance(done, Refusal):
                # One of both changed meanwhile and is compared again when it is embedded anew, or
                # the policy of this pool does not want it.
                continue
            made = {change.item_id: change.version for change in done.changes}
            mine = replace(mine, version=made.get(mine.id, mine.version))
        return Done()


def _verdicts(neighbours: Neighbours) -> list[Verdict]:
    """All that give way to the memory; or the one that it gives way to itself, and no other."""
    found: list[Verdict] = []
    for other, cosine in neighbours.others:
        verdict = compare(neighbours.statement, other, cosine)
        if verdict is None:
            continue
        if verdict.loser.id == neighbours.statement.id:
            # The other one is looked at when its turn comes.
            return [verdict]
        found.append(verdict)
    return found


def _request(user_id: int, loser: Statement, winner: Statement, merge: bool) -> PatchRequest:
    reason = f"memory {winner.id} says the same in nearly the same words"
    if not merge:
        reason = f"memory {winner.id} says something newer of the same attribute"
    operation = Replace(loser.id, winner.id, loser.version, winner.version, merge=merge)
    return PatchRequest(
        user_id,
        ACTOR,
        "compare_memory",
        reason,
        (operation,),
        actor_class=ActorClass.DAEMON,
    )
