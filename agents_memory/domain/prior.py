"""What speaks for an item beside its words: that it was used, how lately, and how it felt.

All of it is ours but for MOOD_PRIOR; `docs/concepts.md` lists the constants. An item that was never
used nor shown has the factor 1, so that a pool without traces is ranked by relevance alone.
"""

import math

ACTIVATION_PRIOR = 0.15
"""The most that use can add to a score; with more, what is often used buries what fits better."""

HALF_EVIDENCE = 5.0
"""The evidence that gives half of it: one use a day ago of a calm item of importance 5."""

FRESHNESS_PRIOR = 0.05
"""The most that a use just now can add."""

FRESH_HALF_LIFE_DAYS = 30.0
"""After so long a use counts half as fresh."""

MOOD_PRIOR = 0.5
"""How much a mood that was told weighs (Madeleine: 1 + 0.5·cos of registers)."""

DERIVED_MOOD_PRIOR = 0.2
"""How much one weighs that was only read off the last messages, times its own size 0..1."""

MOOD_NEAR = 0.75
"""From which `mood_fit` on an item is recalled for its mood alone: half a unit of valence away."""

RECENT_MOOD_MESSAGES = 10
RECENT_MOOD_HOURS = 12
"""What mood is derived from: the newest messages of the platform, no older than this."""


def use_factor(evidence: float, age_days: float) -> float:
    """1.0 .. 1.2 from an item's evidence (at least 0) and the age of its last use or exposure.

    1.0 without evidence. An age below 0 is a clock that was put back and counts as 0.
    """
    if not evidence > 0.0:
        return 1.0
    fresh = math.exp2(-max(0.0, age_days) / FRESH_HALF_LIFE_DAYS)
    known = evidence / (evidence + HALF_EVIDENCE)
    # An exposure a moment ago is fresh too, but worth a tenth.
    return 1.0 + ACTIVATION_PRIOR * known + FRESHNESS_PRIOR * known * fresh


def mood_fit(mood: float, valence: float) -> float:
    """How near an item's valence is to a mood, both −1..1: 1 − |mood − valence| / 2, 0 .. 1."""
    return 1.0 - abs(mood - valence) / 2.0


def mood_factor(mood: float, valence: float | None, weight: float = MOOD_PRIOR) -> float:
    """1 − weight .. 1 + weight: 1 + weight·(1 − |mood − valence|), both −1..1; 1 where unknown."""
    if valence is None:
        return 1.0
    return 1.0 + weight * (1.0 - abs(mood - valence))
