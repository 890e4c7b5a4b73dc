"""What a pass is: one kind of work on one kind of item."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from agents_memory.storage.connections import Connection
from cold.guard import Done, RetryLater
from cold.lanes import Lanes


class Identified(Protocol):
    """Anything that a row of work can name."""

    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=Identified)
Result = TypeVar("Result")


class Pass(Protocol[Item, Result]):
    """One stage, done by one backend.

    Running the same version twice for an item must change nothing. EmbedderUnavailable or ModelAway
    out of any method means that the whole stage cannot be worked on now; any other exception blames
    the item.
    """

    stage: str
    backend: str
    version: int
    next_stages: tuple[str, ...]

    async def load(self, connection: Connection, ids: Sequence[int]) -> list[Item]:
        """Reads the items; ids that no longer name one are left out."""
        ...

    async def prepare(self, items: Sequence[Item]) -> list[Result]:
        """The work itself, outside of any transaction and without effect: one result an item.

        May be cancelled at any time.
        """
        ...

    async def settle(self, connection: Connection, item: Item, result: Result) -> Done | RetryLater:
        """Writes the outcome, inside a fenced transaction."""
        ...


class Together(ABC, Generic[Item, Result]):
    """What makes a pass one whose outcomes are written together, in as few statements as one."""

    @abstractmethod
    async def settle_all(
        self, connection: Connection, worked: Sequence[tuple[Item, Result]]
    ) -> Sequence[Done | RetryLater]:
        """Writes the outcomes, of at least one item, inside a fenced transaction.

        What it raises is the fault of any of them; then each is settled by itself.
        """

    async def settle(self, connection: Connection, item: Item, result: Result) -> Done | RetryLater:
        """Writes one outcome."""
        [outcome] = await self.settle_all(connection, [(item, result)])
        return outcome


@runtime_checkable
class SideBySide(Protocol):
    """What makes a pass one whose items are asked about side by side, and stored one by one.

    `lanes` is None where it gains nothing by it.
    """

    lanes: Lanes | None

    def answering(self) -> Callable[[Any], Awaitable[Any]]:
        """What to call for each item in the place of `prepare`, one batch after another."""
        ...


class Chore(Protocol):
    """Work on the pool as a whole, without rows in the queue; decides itself whether it is due."""

    name: str

    async def run(self, epoch: int) -> None:
        """Does what is due, every write fenced by the term."""
        ...
