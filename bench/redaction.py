"""How many secrets redaction takes out, how much else it changes, and how long it takes.

    python -m bench.redaction [--seed N] [--show tune|held|new|a|b|…|both] [--folder DIR …]

The sets are `bench.redaction_set`, in two halves and a new part, and those of
`bench.redaction_sets`, named by letters. A secret is taken out when no 12 characters of it in a row
are left; `kept` is the share of the words around secrets that survive. `--show` names the shapes of
one set that were judged wrongly, `both` those of all. `--folder` counts, besides, what changes in
the text files below a folder, in pieces of 2 KB; with `--show both` it shows the lines.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agents_memory.domain.redaction import redact
from bench import report
from bench.measure import MS, Stopwatch, machine, percentile
from bench.redaction_set import HALVES, NEW, SEED, TURN_BYTES, Case, cases, new_cases
from bench.redaction_sets import LETTERS, cases_of

ROUNDS = 5
TEXTS = frozenset(
    (".py", ".md", ".rst", ".txt", ".js", ".ts", ".json", ".toml", ".yaml", ".yml", ".html", ".c")
)


def wrong(case: Case) -> bool:
    """Whether a secret of the case survives; of a look-alike, whether it changes."""
    text = redact(case.text).text
    return case.leaks(text) if case.secrets else text != case.text


def kept(case: Case) -> tuple[int, int]:
    """How many words around the secret there are, and how many of them survive."""
    around = case.text
    for secret in case.secrets:
        around = around.replace(secret, " ")
    words = Counter(re.findall(r"\w{3,}", around))
    return words.total(), (words & Counter(re.findall(r"\w{3,}", redact(case.text).text))).total()


def timed(texts: Sequence[str]) -> Stopwatch:
    """Every text ROUNDS times, in turns."""
    stopwatch = Stopwatch()
    for _ in range(ROUNDS):
        for text in texts:
            with stopwatch:
                redact(text)
    return stopwatch


def pieces(folder: Path) -> Iterator[tuple[Path, str]]:
    """The text files below a folder, in pieces of whole lines of about TURN_BYTES characters."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in TEXTS or not path.is_file():
            continue
        piece = ""
        for line in path.read_text(errors="replace").splitlines(keepends=True):
            piece += line
            if len(piece) >= TURN_BYTES:
                yield path, piece
                piece = ""
        if piece:
            yield path, piece


def changes(folder: Path, show: bool) -> tuple[int, int]:
    """How many pieces of a folder there are, and how many redaction changes."""
    total = changed = 0
    for path, piece in pieces(folder):
        total += 1
        text = redact(piece).text
        if text == piece:
            continue
        changed += 1
        if show:
            report.note(f"{path}")
            for line in piece.splitlines():
                if redact(line).text != line:
                    report.note(f"    {line.strip()[:160]!r}")
    return total, changed


def tell(name: str, some: Sequence[Case], mistakes: set[int]) -> tuple[str, int, int, float]:
    """A row: texts, how many were judged wrongly, and the share that counts for their sort."""
    bad = sum(id(case) in mistakes for case in some)
    return name, len(some), bad, ((len(some) - bad) if some[0].secrets else bad) / len(some)


def row(
    name: str, some: Sequence[Case], mistakes: set[int], figures: dict[str, Any]
) -> tuple[str, int, float, int, int]:
    """A set's row, and its figures: shares of secrets that go, of look-alikes that change."""
    secrets = [case for case in some if case.secrets]
    lookalikes = [case for case in some if not case.secrets]
    _, texts, _, recall = tell(name, secrets, mistakes)
    _, others, changed, share = tell(name, lookalikes, mistakes)
    figures[f"{name}_recall"], figures[f"{name}_changed"] = round(recall, 4), round(share, 4)
    return name, texts, round(recall, 4), others, changed


def main() -> None:
    """Measures all sets; the halves of the first by class as well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="other random parts")
    parser.add_argument(
        "--show", choices=(*HALVES, NEW, *LETTERS, "both"), help="what was judged wrongly"
    )
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="text without secrets")
    options = parser.parse_args()
    everything = cases(options.seed)
    sets = {NEW: new_cases(options.seed)} | {
        letter: cases_of(letter, options.seed) for letter in LETTERS
    }
    judged = [*everything, *(case for some in sets.values() for case in some)]
    mistakes = {id(case) for case in judged if wrong(case)}
    figures: dict[str, Any] = {}
    for what, labelled in (("recall", True), ("changed", False)):
        chosen = [case for case in everything if bool(case.secrets) == labelled]
        names = dict.fromkeys(case.name for case in chosen)
        rows = [tell(n, [c for c in chosen if c.name == n], mistakes) for n in names]
        for half in (*HALVES, "both"):
            some = [case for case in chosen if half in (case.half, "both")]
            rows.append(tell(f"all: {half}", some, mistakes))
            figures[f"{half}_{what}"] = round(rows[-1][3], 4)
        report.table(("class", "texts", "wrong", what), rows)
    report.table(
        ("set", "texts", "recall", "look-alikes", "changed"),
        [
            row(name, [case for case in judged if case.half == name], mistakes, figures)
            for name in (*HALVES, *sets)
        ],
    )
    words = [kept(case) for case in everything if case.secrets]
    figures["kept"] = round(sum(left for _, left in words) / sum(said for said, _ in words), 4)
    turns = [case.text for case in everything if len(case.text.encode()) >= TURN_BYTES]
    watch = timed(turns)
    figures |= {"turns": len(turns), **watch.milliseconds()}
    for share in (50, 95):
        figures[f"p{share}_cpu_ms"] = round(MS * percentile(watch.cpu, share / 100), 3)
    for case in judged:
        if id(case) in mistakes and options.show in (case.half, "both"):
            said = case.text if len(case.text) < 200 else f"… {case.shape} …"
            report.note(f"{'LEFT' if case.secrets else 'CHANGED'} {case.name}: {said!r}")
    for folder in options.folder:
        figures["pieces"], figures["pieces_changed"] = changes(folder, options.show == "both")
    report.result(figures | machine())


if __name__ == "__main__":
    main()
