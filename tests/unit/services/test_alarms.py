"""When `status` and `doctor` turn red (F89, E7, E12, A22)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents_memory.services.alarms import HELD_S, Facts, alarms, lasting
from agents_memory.storage.leadership import Beat
from agents_memory.storage.work import StageSummary

FRESH = Beat(datetime(2026, 11, 20, 12, tzinfo=UTC), late=False)
EMBED = StageSummary("embed", 5, 0, 0, 0, 10.0, 10.0, None)
WELL = Facts(led=True, beat=FRESH, stages=[EMBED])


def names(facts: Facts) -> list[str]:
    found = alarms(facts)
    assert all(alarm.message and alarm.fix for alarm in found)
    return [alarm.name for alarm in found]


def test_a_daemon_at_its_work_is_no_alarm() -> None:
    assert alarms(WELL) == []
    assert alarms(replace(WELL, led=False, stages=[])) == []


def test_work_that_nobody_leads_is_one_once_it_waited_some_minutes() -> None:
    def waiting(seconds: float) -> Facts:
        return replace(WELL, led=False, stages=[replace(EMBED, overdue_s=seconds)])

    assert names(waiting(299)) == []
    assert names(waiting(300)) == ["no_leader"]
    assert names(replace(waiting(300), overdue_s=3_600)) == [], "a timer may run it now and then"


def test_a_dead_embedder_is_one_with_its_last_error() -> None:
    held = replace(EMBED, held=5, overdue_s=HELD_S, reason="the model is not installed")
    [alarm] = alarms(replace(WELL, stages=[held]))
    assert alarm.name == "stage_held"
    assert "embed: the model is not installed; 5 rows wait" in alarm.message
    assert names(replace(WELL, stages=[replace(held, overdue_s=HELD_S - 1)])) == []


def test_a_queue_that_grows_is_one_at_the_limit_that_was_set() -> None:
    slow = replace(EMBED, overdue_s=200.0)
    assert names(replace(WELL, stages=[slow], overdue_s=201)) == []
    assert names(replace(WELL, stages=[slow], overdue_s=200)) == ["queue_overdue"]


def test_work_that_failed_and_is_put_off_is_not_overdue() -> None:
    failed = replace(EMBED, failed=5, oldest_age_s=9_000.0, overdue_s=0.0)
    assert names(replace(WELL, stages=[failed])) == []


def test_parked_work_is_one_even_where_nothing_else_waits() -> None:
    parked = StageSummary("tag", 0, 0, 0, 2, 0.0, 0.0, "RuntimeError")
    [alarm] = alarms(replace(WELL, stages=[parked]))
    assert alarm.name == "parked"
    assert "2 rows" in alarm.message
    assert "retry --all" in alarm.fix


def test_a_leader_that_does_not_look_at_the_queue_is_one() -> None:
    assert names(replace(WELL, beat=Beat(None, late=True))) == ["leader_stuck"]
    assert names(replace(WELL, led=False, beat=Beat(None, late=True))) == []


def test_every_alarm_can_be_told_at_once() -> None:
    stages = [
        replace(EMBED, held=1, overdue_s=9_000.0, reason="away"),
        replace(EMBED, stage="tag", overdue_s=9_000.0, parked=1),
    ]
    assert names(Facts(True, Beat(None, late=True), stages)) == [
        "leader_stuck", "stage_held", "queue_overdue", "parked",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (172_800, "2 days")],
)
def test_a_length_of_time_has_the_unit_that_fits(seconds: float, words: str) -> None:
    assert lasting(seconds) == words
