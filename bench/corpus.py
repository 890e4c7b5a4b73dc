"""A pool as large as wanted, made from a few hundred real turns; the same for the same seed.

A message is a real turn with further words behind it: half of them from the example conversations
by their own frequencies, half invented ones by Zipf's law, so that rare words are as rare as in a
real pool. Its vectors are mixtures of three real ones with a little noise: near each other where
the turns are, never the same twice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.context import MAX_PREVIOUS_CHARS, context_text
from agents_memory.domain.lexical import MAX_TERM_FREQUENCY, Analysis, analyse

INVENTED_WORDS = 40_000
# Zipf and Mandelbrot: frequency ~ 1 / (rank + shift)^exponent, as fitted to English prose.
EXPONENT, SHIFT = 1.07, 2.7
MEDIAN_WORDS, SPREAD, MOST_WORDS = 40, 0.9, 1_000
WORDS_A_CHUNK = 90
# How much of a vector is the turn itself, another turn, a third one, and noise.
OWN, SECOND, THIRD, NOISE = 0.7, 0.4, 0.25, 0.25

PLATFORMS = {"claude-code": 0.5, "codex": 0.25, "gemini-cli": 0.15, "cursor": 0.1}
PROJECTS = 100
SESSION = 20
BEGIN, DAYS = datetime(2024, 12, 1, tzinfo=UTC), 700

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Message:
    """One generated message; `project` counts from 0; one vector (length 1) a chunk.

    `lexemes` are those of its text, `context` those of `context_text` with the message before it,
    which `follows` says is of the same session.
    """

    text: str
    lexemes: Analysis
    context: Analysis
    follows: bool
    session: str
    platform: str
    project: int
    role: str
    said_at: datetime
    vectors: Matrix


class Corpus:
    """Messages without end, from real texts and their vectors (one row each, length 1)."""

    def __init__(self, texts: Sequence[str], vectors: Matrix, seed: int = 0) -> None:
        self._texts = texts
        self._vectors = vectors
        self._random = np.random.default_rng(seed)
        counts = Counter(word for text in texts for word in text.split())
        shares = np.array([*counts.values()]) / counts.total()
        self._words = [*counts, *invent(INVENTED_WORDS, self._random)]
        # One half of the further words is real, the other invented.
        self._up_to = np.cumsum(np.concatenate([shares, zipf(INVENTED_WORDS)]) / 2)

    def messages(self, count: int) -> Iterator[Message]:
        """`count` further messages, in the order of their times, session after session."""
        lengths = np.exp(self._random.normal(np.log(MEDIAN_WORDS), SPREAD, count))
        before: list[str] = []
        session, platform, project = "", "", 0
        for number in range(count):
            if number % SESSION == 0:
                before = []
                session = f"session-{number // SESSION}"
                platform = str(self._random.choice([*PLATFORMS], p=[*PLATFORMS.values()]))
                project = int(self._random.integers(PROJECTS))
            turn = int(self._random.integers(len(self._texts)))
            words = [self._texts[turn], *self._further(int(min(lengths[number], MOST_WORDS)))]
            text = " ".join(words)
            said_at = BEGIN + timedelta(days=DAYS * number / count)
            yield Message(
                text=text,
                lexemes=together(words),
                context=together([context_text("", None, said_at), *before, *words]),
                follows=bool(before),
                session=session,
                platform=platform,
                project=project,
                role="user" if number % 2 else "assistant",
                said_at=said_at,
                vectors=self._mixed(turn, 1 + text.count(" ") // WORDS_A_CHUNK),
            )
            before = (
                words if len(text) <= MAX_PREVIOUS_CHARS else text[-MAX_PREVIOUS_CHARS:].split()
            )

    def _further(self, count: int) -> list[str]:
        drawn = np.searchsorted(self._up_to, self._random.random(count))
        return [self._words[at] for at in np.minimum(drawn, len(self._words) - 1)]

    def _mixed(self, turn: int, chunks: int) -> Matrix:
        others = self._random.integers(len(self._vectors), size=(2, chunks))
        noise = self._random.normal(size=(chunks, self._vectors.shape[1]))
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        mixed = (
            OWN * self._vectors[turn]
            + SECOND * self._vectors[others[0]]
            + THIRD * self._vectors[others[1]]
            + NOISE * noise
        )
        unit: Matrix = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
        return unit


def together(parts: Sequence[str]) -> Analysis:
    """What `analyse` says of the parts with spaces between them, each analysed once for all."""
    terms: dict[str, int] = {}
    length = 0
    for part in parts:
        found = _analysed(part)
        length += found.length
        for lexeme, times in found.terms.items():
            terms[lexeme] = min(terms.get(lexeme, 0) + times, MAX_TERM_FREQUENCY)
    return Analysis(terms, length, cut=False)


_analysed = cache(analyse)


def zipf(count: int) -> NDArray[np.float64]:
    """The share of each of `count` words, the commonest first; they add up to 1."""
    weights = (np.arange(count) + 1 + SHIFT) ** -EXPONENT
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def invent(count: int, random: np.random.Generator) -> Iterator[str]:
    """`count` different words that can be spoken and that no language has in this order."""
    heads, vowels, tails = "bcdfghklmnprstvwz", "aeiou", "lmnrst"
    seen: set[str] = set()
    while len(seen) < count:
        syllables = random.integers(2, 5)
        word = "".join(
            heads[random.integers(len(heads))]
            + vowels[random.integers(len(vowels))]
            + (tails[random.integers(len(tails))] if random.random() < 0.4 else "")
            for _ in range(syllables)
        )
        if word not in seen:
            seen.add(word)
            yield word
