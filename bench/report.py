"""What a benchmark prints: a table for people, one JSON line for programs."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows under headings, numbers to three digits after the point."""
    shown = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(str(heading)), *(len(row[i]) for row in shown)) if shown else len(str(heading))
        for i, heading in enumerate(headings)
    ]
    for row in [list(headings), ["-" * width for width in widths], *shown]:
        line = "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def result(figures: Mapping[str, Any]) -> None:
    """The last line."""
    sys.stdout.write(json.dumps(figures, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
