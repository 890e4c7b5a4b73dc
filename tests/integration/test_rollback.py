"""Rollback: a new patch that restores, erases nothing, and never undoes what came later unseen."""

import asyncio

import pytest

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Status
from agents_memory.domain.patches import (
    Add,
    Applied,
    Operation,
    Pin,
    Remove,
    Replace,
    Resolve,
    Retag,
    Supersede,
    Update,
    WriteProfile,
)
from agents_memory.services.history import History
from agents_memory.services.rollback import Rollback
from agents_memory.storage import memories, profiles, work
from tests.factories import Services, services
from tests.integration.patches import add, applied, apply, check_diffs, versions


async def roll_back(use: Services, patch_id: int) -> Applied | Refusal:
    return await Rollback(use.database, use.hints).roll_back(patch_id, use.user_id, "a mistake")


async def rolled_back(use: Services, patch_id: int) -> Applied:
    done = await roll_back(use, patch_id)
    assert isinstance(done, Applied), done
    return done


async def kept_back(use: Services, patch_id: int) -> Refusal:
    done = await roll_back(use, patch_id)
    assert isinstance(done, Refusal), done
    return done


@pytest.mark.parametrize("kind", ["update", "supersede", "remove", "pin", "resolve", "retag"])
async def test_a_rollback_restores_what_was_before(use: Services, kind: str) -> None:
    """F11: every part of the state, by a new version; nothing is erased."""
    said, other = await use.say("Tea."), await use.say("Coffee.")
    memory_id = await add(use, "Tea.", tags=("a",), evidence=(said.id,))
    operations: dict[str, Operation] = {
        "update": Update(memory_id, "Coffee.", 1, (other.id,)),
        "supersede": Supersede(memory_id, "Coffee.", 1, (other.id,)),
        "remove": Remove(memory_id, 1),
        "pin": Pin(memory_id, True, 1),
        "resolve": Resolve(memory_id, 1),
        "retag": Retag(memory_id, ("b",), 1),
    }
    done = await applied(use, operations[kind])
    back = await rolled_back(use, done.patch_id)
    async with use.database.acquire() as connection:
        first = (await memories.list_states(connection, {memory_id: 1}))[memory_id]
        third = (await memories.list_states(connection, {memory_id: 3}))[memory_id]
        locked = await memories.lock_memories(connection, [memory_id], use.user_id)
        waiting = await work.list_work_of(connection, memory_id)
    assert locked[memory_id] == third
    assert third == type(first)(
        **{name: getattr(first, name) for name in first.__slots__ if name != "version"}, version=3
    )
    found = await versions(use, memory_id)
    assert [v.operation for v in found] == ["add", kind, "restore"]
    assert found[2].sources == (said.id,)
    assert found[2].ended_by is None
    assert found[1].ended_by == "restore"
    assert [item.stage for item in waiting] == ["embed_memory"]
    await check_diffs(use, memory_id)
    view = await History(use.database).patch_view(done.patch_id, use.user_id)
    again = await History(use.database).patch_view(back.patch_id, use.user_id)
    assert not isinstance(view, Refusal)
    assert not isinstance(again, Refusal)
    assert (view.rolled_back_by, again.rollback_of) == (back.patch_id, done.patch_id)
    assert (again.actor, again.tool, again.reason) == ("owner", "cli", "a mistake")


async def test_what_was_added_becomes_removed_and_what_was_removed_active(use: Services) -> None:
    """F11: a diff to /dev/null, and one from there."""
    done = await applied(use, Add("tea", "Green.", pinned=True))
    memory_id = done.changes[0].item_id
    back = await rolled_back(use, done.patch_id)
    assert "+++ /dev/null" in back.diff
    gone = (await versions(use, memory_id))[-1]
    assert (gone.status, gone.pinned, gone.content) == (Status.REMOVED, False, "Green.")
    forth = await rolled_back(use, back.patch_id)
    assert "--- /dev/null" in forth.diff
    there = (await versions(use, memory_id))[-1]
    assert (there.status, there.pinned) == (Status.ACTIVE, True)
    await check_diffs(use, memory_id)


async def test_a_patch_of_many_operations_goes_back_as_one(use: Services) -> None:
    """F7, F11: memories and profiles, changed several times."""
    kept, gone = await add(use, "Kept."), await add(use, "Gone.")
    await applied(use, WriteProfile("sub", "Before."))
    done = await applied(
        use,
        Update(kept, "Changed.", 1),
        Pin(kept, True, 2),
        Remove(gone, 1),
        Add("new", "New."),
        WriteProfile("sub", "After.", 1),
        WriteProfile("core", "Made."),
    )
    back = await rolled_back(use, done.patch_id)
    async with use.database.acquire() as connection:
        states = await memories.lock_memories(
            connection, [change.item_id for change in done.changes], use.user_id
        )
        documents = await profiles.list_profiles(connection, use.user_id)
    made = done.changes[3].item_id
    assert {i: (s.content, s.status, s.pinned) for i, s in states.items()} == {
        kept: ("Kept.", Status.ACTIVE, False),
        gone: ("Gone.", Status.ACTIVE, False),
        made: ("New.", Status.REMOVED, False),
    }
    assert {kind: (d.content, d.version) for kind, d in documents.items()} == {
        "sub": ("Before.", 3),
        "core": ("", 2),
    }
    assert {change.operation for change in back.changes} == {"restore"}
    forth = await rolled_back(use, back.patch_id)
    assert len(forth.changes) == 5
    async with use.database.acquire() as connection:
        documents = await profiles.list_profiles(connection, use.user_id)
    assert (documents["sub"].content, documents["core"].content) == ("After.", "Made.")
    for memory_id in (kept, gone, made):
        await check_diffs(use, memory_id)


