"""What about the daemon and its queue needs a person, from a few facts: each with what to do.

A new way to stand still is one more rule in `RULES`; a stage that waits for a lost resource of any
kind, an embedder or another model, is held and so covered already.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_memory.storage.leadership import Beat
from agents_memory.storage.work import StageSummary

# Shorter rests of a stage are everyday: an endpoint that restarts, a database that fails over.
HELD_S = 60.0
OVERDUE_S = 900.0
# A daemon that takes over, or that the next editor starts, is there within seconds; a timer that
# runs one now and then is made known by a longer `overdue_s`.
LEADERLESS_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class Facts:
    """The state of the queue at one moment; `led`: a daemon holds the lead now."""

    led: bool
    beat: Beat
    stages: Sequence[StageSummary]
    # How long due work may wait before that is an alarm, in seconds.
    overdue_s: float = OVERDUE_S

    @property
    def longest_overdue(self) -> StageSummary | None:
        """The stage with the row that has been due for longest; None when nothing is due."""
        due = [stage for stage in self.stages if stage.overdue_s > 0]
        return max(due, key=lambda stage: stage.overdue_s, default=None)


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that needs a person: `message` says what, `fix` what to do."""

    name: str
    message: str
    fix: str


Rule = Callable[[Facts], Iterator[Alarm]]


def alarms(facts: Facts) -> list[Alarm]:
    """All that needs a person now, the likely cause first; empty when all is well."""
    return [alarm for rule in RULES for alarm in rule(facts)]


def _no_leader(facts: Facts) -> Iterator[Alarm]:
    longest = facts.longest_overdue
    limit = facts.overdue_s * LEADERLESS_SHARE
    if not facts.led and longest is not None and longest.overdue_s >= limit:
        yield Alarm(
            "no_leader",
            f"no daemon leads the pool, and work has been due for {lasting(longest.overdue_s)}",
            "run `mcp-agents-memory coldpath` on one machine (with the embedded database it starts "
            "with the next editor)",
        )


def _late_beat(facts: Facts) -> Iterator[Alarm]:
    if facts.led and facts.beat.late:
        yield Alarm(
            "leader_stuck",
            f"a daemon leads the pool but does not work: {_last_look(facts.beat.beat_at)}",
            "look into the daemon's log, then restart it; another one takes over at once",
        )


def _held(facts: Facts) -> Iterator[Alarm]:
    for stage in facts.stages:
        if facts.led and stage.held and stage.overdue_s >= HELD_S:
            yield Alarm(
                "stage_held",
                f"the daemon cannot work on {stage.stage}: {stage.reason}; {stage.pending} rows "
                f"wait, one for {lasting(stage.overdue_s)}",
                "remove the cause on the daemon's machine (`mcp-agents-memory doctor` there tests "
                "the embedder, `status` shows held language models); the work then goes on by "
                "itself",
            )


def _overdue(facts: Facts) -> Iterator[Alarm]:
    for stage in facts.stages:
        if facts.led and not stage.held and stage.overdue_s >= facts.overdue_s:
            yield Alarm(
                "queue_overdue",
                f"{stage.pending} rows wait for {stage.stage}, one has been due for "
                f"{lasting(stage.overdue_s)}",
                "see whether the numbers of `mcp-agents-memory status` fall; after a large import "
                "give it time, else look into the daemon's log, and raise COLD_PATH_BATCH_SIZE or "
                "choose a faster model",
            )


def _parked(facts: Facts) -> Iterator[Alarm]:
    parked = [stage for stage in facts.stages if stage.parked]
    if parked:
        named = ", ".join(f"{stage.stage} {stage.parked}" for stage in parked)
        yield Alarm(
            "parked",
            f"{sum(stage.parked for stage in parked)} rows of work are parked after repeated "
            f"failures ({named})",
            "`mcp-agents-memory park list` says why; remove the cause, then "
            "`mcp-agents-memory retry --all`",
        )


RULES: tuple[Rule, ...] = (_no_leader, _late_beat, _held, _overdue, _parked)


def lasting(seconds: float) -> str:
    """A length of time for a person: `40 s`, `12 min`, `5 h`, `3 days`."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _last_look(at: datetime | None) -> str:
    if at is None:
        return "it has not looked at the queue yet"
    return f"it last looked at the queue at {at:%Y-%m-%d %H:%M:%S %Z}"
