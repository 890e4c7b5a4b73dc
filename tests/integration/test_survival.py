"""F103: the small version of `make bench-survival`, in which everything is killed once."""

from bench.survival import survive


async def test_nothing_acknowledged_is_lost_doubled_or_out_of_order() -> None:
    """A10, A11, A25, A26: two agents with three clients each."""
    outcome = await survive(agents=2, seconds=0)
    assert (outcome.lost, outcome.doubled, outcome.misordered) == (0, 0, 0)
    assert set(outcome.kills) == {"database", "editor", "drainer", "capturer"}
    assert outcome.queued > 0
    assert outcome.acknowledged > outcome.queued
