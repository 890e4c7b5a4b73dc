"""Mood: a number, or words in any language, as the valence that recall leans towards."""

import asyncio
import math

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.affect import AffectModel
from agents_memory.embedding.protocol import Embedder

MAX_MOOD_CHARS = 200
# The regression is fitted once a process, which takes some seconds with the offline model.
FIT_DEADLINE_S = 20.0
EMBED_DEADLINE_S = 3.0

# Words that feel like nothing, and strings that are none, land below (measured: eleven of twelve,
# and no word for a mood in nine languages).
LEAST_FELT = 0.15

NOT_UNDERSTOOD = (
    "the mood was not understood and was left out; give a number from -1 (low) to 1 (good), or say "
    "in other words how it feels"
)
UNREADABLE = "mood is a number from -1 (low) to 1 (good), or words for it; it was left out"


def as_number(mood: float | str) -> float | None:
    """The number −1..1 that was given, as such or in words; None for other words.

    ValueError for a number outside of that range and for NaN.
    """
    try:
        number = float(mood)
    except ValueError:
        return None
    if not (math.isfinite(number) and -1.0 <= number <= 1.0):
        raise ValueError(UNREADABLE)
    return number


class Moods:
    """Reads moods; one regression for each embedder, fitted when it is first asked for."""

    def __init__(self) -> None:
        self._fits: dict[str, asyncio.Task[AffectModel]] = {}

    async def valence(self, mood: float | str, embedder: Embedder | None) -> float | str:
        """The valence −1..1 of a mood, or (a text) why there is none."""
        try:
            number = as_number(mood)
        except ValueError as error:
            return str(error)
        if number is not None:
            return number
        text = str(mood).strip()[:MAX_MOOD_CHARS]
        if not any(character.isalpha() for character in text):
            return UNREADABLE
        if embedder is None:
            return "a mood in words needs the embedding model; give a number from -1 to 1"
        try:
            model = await asyncio.wait_for(asyncio.shield(self._fit(embedder)), FIT_DEADLINE_S)
            [vector] = await asyncio.wait_for(embedder.embed([text]), EMBED_DEADLINE_S)
        except (EmbedderUnavailable, TimeoutError):
            return "the embedding model is not ready, so the mood in words was left out; try again"
        felt = model.score(vector, text).valence
        return felt if abs(felt) >= LEAST_FELT else NOT_UNDERSTOOD

    async def close(self) -> None:
        """Ends fits that are still going on."""
        for fit in self._fits.values():
            fit.cancel()
        await asyncio.gather(*self._fits.values(), return_exceptions=True)

    def _fit(self, embedder: Embedder) -> asyncio.Task[AffectModel]:
        name = embedder.profile.id
        fit = self._fits.get(name)
        if fit is None or (fit.done() and (fit.cancelled() or fit.exception() is not None)):
            fit = asyncio.create_task(AffectModel.fit(embedder), name="affect")
            self._fits[name] = fit
        return fit
