"""What `coldpath --once` says it did."""

from agents_memory.storage.work import StageSummary
from cold.account import Account, unfinished
from cold.guard import Done, Park, RetryLater


def test_a_run_without_work_says_so() -> None:
    assert Account().render([]) == "nothing was due"


def test_what_was_done_and_what_is_left_are_told_by_stage() -> None:
    account = Account()
    for outcome in (Done(), Done(proceed=False), RetryLater("slow"), Park("broken")):
        account.note("embed", outcome)
    account.note("screen", Done())
    left = [
        StageSummary("embed", 1, 0, 1, 1, 1.0, 0.0, "broken"),
        StageSummary("tag", 3, 0, 0, 0, 1.0, 1.0, None),
    ]
    assert account.render(left).splitlines() == [
        "embed: 2 settled, 1 put off, 1 parked",
        "screen: 1 settled",
        "left: embed: 1 failed, 1 parked; broken",
    ]
    assert [unfinished(stage) for stage in left] == [True, False]
