"""What the doctor looks at, from the data folder to the queue: each check with one fix.

The checks come in the order in which things depend on each other, so the first failure is the one
to mend. Nothing is changed, and no secret is named.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import NamedTuple

from agents_memory.embedding.protocol import Embedder
from agents_memory.services.diagnosis import daemon, embedders, machine, pool, stored
from agents_memory.services.diagnosis.check import Check, Outcome, skipped
from agents_memory.services.diagnosis.subject import Look, Subject
from agents_memory.settings import Settings


class Step(NamedTuple):
    """A check by its name, and the checks without which there is nothing to look at."""

    name: str
    needs: tuple[str, ...]
    look: Look


STEPS = (
    Step("data_directory", (), machine.data_directory),
    Step("binaries", (), machine.binaries),
    Step("server", ("data_directory", "binaries"), pool.server),
    Step("versions", ("server",), pool.versions),
    Step("schema", ("versions",), pool.schema),
    Step("grants", ("schema",), pool.grants),
    Step("embedding", (), embedders.embedding),
    Step("active_model", ("schema",), embedders.active_model),
    Step("leader", ("schema",), daemon.leader),
    Step("queue", ("schema",), daemon.queue),
    Step("quarantine", ("schema",), daemon.quarantine),
)


class Diagnosis:
    """An examination of the pool that the settings name.

    `deep`: all that is stored is recomputed as well, which takes minutes in a large pool.
    """

    def __init__(self, settings: Settings, embedder: Embedder, *, deep: bool = False) -> None:
        self._settings = settings
        self._embedder = embedder
        self._deep = deep

    async def examine(self, tell: Callable[[Check], None]) -> list[Check]:
        """All checks; each is told as it is made."""
        checks: list[Check] = []
        blocked: set[str] = set()
        async with AsyncExitStack() as stack:
            subject = Subject(self._settings, self._embedder, stack)
            for name, needs, look in STEPS:
                first = next((need for need in needs if need in blocked), None)
                if first is not None:
                    check = skipped(name, f"not looked at: {first} comes first")
                else:
                    check = await look(subject)
                if first is not None or check.outcome is Outcome.FAILED:
                    blocked.add(name)
                checks.append(check)
                tell(check)
            if self._deep:
                async for check in stored.consistency(subject, blocked):
                    checks.append(check)
                    tell(check)
        return checks
