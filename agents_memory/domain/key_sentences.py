"""What some texts say in a few of their own sentences, chosen by rules."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from math import log, sqrt

from agents_memory.domain.lexical import analyse
from agents_memory.domain.lexical.stopwords import stop_lexemes
from agents_memory.domain.text import is_blank, truncate

SENTENCE_CHARS = 240
MAX_SENTENCES = 12
MAX_CHARS = 1_500
# Sentences with fewer telling words say nothing by themselves.
LEAST_WORDS = 3
# Of one text so much is read: a minute of analysis at most, whatever was pasted.
READ_CHARS = 200_000

_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\s*\n+\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and the place of its text."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    sentence: Sentence
    order: int
    words: Set[str]


def key_sentences(
    texts: Sequence[str],
    weights: Sequence[float],
    usable: Callable[[str], bool] = lambda _: True,
    *,
    most: int = MAX_SENTENCES,
) -> list[Sentence]:
    """Up to `most` (12) sentences of 1,500 characters together, in the order of the texts.

    Words that several texts use count most, each once: what was said already adds nothing.
    `weights` (above 0) say how much a sentence of each text is worth. Only `usable` ones are taken.
    None for texts that say nothing.
    """
    candidates = list(_candidates(texts))
    by_text: dict[int, set[str]] = {}
    for candidate in candidates:
        by_text.setdefault(candidate.sentence.place, set()).update(candidate.words)
    spread = Counter(chain.from_iterable(by_text.values()))
    weight = {word: 1 + log(number) for word, number in spread.items()}
    telling = [c for c in candidates if len(c.words) >= LEAST_WORDS] or candidates
    chosen: list[_Candidate] = []
    told: set[str] = set()
    chars = 0
    while telling and len(chosen) < most:
        best = max(telling, key=lambda c: (_worth(c, weight, told, weights), -c.order))
        telling.remove(best)
        if chosen and not best.words - told:
            break
        if chars + len(best.sentence.text) > MAX_CHARS or not usable(best.sentence.text):
            continue
        chosen.append(best)
        told |= best.words
        chars += len(best.sentence.text)
    return [c.sentence for c in sorted(chosen, key=lambda c: c.order)]


def _worth(
    candidate: _Candidate, weight: dict[str, float], told: Set[str], weights: Sequence[float]
) -> float:
    new = sum(weight[word] for word in candidate.words - told)
    # By the root of its length: neither the longest nor the densest alone wins.
    return weights[candidate.sentence.place] * new / sqrt(len(candidate.words) + 1)


def _candidates(texts: Sequence[str]) -> Iterable[_Candidate]:
    stop, order, seen = stop_lexemes(), 0, set[str]()
    for place, text in enumerate(texts):
        for part in _END.split(text[:READ_CHARS]):
            said = truncate(" ".join(part.split()), SENTENCE_CHARS)
            if is_blank(said) or said in seen:
                continue
            seen.add(said)
            yield _Candidate(Sentence(place, said), order, analyse(said).terms.keys() - stop)
            order += 1
