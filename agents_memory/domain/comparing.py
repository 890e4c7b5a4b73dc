"""What becomes of two memories that lie near each other: nothing, unless it is certain."""

from dataclasses import dataclass

from agents_memory.domain.contradiction import outdates
from agents_memory.domain.duplicates import NEAR_COSINE, same_statement, same_subject
from agents_memory.domain.memories import Kind
from agents_memory.domain.statements import Statement
from agents_memory.domain.trust import at_least


@dataclass(frozen=True, slots=True)
class Verdict:
    """One memory gives way to another; `merge` when both say the same."""

    loser: Statement
    winner: Statement
    merge: bool


def compare(one: Statement, other: Statement, cosine: float | None) -> Verdict | None:
    """What the daemon should make of two memories; `cosine` is None when it is not known.

    Near vectors propose, the words decide. A pinned memory never gives way, nor does one to another
    that is trusted less. Of two that say the same the older stays, unless only the newer may.
    """
    older, newer = sorted((one, other), key=lambda statement: statement.id)
    if cosine is not None and cosine >= NEAR_COSINE and _same(older, newer):
        for winner, loser in ((older, newer), (newer, older)):
            if _may_absorb(winner, loser):
                return Verdict(loser, winner, merge=True)
        return None
    for winner, loser in ((newer, older), (older, newer)):
        if not loser.pinned and outdates(winner, loser):
            return Verdict(loser, winner, merge=False)
    return None


def _same(one: Statement, other: Statement) -> bool:
    if one.kind is Kind.MILESTONE and one.occurred_at != other.occurred_at:
        # The same happened twice.
        return False
    return same_subject(one.subject, other.subject) and same_statement(
        one.subject, one.content, other.content
    )


def _may_absorb(winner: Statement, loser: Statement) -> bool:
    return (
        not loser.pinned
        and at_least(winner.trust, loser.trust)
        # A note may become part of anything; a promise must not be lost in a note.
        and loser.kind in (winner.kind, Kind.NOTE)
        and (loser.resolved_at is None) == (winner.resolved_at is None)
    )
