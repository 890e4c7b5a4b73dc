"""Following the queue to its end."""

from collections.abc import Sequence
from typing import Any

import pytest

from agents_memory.cli.following import Own, drained, status_line, steps_left
from agents_memory.domain.errors import MemoryFault
from agents_memory.services.status import Report
from tests.fakes import ManualClock


def state(*, reachable: bool = True, parked: int = 0, failed: int = 0, **pending: int) -> Report:
    stages = {
        name: {
            "pending": pending.get(name, 0),
            "held": 0,
            "failed": failed if pending.get(name, 0) else 0,
            "parked": parked if name == "embed" else 0,
            "oldest_age_s": 1.0,
        }
        for name in ("screen", "embed", "tag")
    }
    return Report(
        {
            "database": {"reachable": reachable},
            "leader": {"holder": "desk", "pid": 7, "epoch": 2, "since": None},
            "stages": stages if reachable else {},
            "counts": {"messages": 9, "memories": 1, "used": 0} if reachable else {},
            "degraded": [] if reachable else ["the database cannot be reached"],
        }
    )


class Film:
    """One state after the other, the last one for ever; each look takes ten seconds."""

    def __init__(self, states: Sequence[Report]) -> None:
        self.states = list(states)
        self.clock = ManualClock()

    async def look(self) -> Report:
        self.clock.advance(10)
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents_memory.cli.following.GLANCE_S", 0)


async def test_an_empty_queue_is_drained_at_once() -> None:
    film = Film([state()])
    assert (await drained(film.look, film.clock)).waiting == 0


async def test_the_queue_is_followed_through_its_stages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    film = Film([state(screen=4), state(screen=2, embed=2), state(tag=4), state()])
    await drained(film.look, film.clock, stall_s=15)
    said = capsys.readouterr()
    assert said.out == "", "progress belongs to stderr"
    assert "working: 12/12" in said.err


async def test_a_queue_that_does_not_move_ends_the_wait_with_where_to_look() -> None:
    """E12, E7: what waits, how long and how often it failed; never an endless wait."""
    film = Film([state(embed=3, failed=3)])
    with pytest.raises(MemoryFault, match="doctor") as raised:
        await drained(film.look, film.clock, stall_s=60)
    assert "embed: 3 waiting, 3 of them failed before" in str(raised.value)


async def test_a_database_that_is_away_is_neither_an_empty_queue_nor_progress() -> None:
    """D11: an error is not an empty answer."""
    film = Film([state(reachable=False)])
    with pytest.raises(MemoryFault, match="cannot be reached"):
        await drained(film.look, film.clock, stall_s=60)


async def test_parked_work_waits_for_nobody_and_is_shown() -> None:
    film = Film([state(parked=2)])
    report = await drained(film.look, film.clock)
    assert "2 parked" in status_line(report)


def test_the_line_says_who_leads_and_what_is_held() -> None:
    line = status_line(state(tag=1))
    assert line == "9 messages · 1 memories · 1 waiting · daemon: desk (process 7, term 2)"
    assert "away" in status_line(state(reachable=False))


def test_an_earlier_stage_has_more_steps_before_it() -> None:
    stages: dict[str, dict[str, Any]] = state(screen=1, embed=1, tag=1).values["stages"]
    assert steps_left(stages) == 3 + 2 + 1


def test_a_daemon_of_ones_own_is_told_from_the_one_that_works() -> None:
    """E13: two processes are not two that work."""
    assert "stands by" not in status_line(state(), Own("desk", 7))
    for other in (Own("desk", 8), Own("laptop", 7)):
        assert status_line(state(), other).endswith(f"ours stands by (process {other.pid})")
    nobody = state()
    nobody.values["leader"] |= {"holder": None, "pid": None}
    assert status_line(nobody, Own("desk", 8)).endswith("daemon: none")
