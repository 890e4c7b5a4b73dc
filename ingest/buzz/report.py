"""What a run did, or would do: numbers, names of rooms, ids; never what was said."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Report:
    """One run.

    `pending` are messages not stored before it, `changes` edits and deletions not applied before
    it; `refused` have no words left to store, `failed` the database would not take. `pinned`
    messages were changed in Buzz and stay; `ignored` changes are not of the author. Of turns in
    their wrapping those without a history could be healed (`heal_ready`) and were (`healed`), or
    had no words left or changed meanwhile (`heal_rejected`); those with one could be and were
    (`envelopes_ready`, `recleaned`), or may not yet (`envelopes_stuck`). `resting` are memories
    that rest on what was edited or deleted, for the owner to look at. `unsupported` counts kinds,
    in a dry run alone.
    """

    dry_run: bool
    channels: int = 0
    pending: int = 0
    changes: int = 0
    inserted: int = 0
    edited: int = 0
    hidden: int = 0
    refused: int = 0
    failed: int = 0
    pinned: int = 0
    ignored: int = 0
    blank: int = 0
    by_venue: Counter[str] = field(default_factory=Counter)
    healed: int = 0
    healed_by_device: Counter[str] = field(default_factory=Counter)
    heal_ready: int = 0
    heal_rejected: int = 0
    recleaned: int = 0
    envelopes_ready: int = 0
    envelopes_stuck: int = 0
    envelopes_stuck_by: Counter[str] = field(default_factory=Counter)
    resting: list[int] = field(default_factory=list)
    unsupported: Counter[int] = field(default_factory=Counter)

    def as_json(self) -> dict[str, object]:
        """The same for a program: the names are those of mcp-agents-memory 0.9, and ours."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values["envelopes_stuck_by"] = _named(self.envelopes_stuck_by)
        return _named(values)

    def render(self) -> str:
        """The same for a person."""
        lines = [
            f"{'rooms':<10}{self.channels}",
            f"{'messages':<10}{self.pending} new; {self.inserted} stored{_by(self.by_venue)}",
            f"{'changes':<10}{self.changes} new; {self.edited} edited, {self.hidden} deleted; "
            f"{self.pinned} left as pinned, {self.ignored} ignored",
            f"{'wrapped':<10}{self.heal_ready + self.envelopes_ready} ready, {self.healed} healed"
            f"{_by(self.healed_by_device)}, {self.recleaned} freed of their history; "
            f"{self.envelopes_stuck} left{_by(self.envelopes_stuck_by)}",
        ]
        if self.refused or self.failed:
            lines.append(f"{'left out':<10}{self.refused} without words, {self.failed} failed")
        if self.unsupported:
            lines.append(f"{'not read':<10}kinds{_by(self.unsupported)}")
        if self.resting:
            lines.append(f"{'look at':<10}memories {', '.join(map(str, self.resting))}")
        if self.dry_run:
            lines.append("nothing was stored, as it was a dry run")
        elif self.pending + self.changes > self.inserted + self.edited + self.hidden:
            lines.append("more waits for the next run; --max takes more in one")
        return "\n".join(lines)


def _named(values: Mapping[str, object]) -> dict[str, object]:
    return {re.sub("_(.)", lambda at: at[1].upper(), name): one for name, one in values.items()}


def _by(counts: Counter[str] | Counter[int]) -> str:
    listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f" ({listed})" if listed else ""
