"""What is to be done, worked out before anything is written: pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents_memory.domain.messages import Trust
from agents_memory.domain.redaction import redact
from agents_memory.domain.text import is_blank, repair
from agents_memory.storage.withdrawals import Standing
from ingest.buzz.shapes import EDIT, MODERATE, Event, Room


@dataclass(frozen=True, slots=True)
class Placed:
    """An event and the room it is in."""

    event: Event
    room: Room


@dataclass(frozen=True, slots=True)
class Insert:
    """A message that was not known; `content` is its latest wording."""

    said: Placed
    content: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A known message that was worded anew; `stored` is the row of that wording, if it has one."""

    standing: Standing
    change: Placed
    stored: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, each in the order in which it was said.

    `pinned` messages were changed in Buzz and stay; `ignored` are changes by somebody else than the
    author; `blank` messages have no words.
    """

    hides: tuple[Standing, ...] = ()
    edits: tuple[Edit, ...] = ()
    inserts: tuple[Insert, ...] = ()
    pinned: int = 0
    ignored: int = 0
    blank: int = 0

    def within(self, most: int) -> "Plan":
        """The first `most` steps: what is known changes first, so that no change is overtaken."""
        hides = self.hides[:most]
        edits = self.edits[: most - len(hides)]
        inserts = self.inserts[: most - len(hides) - len(edits)]
        return replace(self, hides=hides, edits=edits, inserts=inserts)

    @property
    def authors(self) -> set[str]:
        """Whose names are needed."""
        return {e.change.event.author for e in self.edits} | {
            i.said.event.author for i in self.inserts
        }


@dataclass(slots=True)
class _Changes:
    edits: list[Placed] = field(default_factory=list)
    deleted: bool = False


def asked_for(messages: Iterable[Placed], changes: Iterable[Placed]) -> set[str]:
    """The ids of all events that may have a row: messages, edits, and what changes speak of."""
    ids = {one.event.id for one in messages}
    for one in changes:
        ids.update(one.event.targets)
        ids.add(one.event.id)
    return ids


def make(
    messages: Sequence[Placed],
    changes: Sequence[Placed],
    standing: Mapping[str, Standing],
    owners: Collection[str],
) -> Plan:
    """The plan for what was read, given what stands for each event today."""
    said = {one.event.id: one for one in messages}
    counts: Counter[str] = Counter()
    by_target: dict[str, _Changes] = {}
    for change in sorted(changes, key=lambda one: one.event.order):
        for target in change.event.targets[: 1 if change.event.kind == EDIT else None]:
            if target not in said and target not in standing:
                continue
            if not _may(change, said.get(target), standing.get(target), owners):
                counts["ignored"] += 1
            elif change.event.kind == EDIT:
                by_target.setdefault(target, _Changes()).edits.append(change)
            else:
                by_target.setdefault(target, _Changes()).deleted = True
    hides: list[Standing] = []
    edits: list[Edit] = []
    inserts: list[Insert] = []
    for target in {**said, **by_target}:
        done = by_target.get(target, _Changes())
        row = standing.get(target)
        if row is None:
            latest = said[target].event.content
            if done.edits:
                latest = done.edits[-1].event.content
            if is_blank(latest):
                counts["blank"] += 1
            elif not done.deleted:
                inserts.append(Insert(said[target], latest))
        elif not row.gone:
            step = _change(row, done, standing)
            if step is not None and row.pinned:
                counts["pinned"] += 1
            elif isinstance(step, Edit):
                edits.append(step)
            elif step is not None:
                hides.append(step)
    return Plan(
        tuple(sorted(hides, key=lambda row: row.id)),
        tuple(sorted(edits, key=lambda edit: edit.change.event.order)),
        tuple(sorted(inserts, key=lambda insert: insert.said.event.order)),
        pinned=counts["pinned"],
        ignored=counts["ignored"],
        blank=counts["blank"],
    )


def _change(
    row: Standing, changes: _Changes, standing: Mapping[str, Standing]
) -> Edit | Standing | None:
    """What has to become of a row that stands."""
    if changes.deleted:
        return row
    # A row without what was said was erased, and stays so.
    if not changes.edits or row.raw is None:
        return None
    latest = changes.edits[-1]
    if row.raw == stored_form(latest.event.content) or is_blank(latest.event.content):
        return None
    stored = standing.get(latest.event.id)
    if stored is None:
        return Edit(row, latest, None)
    # It was stored before, and the run was broken off before it took the place of the other.
    return None if stored.id <= row.id else Edit(row, latest, stored.id)


def _may(
    change: Placed, said: Placed | None, row: Standing | None, owners: Collection[str]
) -> bool:
    """Whether a change is of the author, or a moderator's deletion, which the relay vouches for."""
    room = said.room.id if said is not None else row.session if row is not None else None
    if change.room.id != room:
        return False
    if change.event.kind == MODERATE:
        return True
    if said is not None:
        return change.event.author == said.event.author
    # Who wrote an older message is not kept, but whether the owner did: nobody else words it anew.
    return row is not None and (change.event.author in owners) == (row.trust is Trust.OWNER)


def stored_form(content: str) -> str:
    """What is said, as the intake keeps it: repaired, and without secrets."""
    return redact(repair(content).text).text
