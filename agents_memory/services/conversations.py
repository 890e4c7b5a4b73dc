"""Conversation files, brought in with their real times; doing it again adds nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents_memory.domain.conversations import Conversation, Header, Turn, parse_conversation
from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.services.intake import Intake, prepare

SOURCE = "conversation"
SUFFIX = ".jsonl"
# A turn may hold 16 MiB, and JSON may spell each byte with six characters.
MAX_LINE_CHARS = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What was wrong with a line (None: with the whole file); never quotes the content."""

    path: Path
    line: int | None
    message: str


@dataclass(slots=True)
class ImportReport:
    """What became of every turn: found = stored + duplicates + refused.

    A line that should be a turn and cannot be read counts as found and refused.

    `redacted` counts secrets by sort, in the turns that were stored.
    """

    files: int = 0
    found: int = 0
    stored: int = 0
    duplicates: int = 0
    refused: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The files named, and every `*.jsonl` in the directories named; each once, in order."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        # Anything else (a pipe, a device) could hold up the import for ever.
        found |= dict.fromkeys(file for file in inside if file.is_file())
    return list(found)


def survey(paths: Sequence[Path]) -> tuple[list[Path], ImportReport]:
    """The usable files, the earliest conversation first, and a report that lists every problem."""
    began: dict[Path, tuple[bool, float]] = {}
    report = ImportReport(files=len(paths))
    for path in paths:
        try:
            conversation = parse_conversation(_lines(path))
        except OSError as error:
            reason = f"cannot be read ({error.strerror}); check its permissions"
            report.problems.append(FileProblem(path, None, reason))
            continue
        report.problems += [FileProblem(path, p.line, p.message) for p in conversation.problems]
        report.found += len(conversation.turns) + conversation.skipped
        report.refused += conversation.skipped
        if conversation.header is None:
            report.refused += len(conversation.turns)
        else:
            began[path] = _began(conversation)
    return sorted(began, key=began.__getitem__), report


async def import_files(
    paths: Iterable[Path],
    report: ImportReport,
    intake: Intake,
    user_id: int,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Stores every turn once, whatever was stored of it before; `advance` is called with 1 a turn.

    Raises DatabaseUnavailable; what was stored until then stays, and a second run goes on.
    """
    for path, draft in _drafts(paths):
        outcome = await intake.store(draft, user_id)
        if isinstance(outcome, Refusal):
            _refuse(report, path, draft, outcome)
        else:
            report.duplicates += outcome.duplicate
            if not outcome.duplicate:
                report.stored += 1
                report.redacted.update(outcome.redactions)
        advance(1)


def rehearse(paths: Iterable[Path], report: ImportReport) -> None:
    """Does everything but storing: no database is asked, so duplicates are not known."""
    for path, draft in _drafts(paths):
        outcome = prepare(draft)
        if isinstance(outcome, Refusal):
            _refuse(report, path, draft, outcome)
        else:
            report.redacted.update(outcome[1])


def draft_of(header: Header, turn: Turn) -> Draft:
    """A turn as the intake takes it: what the person said is theirs, the rest is an agent's word.

    Session and turn id identify it, not the file's name, which differs from machine to machine.
    """
    return Draft(
        role=turn.role,
        text=turn.text,
        origin=Origin.IMPORTED,
        trust=Trust.OWNER if turn.role is Role.USER else Trust.AGENT,
        platform=header.platform,
        model=turn.model,
        device=header.device,
        session=header.session,
        cwd=header.cwd,
        occurred_at=turn.occurred_at,
        source=SOURCE,
        store_id=header.session,
        native_id=turn.native_id,
    )


def _drafts(paths: Iterable[Path]) -> Iterator[tuple[Path, Draft]]:
    for path in paths:
        # Read again, a file at a time: years of conversations need not fit into memory.
        conversation = parse_conversation(_lines(path))
        if conversation.header is not None:
            for turn in conversation.turns:
                yield path, draft_of(conversation.header, turn)


def _refuse(report: ImportReport, path: Path, draft: Draft, refusal: Refusal) -> None:
    report.refused += 1
    turn = (draft.native_id or "")[:80]
    report.problems.append(FileProblem(path, None, f"turn {turn}: {refusal.message}"))


def _lines(path: Path) -> Iterator[str]:
    # Bytes that are no UTF-8 become U+FFFD, as everywhere on the way in.
    with open(path, encoding="utf-8", errors="replace") as file:
        while line := file.readline(MAX_LINE_CHARS):
            yield line


def _began(conversation: Conversation) -> tuple[bool, float]:
    """Sorts conversations by their first known time; those without one come last."""
    known = [turn.occurred_at.timestamp() for turn in conversation.turns if turn.occurred_at]
    return (not known, min(known, default=0.0))
