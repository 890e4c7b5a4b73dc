"""Short words for tests of patches."""

from typing import Any

from agents_memory.domain.diffs import apply_diff, shown
from agents_memory.domain.errors import Refusal
from agents_memory.domain.patches import Add, Applied, Operation, PatchRequest
from agents_memory.domain.policy import ActorClass
from agents_memory.services.history import History, Version
from agents_memory.storage import memories
from tests.factories import Services


async def apply(
    use: Services, *operations: Operation, evidence: tuple[int, ...] = (), **options: Any
) -> Applied | Refusal:
    """One patch of an agent, unless told otherwise."""
    request = PatchRequest(use.user_id, "agent", "test", "because", operations, evidence, **options)
    return await use.patching.apply(request)


async def applied(use: Services, *operations: Operation, **options: Any) -> Applied:
    """The same, of the owner, and it must succeed."""
    options.setdefault("actor_class", ActorClass.OWNER)
    done = await apply(use, *operations, **options)
    assert isinstance(done, Applied), done
    return done


async def refused(use: Services, *operations: Operation, **options: Any) -> Refusal:
    """The same, of an agent, and it must be refused."""
    done = await apply(use, *operations, **options)
    assert isinstance(done, Refusal), done
    return done


async def add(use: Services, content: str = "Deploys happen on Tuesdays.", **fields: Any) -> int:
    """The id of a new memory of the owner's."""
    return (await applied(use, Add("deploys", content, **fields))).changes[0].item_id


async def versions(use: Services, memory_id: int) -> tuple[Version, ...]:
    """The history of a memory."""
    found = await History(use.database).versions(memory_id, use.user_id)
    assert not isinstance(found, Refusal), found
    return found


async def check_diffs(use: Services, memory_id: int) -> None:
    """Every version is what its diff makes of the one before, and the last is the current one."""
    before = None
    history = await versions(use, memory_id)
    for version in history:
        async with use.database.acquire() as connection:
            states = await memories.list_states(connection, {memory_id: version.version})
        assert version.diff is not None
        before = apply_diff(before, version.diff)
        assert before == shown(states[memory_id])
    assert [version.version for version in history] == list(range(1, len(history) + 1))
    async with use.database.acquire() as connection:
        locked = await memories.lock_memories(connection, [memory_id], use.user_id)
    assert shown(locked[memory_id]) == before
