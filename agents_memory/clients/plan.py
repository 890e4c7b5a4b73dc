"""What shall become of a client's files, as a plan that can be shown; and doing it."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_memory.clients import config_file, document
from agents_memory.clients.known import Client
from agents_memory.domain.redaction import redact

# Lines around a change that are shown with it.
CONTEXT = 2

Run = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Edit:
    """One file, before and after (None: not there).

    `spent` are copies of earlier states that are of no more use once the file is so. One that
    `gives_back` makes the file what it was before we came, so that no copy is needed.
    """

    file: Path
    before: str | None
    after: str | None
    spent: tuple[Path, ...] = ()
    gives_back: bool = False

    def diff(self) -> str:
        """The change for a person; what looks like a secret nearby is not shown."""
        before, after = (self.before or "").splitlines(), (self.after or "").splitlines()
        # Files of megabytes change in one place, and comparing their every line takes long.
        same = _same(before, after)
        head = max(0, same - CONTEXT)
        tail = max(0, _same(before[same:][::-1], after[same:][::-1]) - CONTEXT)
        lines = difflib.unified_diff(
            before[head : len(before) - tail],
            after[head : len(after) - tail],
            str(self.file),
            str(self.file) if self.after is not None else "(removed)",
            lineterm="",
            n=CONTEXT,
        )
        return redact("\n".join(_further(line, head) for line in lines)).text


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: the client's own commands first, then the files as they shall be."""

    client: Client
    commands: list[list[str]]
    edits: list[Edit]
    remarks: list[str] = field(default_factory=list)

    @property
    def nothing_to_do(self) -> bool:
        """Whether all is already as it shall be."""
        return not self.edits


def carry_out(plan: Plan, run: Run, now: datetime) -> list[Path]:
    """Do it; the copies of the files that were replaced. Raises MemoryFault.

    `run` runs a command and says whether there is such a program and it succeeded. Whatever a
    client's own command did, the files are made what the plan says.
    """
    used_own = False
    for command in plan.commands:
        used_own = run(command) or used_own
    copies = []
    for edit in plan.edits:
        before, after = edit.before, edit.after
        if used_own:
            before = config_file.load(edit.file)
            after = _again(edit, before)
        as_planned = after == edit.after
        if before is not None and after is None:
            config_file.remove(edit.file, before)
        elif after is not None and before != after:
            kept_at = None if edit.gives_back and as_planned else now
            copies.append(config_file.replace(edit.file, before, after, kept_at))
        if as_planned:
            config_file.discard(edit.spent)
    return [copy for copy in copies if copy is not None]


def _again(edit: Edit, now_there: str | None) -> str | None:
    """What `edit` meant, on top of what the client's own command has made of the file."""
    if now_there is None or now_there == edit.before:
        return edit.after
    file, text = edit.file, now_there
    before = document.find(file, edit.before or "", ()) or {}
    for keys, value in _differences(before, document.find(file, edit.after or "", ()) or {}):
        there = document.find(file, text, keys)
        if value is not _GONE:
            if not _holds(there, value):
                text = document.with_member(file, text, keys, value)
        elif isinstance(there, dict) and there:
            # Others have put something in meanwhile.
            continue
        elif document.has(document.find(file, text, ()), keys):
            text = document.without_member(file, text, keys)
    return None if edit.after is None and not document.find(file, text, ()) else text


def _same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))


def _further(line: str, lines: int) -> str:
    """A line of a diff; where it says at which line one is, so many lines on."""
    if not line.startswith("@@ "):
        return line
    return re.sub(r"([-+])(\d+)", lambda at: f"{at[1]}{int(at[2]) + lines}", line)


_GONE = object()


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], at: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key, _GONE), after.get(key, _GONE)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _differences(old, new, (*at, key))
        elif isinstance(old, dict) and new is _GONE:
            found += [*_differences(old, {}, (*at, key)), ((*at, key), _GONE)]
        elif old != new:
            found.append(((*at, key), new))
    return found


def _holds(found: Any, wanted: Any) -> bool:
    """Whether `found` is `wanted`, give or take what a client writes into every entry."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(found.get(key) == value for key, value in wanted.items())
    return bool(found == wanted)
