"""Affect: how an utterance felt, as two numbers."""

import math
from dataclasses import dataclass
from typing import Self

INTENSITY_WEIGHT = 0.8
VALENCE_WEIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Affect:
    """Valence −1 (bad) .. 1 (good) and intensity 0 (calm) .. 1 (overwhelming).

    Raises ValueError when a number is not finite or out of its range.
    """

    valence: float
    intensity: float

    def __post_init__(self) -> None:
        # Written so that NaN fails too.
        if not -1.0 <= self.valence <= 1.0:
            raise ValueError(f"valence must be from -1 to 1, not {self.valence}")
        if not 0.0 <= self.intensity <= 1.0:
            raise ValueError(f"intensity must be from 0 to 1, not {self.intensity}")

    @classmethod
    def clipped(cls, valence: float, intensity: float) -> Self:
        """The nearest legal affect to two finite estimates; ValueError for others."""
        if not (math.isfinite(valence) and math.isfinite(intensity)):
            raise ValueError(f"affect must be finite, not ({valence}, {intensity})")
        return cls(min(1.0, max(-1.0, valence)), min(1.0, max(0.0, intensity)))

    @property
    def strength(self) -> float:
        """Factor of activation, 1.0 .. 2.2: 1 + 0.8·intensity + 0.4·|valence| (Patina)."""
        return 1.0 + INTENSITY_WEIGHT * self.intensity + VALENCE_WEIGHT * abs(self.valence)


NEUTRAL = Affect(0.0, 0.0)