async def test_a_merge_goes_back_with_its_evidence(use: Services) -> None:
    first, second = await use.say("One."), await use.say("Two.")
    winner = await add(use, "One.", evidence=(first.id,))
    loser = await add(use, "Two.", evidence=(second.id,))
    done = await applied(use, Replace(loser, winner, 1, 1, merge=True))
    await rolled_back(use, done.patch_id)
    last, freed = (await versions(use, winner))[-1], (await versions(use, loser))[-1]
    assert last.sources == (first.id,)
    assert (freed.sources, freed.status, freed.superseded_by) == (
        (second.id,),
        Status.ACTIVE,
        None,
    )


async def test_later_work_on_any_item_is_named_and_kept(use: Services) -> None:
    """F11: UNSAFE_ROLLBACK when a later patch depends on it; nothing is changed."""
    one, two = await add(use, "One."), await add(use, "Two.")
    done = await applied(use, Pin(one), Pin(two))
    later = await applied(use, Update(two, "Two, really.", 2))
    latest = await applied(use, Pin(two, False, 3))
    told = await kept_back(use, done.patch_id)
    assert (told.code, told.details) == (
        Code.UNSAFE_ROLLBACK,
        {"patch_id": done.patch_id, "later": [later.patch_id, latest.patch_id]},
    )
    assert len(await versions(use, one)) == 2
    assert (await kept_back(use, later.patch_id)).details["later"] == [latest.patch_id]


async def test_patches_go_back_one_after_the_other_the_newest_first(use: Services) -> None:
    """F11: what was taken back itself stands in nobody's way, until that is taken back."""
    memory_id = await add(use, "One.")
    first = await applied(use, Update(memory_id, "Two.", 1))
    second = await applied(use, Update(memory_id, "Three.", 2))
    back = await rolled_back(use, second.patch_id)
    again = await rolled_back(use, back.patch_id)
    told = await kept_back(use, first.patch_id)
    assert told.details["later"] == [second.patch_id]
    await rolled_back(use, again.patch_id)
    await rolled_back(use, first.patch_id)
    contents = [version.content for version in await versions(use, memory_id)]
    assert contents == ["One.", "Two.", "Three.", "Two.", "Three.", "Two.", "One."]
    await check_diffs(use, memory_id)


async def test_a_patch_is_taken_back_once(use: Services) -> None:
    """F11: the patch that did it is named."""
    done = await applied(use, Pin(await add(use)))
    back = await rolled_back(use, done.patch_id)
    told = await kept_back(use, done.patch_id)
    assert (told.code, told.details) == (
        Code.ALREADY_ROLLED_BACK,
        {"patch_id": done.patch_id, "rolled_back_by": back.patch_id},
    )


async def test_of_rollbacks_at_once_one_wins(use: Services) -> None:
    done = await applied(use, Pin(await add(use)), Add("s", "x"), WriteProfile("sub", "x"))
    outcomes = await asyncio.gather(*(roll_back(use, done.patch_id) for _ in range(6)))
    [winner] = [one for one in outcomes if isinstance(one, Applied)]
    told = [one for one in outcomes if isinstance(one, Refusal)]
    assert {one.code for one in told} == {Code.ALREADY_ROLLED_BACK}
    assert {one.details["rolled_back_by"] for one in told} == {winner.patch_id}


async def test_a_statement_that_is_said_again_is_not_restored_beside_it(use: Services) -> None:
    """F45: restoring an active duplicate names the other one."""
    memory_id = await add(use, "Tea.")
    done = await applied(use, Remove(memory_id))
    again = await add(use, "tea")
    told = await kept_back(use, done.patch_id)
    assert (told.code, told.details) == (Code.DUPLICATE_MEMORY, {"memory_id": again})
    assert (await versions(use, memory_id))[-1].status is Status.REMOVED


async def test_rollbacks_and_patches_at_once_never_deadlock(use: Services) -> None:
    """E4: rows are locked in the order of their ids; each history stays gapless."""
    ids = [await add(use, f"Number {n}.") for n in range(4)]

    async def churn(n: int) -> None:
        order = ids if n % 2 else ids[::-1]
        done = await apply(use, *(Pin(memory_id, bool(n % 3)) for memory_id in order))
        assert isinstance(done, Applied), done
        outcome = await roll_back(use, done.patch_id)
        assert isinstance(outcome, Applied) or outcome.code is Code.UNSAFE_ROLLBACK, outcome

    await asyncio.gather(*(churn(n) for n in range(16)))
    for memory_id in ids:
        await check_diffs(use, memory_id)


async def test_what_cannot_be_rolled_back(use: Services) -> None:
    memory_id = await add(use)
    done = await applied(use, Pin(memory_id))
    stranger = await services(use.database, "sam")
    for told in (
        await roll_back(stranger, done.patch_id),
        *[await roll_back(use, wrong) for wrong in (memory_id, 0, -1, 2**80)],
    ):
        assert isinstance(told, Refusal)
        assert told.code is Code.UNKNOWN_PATCH
    rollback = Rollback(use.database, use.hints)
    empty = await rollback.roll_back(done.patch_id, use.user_id, " ")
    long = await rollback.roll_back(done.patch_id, use.user_id, "x" * 1_001)
    assert isinstance(empty, Refusal)
    assert isinstance(long, Refusal)
    assert (empty.code, long.code) == (Code.INVALID_INPUT, Code.LIMIT_EXCEEDED)
    await stranger.close()
