"""What recall knows of its candidates beside their words: use, freshness, mood."""

from dataclasses import dataclass, replace

from agents_memory.domain.prior import (
    DERIVED_MOOD_PRIOR,
    MOOD_PRIOR,
    RECENT_MOOD_HOURS,
    RECENT_MOOD_MESSAGES,
    mood_factor,
    use_factor,
)
from agents_memory.services.recalled import Ranked
from agents_memory.storage import activations
from agents_memory.storage.connections import Connection


@dataclass(frozen=True, slots=True)
class Leaning:
    """The valence −1..1 that recall leans towards, and how much."""

    valence: float
    weight: float = MOOD_PRIOR


async def recent_leaning(connection: Connection, user_id: int, platform: str) -> Leaning | None:
    """The mood of a platform's newest messages; None when they have none that is known."""
    found = await activations.find_recent_mood(
        connection, user_id, platform, messages=RECENT_MOOD_MESSAGES, hours=RECENT_MOOD_HOURS
    )
    # A calm one tells little, and what has no valence yet must not lose by it.
    return None if found is None else Leaning(found, DERIVED_MOOD_PRIOR * abs(found))


async def weigh(connection: Connection, ranked: Ranked, leaning: Leaning | None) -> Ranked:
    """The same candidates with scores 0..1 that heed the prior.

    Without a leaning, and where nothing was used nor shown, the very same scores.
    """
    ids = list(ranked.scores)
    standing = await activations.list_standing(connection, ids) if ids else {}
    if not ids or (leaning is None and not standing):
        return ranked
    valences = {} if leaning is None else await activations.list_valences(connection, ids)
    weighed: dict[int, float] = {}
    for item, score in ranked.scores.items():
        if (known := standing.get(item)) is not None:
            score *= use_factor(known.evidence, known.age_days)
        if leaning is not None:
            score *= mood_factor(leaning.valence, valences.get(item), leaning.weight)
        weighed[item] = score
    top = max(1.0, *weighed.values())
    return replace(ranked, scores={item: score / top for item, score in weighed.items()})
