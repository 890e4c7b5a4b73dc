"""How many secrets redaction takes out, how much else it changes, and how long it takes.

    python -m bench.redaction [--show tune|held|both] [--folder DIR …]

The set is `bench.redaction_set`. A secret is taken out when no 12 characters of it in a row are left;
`kept` is the share of the words around secrets that survive. `--show` names the shapes of one half
that were judged wrongly. `--folder` counts, besides, what changes in the text files below a folder, in
pieces of 2 KB: look at them with `--show both`.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents_memory.domain.redaction import redact
from bench import report
from bench.measure import MS, Stopwatch, percentile
from bench.redaction_set import HALVES, Case, cases
from bench.redaction_turns import SIZE

ROUNDS = 5
TEXTS = {".py", ".md", ".rst", ".txt", ".js", ".ts", ".json", ".toml", ".yaml", ".yml", ".html", ".c", ".h"}


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
    """The text files below a folder, in pieces of whole lines of about SIZE characters."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in TEXTS or not path.is_file():
            continue
        piece = ""
        for line in path.read_text(errors="replace").splitlines(keepends=True):
            piece += line
            if len(piece) >= SIZE:
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


def main() -> None:
    """Measures both halves, by class and together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=(*HALVES, "both"), help="the shapes that were judged wrongly")
    parser.add_argument("--folder", type=Path, nargs="*", default=[], help="text without secrets")
    options = parser.parse_args()
    everything = cases()
    mistakes = {id(case) for case in everything if wrong(case)}
    rows: list[tuple[str, ...] | tuple[str, str, int, int, float]] = []
    figures: dict[str, float | int] = {}
    for what, labelled in (("recall", True), ("changed", False)):
        chosen = [case for case in everything if bool(case.secrets) == labelled]
        for name in (*dict.fromkeys(case.name for case in chosen), "all"):
            for half in (*HALVES, "both"):
                some = [c for c in chosen if name in (c.name, "all") and half in (c.half, "both")]
                if not some:
                    continue
                bad = sum(id(case) in mistakes for case in some)
                share = (len(some) - bad if labelled else bad) / len(some)
                if name == "all":
                    figures[f"{half}_{what}"] = round(share, 4)
                if name == "all" or half == "both":
                    rows.append(("secrets" if labelled else "look-alikes", f"{name} {half}", len(some), bad, share))
    report.table(("set", "class", "texts", "wrong", "recall or changed"), rows)
    around, survive = map(sum, zip(*(kept(case) for case in everything if case.secrets), strict=True))
    figures["kept"] = round(survive / around, 4)
    turns = [case.text for case in everything if len(case.text.encode()) >= SIZE]
    watch = timed(turns)
    figures |= {"turns": len(turns)} | watch.milliseconds()
    per = [1000 * cpu for cpu in watch.cpu]
    figures |= {"p50_cpu_ms": round(percentile(per, 0.5), 3), "p95_cpu_ms": round(percentile(per, 0.95), 3)}
    for case in everything:
        if id(case) in mistakes and options.show in (case.half, "both"):
            said = case.text if len(case.text) < 200 else f"… {case.shape} …"
            report.note(f"{'LEFT' if case.secrets else 'CHANGED'} {case.name}: {said!r}")
    for folder in options.folder:
        figures["pieces"], figures["pieces_changed"] = changes(folder, options.show == "both")
    report.result(figures)


if __name__ == "__main__":
    main()
