"""What a run of the daemon did, for whoever started it by hand."""

from collections import Counter
from collections.abc import Sequence

from agents_memory.storage.work import StageSummary
from cold.guard import Done, Outcome, Park


class Account:
    """Counts outcomes by stage; the worker's attempts write into it."""

    def __init__(self) -> None:
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._parked: Counter[str] = Counter()

    def note(self, stage: str, outcome: Outcome) -> None:
        """One item came to this outcome."""
        match outcome:
            case Done():
                self._done[stage] += 1
            case Park():
                self._parked[stage] += 1
            case _:
                self._failed[stage] += 1

    def render(self, left: Sequence[StageSummary]) -> str:
        """A line a stage, and what is left of the queue with its reason."""
        stages = dict.fromkeys((*self._done, *self._failed, *self._parked))
        lines = [f"{stage}: {self._numbers(stage)}" for stage in stages] or ["nothing was due"]
        lines += [
            f"left: {stage.stage}: {_numbers(stage)}; {stage.reason}"
            for stage in left
            if unfinished(stage)
        ]
        return "\n".join(lines)

    def _numbers(self, stage: str) -> str:
        named = (
            (self._done[stage], "settled"),
            (self._failed[stage], "put off"),
            (self._parked[stage], "parked"),
        )
        return ", ".join(f"{number} {word}" for number, word in named if number)


def unfinished(stage: StageSummary) -> bool:
    """Whether rows of a stage could not be worked through."""
    return bool(stage.held or stage.failed or stage.parked)


def _numbers(stage: StageSummary) -> str:
    named = ((stage.held, "held"), (stage.failed, "failed"), (stage.parked, "parked"))
    return ", ".join(f"{number} {word}" for number, word in named if number)
