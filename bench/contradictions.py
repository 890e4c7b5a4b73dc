"""How many outdated statements the rules find, and how much of what they find is wrong.

    python -m bench.contradictions [--show]

The pairs are those of the tests: two statements about one subject, of which the newer takes the
place of the older or does not. `seen` were looked at while the rules were corrected, `held` were
not. `--show` names what was missed, and what was wrong.
"""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from agents_memory.domain.contradiction import outdates
from agents_memory.domain.messages import Trust
from agents_memory.domain.statements import Statement
from bench import report
from tests.fixtures.contradictions import HELD, PAIRS, Pair

THEN = datetime(2026, 3, 1, tzinfo=UTC)


def finds(pair: Pair) -> bool:
    """Whether the rules take the newer statement of a pair for one that outdates the older."""
    older, newer = (
        Statement(number, pair.subject, None, content, Trust.OWNER, THEN + timedelta(days=number))
        for number, content in enumerate((pair.older, pair.newer))
    )
    return outdates(newer, older)


def measure(pairs: Sequence[Pair]) -> tuple[int, int, int]:
    """How many are outdated, found, and found wrongly."""
    found = [pair for pair in pairs if finds(pair)]
    wrong = [pair for pair in found if not pair.outdated]
    return sum(pair.outdated for pair in pairs), len(found) - len(wrong), len(wrong)


def main() -> None:
    """Measures both halves, by language and together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="the pairs that were judged wrongly")
    options = parser.parse_args()
    rows, figures = [], {}
    for half, pairs in (("seen", PAIRS), ("held", HELD)):
        languages = sorted({pair.language for pair in pairs})
        for language in (*languages, "all"):
            chosen = [pair for pair in pairs if language in (pair.language, "all")]
            outdated, found, wrong = measure(chosen)
            precision = found / (found + wrong) if found + wrong else 1.0
            rows.append((half, language, len(chosen), precision, found / outdated))
        figures[f"{half}_precision"], figures[f"{half}_recall"] = rows[-1][3:]
    report.table(("half", "language", "pairs", "precision", "recall"), rows)
    if options.show:
        for pair in (*PAIRS, *HELD):
            if finds(pair) != pair.outdated:
                kind = "missed" if pair.outdated else "WRONG"
                report.note(f"{kind}: {pair.older} / {pair.newer}")
    report.result(figures)


if __name__ == "__main__":
    main()
