"""Histories: what became of a memory, what a patch did, which patches there were."""

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Status
from agents_memory.domain.patches import Add, Pin, Remove, Supersede, Update, WriteProfile
from agents_memory.services.history import History
from agents_memory.services.memory_search import MemorySearch
from tests.factories import Services, services
from tests.integration.patches import add, applied, apply, versions


async def test_versions_stand_in_ascending_order_with_who_and_why(use: Services) -> None:
    """F10: ended by the operation of the next one."""
    said = await use.say("Tea.")
    memory_id = await add(use)
    await apply(use, Update(memory_id, "b", 1), evidence=(said.id,))
    await apply(use, Supersede(memory_id, "c", 2), evidence=(said.id,))
    last = await apply(use, Remove(memory_id, 3))
    assert not isinstance(last, Refusal)
    found = await versions(use, memory_id)
    assert [(v.version, v.operation, v.ended_by) for v in found] == [
        (1, "add", "update"),
        (2, "update", "supersede"),
        (3, "supersede", "remove"),
        (4, "remove", None),
    ]
    assert [v.content for v in found] == ["Deploys happen on Tuesdays.", "b", "c", "c"]
    assert found[1].evidence == (said.id,)
    assert (found[3].patch_id, found[3].actor, found[3].tool, found[3].reason) == (
        last.patch_id,
        "agent",
        "test",
        "because",
    )
    assert found[3].status is Status.REMOVED
    assert found[0].created_at <= found[3].created_at


async def test_a_patch_shows_each_operation_with_its_own_diff(use: Services) -> None:
    """F9: the diff of the whole is that of its parts."""
    said, memory_id = await use.say("Tea."), await add(use)
    done = await applied(
        use,
        Update(memory_id, "b", 1, evidence=(said.id,)),
        Add("tea", "Green."),
        WriteProfile("sub", "Drinks tea."),
        Pin(memory_id, True, 2),
    )
    view = await History(use.database).patch_view(done.patch_id, use.user_id)
    assert not isinstance(view, Refusal)
    assert (view.id, view.diff, view.reason) == (done.patch_id, done.diff, "because")
    assert [(o.position, o.operation, o.item_kind) for o in view.operations] == [
        (0, "update", "memory"),
        (1, "add", "memory"),
        (2, "write_profile", "profile"),
        (3, "pin", "memory"),
    ]
    assert "".join(o.diff or "" for o in view.operations) == view.diff
    assert [o.evidence for o in view.operations] == [(said.id,), (), (), ()]
    assert [(o.from_version, o.to_version) for o in view.operations] == [
        (1, 2),
        (None, 1),
        (None, 1),
        (2, 3),
    ]
    assert (view.rollback_of, view.rolled_back_by) == (None, None)


async def test_patches_are_listed_newest_first_of_one_memory_or_all(use: Services) -> None:
    first, second = await add(use, "One."), await add(use, "Two.")
    pinned = await applied(use, Pin(first), Pin(second))
    history = History(use.database)
    everything = await history.list_patches(use.user_id)
    of_second = await history.list_patches(use.user_id, second)
    assert [patch.operations for patch in everything] == [
        (f"pin {first}", f"pin {second}"),
        (f"add {second}",),
        (f"add {first}",),
    ]
    assert [patch.id for patch in of_second] == [pinned.patch_id, everything[1].id]
    assert await history.list_patches(use.user_id, limit=1) == everything[:1]
    assert await history.list_patches(use.user_id, before=pinned.patch_id) == everything[1:]
    assert await history.list_patches(use.user_id, memory_id=0) == ()


async def test_unknown_ids_and_those_of_others_have_no_history(use: Services) -> None:
    memory_id = await add(use)
    done = await applied(use, Pin(memory_id))
    stranger = await services(use.database, "sam")
    history = History(use.database)
    for wrong, user_id in (
        (memory_id, stranger.user_id),
        (done.patch_id, use.user_id),
        (0, use.user_id),
        (-1, use.user_id),
        (2**80, use.user_id),
    ):
        told = await history.versions(wrong, user_id)
        assert isinstance(told, Refusal)
        assert told.code is Code.UNKNOWN_MEMORY
    for wrong, user_id in (
        (done.patch_id, stranger.user_id),
        (memory_id, use.user_id),
        (0, use.user_id),
        (2**80, use.user_id),
    ):
        told_of_patch = await history.patch_view(wrong, user_id)
        assert isinstance(told_of_patch, Refusal)
        assert told_of_patch.code is Code.UNKNOWN_PATCH
    assert await history.list_patches(stranger.user_id) == ()
    await stranger.close()


async def test_memories_are_found_by_all_their_words(use: Services) -> None:
    """F12, F31: removed ones only when asked for; any script; without a model."""
    tea, both = await add(use, "Green tea."), await add(use, "Green tea and coffee.")
    chinese = await add(use, "我喜欢喝茶。")
    await applied(use, Remove(tea))
    search = MemorySearch(use.database)

    async def found(query: str, **options: object) -> list[int]:
        views = await search.search(query, use.user_id, **options)  # type: ignore[arg-type]
        assert not isinstance(views, Refusal)
        return [view.id for view in views]

    assert await found("green TEA") == [both]
    assert sorted(await found("green tea", include_removed=True)) == [tea, both]
    assert await found("coffee water") == []
    assert await found("喝茶") == [chinese]
    assert await found("tea", subject="DEPLOYS") == [both]
    assert await found("tea", subject="other") == []
    assert len(await found("tea", include_removed=True, limit=1)) == 1
    for hostile in ("' | 'x", "tea & !", "\0 tea", "\ud800 tea", ":* tea", "\\"):
        assert isinstance(await search.search(hostile, use.user_id), tuple | Refusal)


async def test_a_query_without_a_word_is_refused(use: Services) -> None:
    search = MemorySearch(use.database)
    for empty in ("", "  ", "\u200b", "x" * 1_001):
        told = await search.search(empty, use.user_id)
        assert isinstance(told, Refusal)
        assert told.code is Code.INVALID_QUERY


async def test_a_memory_is_read_as_it_is_now(use: Services) -> None:
    memory_id = await add(use)
    await applied(use, Remove(memory_id))
    search = MemorySearch(use.database)
    view = await search.read(memory_id, use.user_id)
    assert not isinstance(view, Refusal)
    assert (view.status, view.version) == (Status.REMOVED, 2)
    for wrong in (0, -1, 2**70, memory_id + 1_000):
        told = await search.read(wrong, use.user_id)
        assert isinstance(told, Refusal)
        assert told.code is Code.UNKNOWN_MEMORY
