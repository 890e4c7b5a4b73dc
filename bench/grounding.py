"""How many derived sentences that their sources do not tell are refused, and how many that they do.

    python -m bench.grounding [--show seen|held|both]

The pairs are `grounding_pairs.toml`, labelled by hand: what was said, and what a model might make
of it. The pairs `seen` were looked at while the rules were made, those of `held` were
not. `precision` is the share of refusals that are right, `recall` the share refused of what is not
told. Nothing is timed, and no model is asked.
"""

import argparse
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_memory.domain.grounding import unfounded
from bench import report

PAIRS = Path(__file__).with_name("grounding_pairs.toml")
TOLD = ("same", "paraphrase", "part", "denied")
UNTOLD = ("reversed", "swapped", "number", "added", "mixed", "person")
HALVES = ("seen", "held")


@dataclass(frozen=True, slots=True)
class Pair:
    """What was said, and a sentence derived from it."""

    sort: str
    language: str
    source: str
    statement: str
    half: str

    @property
    def told(self) -> bool:
        return self.sort in TOLD


def pairs() -> list[Pair]:
    """All pairs, each with its half."""
    kept = tomllib.loads(PAIRS.read_text())
    return [
        Pair(sort, language, source, statement, half)
        for half in HALVES
        for sort, language, source, statement in kept[half]
    ]


def refuses(pair: Pair) -> bool:
    """Whether the rules refuse the statement."""
    return unfounded(pair.statement, [pair.source]) is not None


def measure(some: Sequence[Pair], judge: Callable[[Pair], bool] = refuses) -> tuple[float, float]:
    """Precision and recall of the refusals."""
    refused = [pair for pair in some if judge(pair)]
    right = sum(not pair.told for pair in refused)
    untold = sum(not pair.told for pair in some)
    return right / len(refused) if refused else 1.0, right / untold if untold else 1.0


def main() -> None:
    """Prints a row for each sort and language of both halves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=(*HALVES, "both"), help="what was judged wrongly")
    options = parser.parse_args()
    everything = pairs()
    rows: list[tuple[object, ...]] = []
    for sort in (*TOLD, *UNTOLD):
        for half in HALVES:
            some = [pair for pair in everything if (pair.sort, pair.half) == (sort, half)]
            refused = sum(map(refuses, some))
            rows.append((half, sort, "told" if sort in TOLD else "not told", len(some), refused))
    report.table(("half", "sort", "truth", "pairs", "refused"), rows)
    report.note("")
    figures: dict[str, object] = {}
    lines = []
    for half in HALVES:
        chosen = [pair for pair in everything if pair.half == half]
        for language in (*dict.fromkeys(pair.language for pair in everything), "all"):
            some = [pair for pair in chosen if language in (pair.language, "all")]
            if some:
                lines.append((half, language, len(some), *measure(some)))
        precision, recall = measure(chosen)
        figures |= {
            f"{half}_precision": round(precision, 3),
            f"{half}_recall": round(recall, 3),
        }
    report.table(("half", "language", "pairs", "precision", "recall"), lines)
    for pair in everything:
        if options.show in (pair.half, "both") and refuses(pair) == pair.told:
            why = unfounded(pair.statement, [pair.source])
            kind = "MISSED" if why is None else f"WRONG ({why})"
            report.note(f"{kind} {pair.sort} {pair.language}: {pair.source} / {pair.statement}")
    report.result({"pairs": len(everything), **figures})


if __name__ == "__main__":
    main()
