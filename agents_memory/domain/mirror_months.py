"""The page of the mirror for a month: what was decided, learned and promised in it."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, tzinfo

from agents_memory.domain.memories import Kind
from agents_memory.domain.mirror import (
    Mirrored,
    Owner,
    Page,
    front_matter,
    in_order,
    line_of,
    plain,
)
from agents_memory.domain.mirror_tags import project_path
from agents_memory.domain.text import counted

MONTHS = "months"
MOST_USED = 10

_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)
_HEADINGS: Mapping[str, tuple[Kind, ...]] = {
    "Decided": (Kind.DECISION,),
    "Promised": (Kind.PROMISE,),
    "Milestones": (Kind.MILESTONE,),
    "Learned": (Kind.FACT, Kind.PREFERENCE, Kind.PATTERN, Kind.NOTE),
}


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month of the calendar."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"

    @classmethod
    def read(cls, text: str) -> "Month | None":
        """The month of 'YYYY-MM', from 1970 to 9998; None for anything else."""
        found = _MONTH.fullmatch(text.strip())
        if found is None or not 1970 <= int(found[1]) <= 9998:
            return None
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def before(cls, moment: datetime, zone: tzinfo) -> "Month":
        """The month before that of a moment."""
        today = moment.astimezone(zone)
        return cls(today.year - 1, 12) if today.month == 1 else cls(today.year, today.month - 1)

    def bounds(self, zone: tzinfo) -> tuple[datetime, datetime]:
        """Its first moment, and that of the next month."""
        until = Month(self.year + self.number // 12, self.number % 12 + 1)
        return (
            datetime(self.year, self.number, 1, tzinfo=zone),
            datetime(until.year, until.number, 1, tzinfo=zone),
        )


@dataclass(frozen=True, slots=True)
class Said:
    """What was said in a month under one project (None: under none)."""

    project: str | None
    messages: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Told:
    """All that a month's page is made of: memories said in it, promises settled in it, and the
    memories that were used in it, each with how often."""

    said: Sequence[Said]
    memories: Sequence[Mirrored]
    settled: Sequence[Mirrored]
    used: Sequence[tuple[Mirrored, int]]

    def __bool__(self) -> bool:
        return bool(self.said or self.memories or self.settled or self.used)


def month_page(
    owner: Owner, month: Month, told: Told, zone: tzinfo, there: Set[str] = frozenset()
) -> Page:
    """The page of a month, by rules alone; links lead to those of `there`, paths of other pages."""
    counts = {
        "messages": sum(one.messages for one in told.said),
        "memories": len(told.memories),
        "settled": len(told.settled),
        "used": sum(times for _, times in told.used),
    }
    lines = [front_matter(owner, "month", {"month": str(month), **counts}), f"# {month}", ""]
    lines += [
        f"{counted(counts['messages'], 'message')}, "
        f"{counted(counts['memories'], 'memory', 'memories')} made, "
        f"{counted(counts['settled'], 'promise')} settled, "
        f"memories used {counted(counts['used'], 'time')}.",
        "",
    ]
    said = {one.project: one for one in told.said}
    projects = {memory.project for memory in told.memories} | said.keys()
    # What belongs to no project comes last.
    for project in sorted(projects, key=lambda name: (name is None, name or "")):
        of = in_order(memory for memory in told.memories if memory.project == project)
        lines += _project(project, said.get(project), of, zone, there)
    if told.settled:
        lines += ["## Promises settled", ""]
        lines += [*(_line(one, zone, there) for one in in_order(told.settled)), ""]
    if told.used:
        lines += ["## Most used", ""]
        most = sorted(told.used, key=lambda one: (-one[1], one[0].id))[:MOST_USED]
        lines += [
            *(f"{_line(memory, zone, there)} (used {counted(n, 'time')})" for memory, n in most),
            "",
        ]
    return Page(MONTHS, f"{month}.md", "\n".join(lines))


def _project(
    project: str | None,
    said: Said | None,
    memories: Sequence[Mirrored],
    zone: tzinfo,
    there: Set[str],
) -> list[str]:
    lines = [f"## {'No project' if project is None else plain(project)}", ""]
    if said is not None:
        lines += [
            f"{counted(said.messages, 'message')} in {counted(said.sessions, 'session')}.",
            "",
        ]
    for heading, kinds in _HEADINGS.items():
        found = [memory for memory in memories if memory.kind in kinds]
        if found:
            lines += [f"### {heading}", "", *(_line(one, zone, there) for one in found), ""]
    return lines


def _line(memory: Mirrored, zone: tzinfo, there: Set[str]) -> str:
    link = None
    if memory.status == "active" and memory.project is not None:
        path = project_path(memory.project)
        link = f"<../{path}>" if path in there else None
    return line_of(memory, zone, link)
