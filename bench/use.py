"""How many of the uses that nobody reported the rule infers, and how much of that is wrong.

    python -m bench.use [--show HALF]

The scenes are those of `use_set.toml`: a question, the reply, and what was shown before, of which
the reply draws on some. The rule was tuned on one half and is judged by the other. How rare a word
is, is known from all texts of the set and the example conversations. `--show` names what was judged
wrongly; whoever looks at the half `held` has to write another one.
"""

import argparse
import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agents_memory.domain.lexical import analyse
from agents_memory.domain.use import Frequencies, Observation, Shown
from bench import report
from bench.turns import example_drafts

HALVES = ("tune", "held")
Z = 1.959964
"""The quantile of the normal distribution for intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Item:
    """What was shown; `why` it was drawn on, or only looks so."""

    text: str
    used: bool
    why: str


@dataclass(frozen=True, slots=True)
class Scene:
    """One reply, what came before it, and what was shown."""

    half: str
    language: str
    question: str
    reply: str
    items: tuple[Item, ...]
    before: tuple[str, ...]

    @property
    def texts(self) -> Iterator[str]:
        """Everything that was said in it."""
        yield from (*self.before, self.question, self.reply)
        yield from (item.text for item in self.items)


@dataclass(frozen=True, slots=True)
class Judged:
    """One item, and whether the rule takes it for used."""

    scene: Scene
    item: Item
    inferred: bool


@dataclass(frozen=True, slots=True)
class Share:
    """A share with the bounds of its 95 % interval (Wilson 1927), and what it is a share of."""

    value: float
    low: float
    high: float
    of: int


@cache
def scenes() -> tuple[Scene, ...]:
    """The labelled set."""
    path = Path(__file__).with_name("use_set.toml")
    return tuple(
        Scene(
            scene["half"],
            scene["language"],
            scene["question"],
            scene["reply"],
            tuple(Item(**item) for item in scene["items"]),
            tuple(scene.get("before", ())),
        )
        for scene in tomllib.loads(path.read_text(encoding="utf-8"))["scene"]
    )


@cache
def frequencies() -> Frequencies:
    """Those of a small pool in which all of it was said."""
    texts = [text for scene in scenes() for text in scene.texts]
    texts += [draft.text for draft in example_drafts()]
    counts = Counter(lexeme for text in texts for lexeme in analyse(text).terms)
    return Frequencies(len(texts), {lexeme: n for lexeme, n in counts.items() if n > 1})


def judge(scene: Scene) -> list[Judged]:
    """What the rule says of each item of a scene."""
    shown = [Shown(number, item.text) for number, item in enumerate(scene.items)]
    observation = Observation(scene.reply, [scene.question, *scene.before], shown)
    used = set(observation.used(frequencies()))
    return [Judged(scene, item, number in used) for number, item in enumerate(scene.items)]


def judged(half: str) -> list[Judged]:
    """Every item of a half."""
    return [one for scene in scenes() if scene.half == half for one in judge(scene)]


def precision(found: Sequence[Judged]) -> Share:
    """Of the inferred uses those that are uses."""
    inferred = [one for one in found if one.inferred]
    return _share(sum(one.item.used for one in inferred), len(inferred))


def recall(found: Sequence[Judged]) -> Share:
    """Of the uses those that are inferred."""
    used = [one for one in found if one.item.used]
    return _share(sum(one.inferred for one in used), len(used))


def _share(count: int, of: int) -> Share:
    if not of:
        return Share(math.nan, 0.0, 1.0, 0)
    value = count / of
    middle = (value + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z / (1 + Z * Z / of) * math.sqrt(value * (1 - value) / of + (Z / (2 * of)) ** 2)
    return Share(value, max(0.0, middle - half), min(1.0, middle + half), of)


def main() -> None:
    """Measures both halves: together, by language, and by why an item was used or looks so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=HALVES, help="the items that were judged wrongly")
    options = parser.parse_args()
    rows, reasons, figures = [], [], dict[str, object]()
    for half in HALVES:
        found = judged(half)
        for language in ("all", *sorted({one.scene.language for one in found})):
            chosen = [one for one in found if language in ("all", one.scene.language)]
            right, all_of = precision(chosen), recall(chosen)
            rows.append((half, language, len(chosen), _cell(right), _cell(all_of)))
        for why in sorted({one.item.why for one in found}):
            chosen = [one for one in found if one.item.why == why]
            inferred = sum(one.inferred for one in chosen)
            reasons.append((half, chosen[0].item.used, why, len(chosen), inferred))
        for name, share in (("precision", precision(found)), ("recall", recall(found))):
            figures[f"{half}_{name}"] = round(share.value, 3)
            figures[f"{half}_{name}_95"] = [round(share.low, 3), round(share.high, 3)]
        figures[f"{half}_items"] = len(found)
    report.table(("half", "language", "items", "precision", "recall"), rows)
    report.table(("half", "used", "why", "items", "inferred"), reasons)
    for one in judged(options.show) if options.show else ():
        if one.inferred != one.item.used:
            report.note(f"{'WRONG' if one.inferred else 'missed'}: {one.item.text}")
    report.result(figures)


def _cell(share: Share) -> str:
    if not share.of:
        return "none"
    return f"{share.value:.3f} ({share.low:.3f}..{share.high:.3f}) of {share.of}"


if __name__ == "__main__":
    main()
