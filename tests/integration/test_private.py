"""What its owner keeps to himself is shown to no agent, and found by himself."""

from datetime import UTC
from typing import Any

import pytest

from agents_memory.domain.edges import EdgeKind
from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.domain.patches import Add, Pin, Remove, Update
from agents_memory.services.brief import Briefing, Reader
from agents_memory.services.citing import Cited, Citing
from agents_memory.services.graph import Graph
from agents_memory.services.history import History
from agents_memory.services.knowledge import Remembered
from agents_memory.services.memory_search import MemorySearch
from agents_memory.services.mirror import Mirror
from agents_memory.services.privacy import Keeping, Privacy
from agents_memory.services.profiles import AGENT, OWNER, Author, Profiles, Written, unseen
from agents_memory.services.recall import RecallRequest
from agents_memory.services.rollback import Rollback
from agents_memory.services.upkeep import Upkeep
from agents_memory.storage import edges, memories, messages, privacy, registry
from agents_memory.storage.connections import Database
from agents_memory.storage.use import count_uses
from tests.factories import NOON, Services, draft
from tests.fakes import ManualClock
from tests.integration.cold_daemons import FakeEmbedder, drain, query, value
from tests.integration.patches import add, applied, refused

SECRET = "The biopsy showed a benign lump."


def _owner(database: Database) -> Keeping:
    return Keeping(database, actor="mara", device="desk")


async def _mark(
    database: Database, use: Services, kind: str, *ids: int, private: bool = True
) -> Privacy:
    done = await _owner(database).mark(kind, ids, use.user_id, private=private)
    assert isinstance(done, Privacy), done
    return done


async def _found(use: Services, words: str | None, **filters: object) -> list[int]:
    recall = use.recall()
    asked = Filters(use.user_id, **filters)  # type: ignore[arg-type]
    answer = await recall.search(RecallRequest(words, asked, limit=20))
    await recall.close()
    return [item.id for item in answer.items]


async def test_a_private_message_is_found_by_its_owner_alone(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """By meaning, by words and as the newest; and by all again after."""
    said = await use.say(SECRET)
    other = await use.say("The biopsy lab opens at nine.")
    await drain(cold_database, FakeEmbedder())
    assert (await _mark(owner_database, use, "message", said.id)).changed == (said.id,)
    for words in (SECRET, "biopsy", None):
        assert await _found(use, words) == [other.id]
        assert set(await _found(use, words, include_private=True)) == {said.id, other.id}
    assert (await _mark(owner_database, use, "message", said.id)).changed == ()
    done = await _mark(owner_database, use, "message", said.id, private=False)
    assert done.changed == (said.id,)
    assert set(await _found(use, "biopsy")) == {said.id, other.id}
    actions = await query(
        owner_database, "SELECT action, actor, item_id FROM audit_log ORDER BY id"
    )
    assert [(row["action"], row["actor"], row["item_id"]) for row in actions] == [
        ("private_make", "mara", said.id),
        ("private_undo", "mara", said.id),
    ]


async def test_a_memory_on_private_messages_alone_is_hidden_with_them(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    said = await use.say(SECRET)
    public = await use.say("The lump was harmless, she told everybody.")
    alone = await add(use, "The lump is benign.", evidence=(said.id,), pinned=True)
    both = await add(use, "The lump was harmless.", evidence=(said.id, public.id))
    await drain(cold_database, FakeEmbedder())
    done = await _mark(owner_database, use, "message", said.id)
    assert done.memories == (alone,)
    found = await _found(use, "lump")
    assert alone not in found
    assert both in found
    assert alone in await _found(use, "lump", include_private=True)
    search = MemorySearch(use.database)
    assert isinstance(await search.read(alone, use.user_id), Refusal)
    assert not isinstance(await search.read(alone, use.user_id, private=True), Refusal)
    assert await use.database.run(memories.count_memories) == 1
    await _mark(owner_database, use, "message", said.id, private=False)
    assert alone in await _found(use, "lump")


async def test_a_private_memory_takes_the_words_it_was_told_with_along(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    told = await use.knowledge.remember(
        draft(SECRET), use.user_id, Add("health", SECRET, Kind.FACT), project=None
    )
    assert isinstance(told, Remembered)
    memory_id = told.applied.changes[0].item_id
    await drain(cold_database, FakeEmbedder())
    done = await _mark(owner_database, use, "memory", memory_id)
    assert (done.changed, done.told) == ((memory_id,), (told.message_id,))
    assert await _found(use, "biopsy") == []
    assert memory_id in await _found(use, "biopsy", include_private=True)
    await _mark(owner_database, use, "memory", memory_id, private=False)
    assert memory_id in await _found(use, "biopsy")


async def test_to_whoever_patches_a_private_memory_is_not_there(
    use: Services, owner_database: Database
) -> None:
    """No change, no history and no diff tells of it; saying the same again is no failure."""
    first = await applied(use, Add("health", SECRET))
    memory_id = first.changes[0].item_id
    second = await applied(use, Update(memory_id, SECRET + " Said twice.", 1))
    await _mark(owner_database, use, "memory", memory_id)
    asked = await use.say("Change it.")
    for change in (Remove(memory_id, 2), Update(memory_id, "else", 1), Pin(memory_id)):
        refusal = await refused(use, change, evidence=(asked.id,))
        assert refusal.code is Code.UNKNOWN_MEMORY
    assert await use.knowledge.find(memory_id, use.user_id) is None
    history = History(use.database)
    assert isinstance(await history.versions(memory_id, use.user_id), Refusal)
    assert isinstance(await history.patch_view(second.patch_id, use.user_id), Refusal)
    assert await history.list_patches(use.user_id) == ()
    assert len(await history.list_patches(use.user_id, private=True)) == 2
    assert len(await _versions(history, memory_id, use)) == 2
    assert await MemorySearch(use.database).search("biopsy", use.user_id) == ()
    again = await use.knowledge.remember(
        draft(SECRET + " Said twice."), use.user_id, Add("health", SECRET + " Said twice."),
        project=None,
    )  # fmt: skip
    assert isinstance(again, Remembered)
    assert again.applied.changes[0].item_id == memory_id
    owner = Rollback(use.database, use.hints)
    assert not isinstance(
        await owner.roll_back(again.applied.patch_id, use.user_id, "a test"), Refusal
    )


async def _versions(history: History, memory_id: int, use: Services) -> tuple[object, ...]:
    found = await history.versions(memory_id, use.user_id, private=True)
    assert not isinstance(found, Refusal)
    return found


async def test_private_words_stand_in_no_brief_mirror_graph_or_evidence(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    said = await use.say(SECRET)
    promise = await add(
        use, "Will call the biopsy lab.", kind=Kind.PROMISE, pinned=True, tags=("lab",)
    )
    other = await add(use, "The lab is in Basel.", tags=("lab",))
    await drain(cold_database, FakeEmbedder())
    graph = Graph(use.database)
    await graph.link(other, promise, EdgeKind.RELATED, 1.0, use.user_id)
    await query(
        cold_database, "UPDATE message_state SET pinned = true WHERE message_id = $1 RETURNING 1",
        said.id,
    )  # fmt: skip
    await _mark(owner_database, use, "message", said.id)
    await _mark(owner_database, use, "memory", promise)
    briefing = Briefing(use.database, ManualClock(NOON), zone=UTC)
    reader = Reader(use.user_id, "claude-code", None)
    for brief in (await briefing.startup(reader, days=3_650), await briefing.wake(reader)):
        assert "biopsy" not in brief.text
        assert (brief.counts["pinned"], brief.counts["promises"]) == (0, 0)
    mirror = Mirror(
        use.database,
        ManualClock(NOON),
        user_id=use.user_id,
        user="mara",
        zone=UTC,
        directory=None,
    )
    for private in (False, True):
        pages = await mirror.tags(private=private)
        assert not isinstance(pages, Refusal)
        assert [(entry.tag, entry.memories) for entry in pages.entries] == [("lab", 1 + private)]
    walk = await graph.walk(other, 2, 10, use.user_id)
    assert "biopsy" not in str(walk)
    cited = await add(use, "The lab is far.", evidence=(said.id,))
    assert cited not in await _found(use, "lab")


async def test_nothing_is_read_with_private_words_any_more(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """The turn after it was found by them; once it is public again, it is so again."""
    said = await use.say(SECRET, session="s")
    after = await use.say("That is a relief.", session="s")
    await drain(cold_database, FakeEmbedder())
    assert after.id in await _found(use, "biopsy")
    await _mark(owner_database, use, "message", said.id)
    await drain(cold_database, FakeEmbedder())
    assert await _found(use, "biopsy") == []
    await _mark(owner_database, use, "message", said.id, private=False)
    await drain(cold_database, FakeEmbedder())
    assert after.id in await _found(use, "biopsy")


async def test_only_the_owner_says_what_is_private_and_all_ids_must_fit(
    use: Services, owner_database: Database
) -> None:
    said = await use.say(SECRET)
    memory_id = await add(use)
    for kind, wrong in (("message", memory_id), ("memory", said.id), ("message", 2**63)):
        ids = (said.id, wrong) if kind == "message" else (wrong,)
        refusal = await _owner(owner_database).mark(kind, ids, use.user_id, private=True)
        assert isinstance(refusal, Refusal)
        assert refusal.details == {"unknown": [wrong]}
    assert not await value(owner_database, "SELECT bool_or(private) FROM message_state")
    with pytest.raises(ConfigurationError, match="OWNER_DATABASE_URL"):
        await _owner(use.database).mark("message", [said.id], use.user_id, private=True)
    views = await use.database.run(lambda c: messages.list_messages(c, [said.id], use.user_id))
    assert [view.private for view in views] == [False]


async def test_what_is_counted_is_what_is_shown(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """Hidden memories and messages count nowhere: not in status, wake, registry or reports."""
    held = await use.say("The bridge opens at nine.", cwd="/home/mara/harbor")
    secret = await use.say(SECRET, cwd="/home/mara/harbor")
    plain = await use.say("The bridge closes at ten.", cwd="/home/mara/harbor")
    await drain(cold_database, FakeEmbedder())
    for evidence, words in ((held, "opens"), (secret, "heals"), (plain, "closes")):
        fields = {"kind": Kind.PROMISE, "pinned": True, "evidence": (evidence.id,)}
        await add(use, f"The bridge {words} soon.", **fields)
        await add(use, f"It {words} on most days.", evidence=(evidence.id,))
    await use.say("Not screened yet.", cwd="/home/mara/harbor")
    await query(
        cold_database,
        "UPDATE message_state SET screening = 'quarantined' WHERE message_id = $1 RETURNING 1",
        held.id,
    )
    await _mark(owner_database, use, "message", secret.id)
    upkeep = Upkeep(use.database, ManualClock(NOON))
    counted = await upkeep.count(use.user_id)
    told = {name: counted.counts[name] for name in ("messages", "memories", "pinned", "unresolved")}
    assert told == {"messages": 2, "memories": 2, "pinned": 1, "unresolved": 1}
    assert sum(counted.kinds.values()) == 2
    assert await use.database.run(memories.count_memories) == 2
    wake = await Briefing(use.database, ManualClock(NOON), zone=UTC).wake(
        Reader(use.user_id, "claude-code", None)
    )
    assert (wake.counts["pinned"], wake.counts["promises"]) == (1, 1)
    [tag] = await use.database.run(registry.list_registry)
    assert (tag.name, tag.messages) == ("harbor", 1)
    pairs = await upkeep.find_duplicates(use.user_id, cosine=0.0, limit=50, before=None)
    assert pairs.looked_at == 2


async def _told(use: Services, text: str, *, subject: str = "health") -> tuple[int, int]:
    """The memory and the message that came of words told to remember."""
    done = await use.knowledge.remember(
        draft(text), use.user_id, Add(subject, text, Kind.FACT), project=None
    )
    assert isinstance(done, Remembered), done
    assert done.message_id is not None
    return done.applied.changes[0].item_id, done.message_id


async def _private(use: Services, *ids: int) -> list[int]:
    return list(await use.database.run(lambda c: privacy.list_private(c, ids)))


async def test_words_told_for_two_private_memories_wait_for_both(
    use: Services, owner_database: Database
) -> None:
    first, words = await _told(use, SECRET)
    other = (await applied(use, Add("lab", "The lab is kind."), evidence=(words,))).changes[0]
    await _mark(owner_database, use, "memory", first)
    await _mark(owner_database, use, "memory", other.item_id)
    done = await _mark(owner_database, use, "memory", other.item_id, private=False)
    assert (done.changed, done.told) == ((other.item_id,), ())
    assert (done.kept, done.memories) == ((words,), (other.item_id,))
    assert await _private(use, words) == [words]
    # Nor by itself, as long as a private memory says it.
    done = await _mark(owner_database, use, "message", words, private=False)
    assert (done.changed, done.kept) == ((), (words,))
    done = await _mark(owner_database, use, "memory", first, private=False)
    assert (done.changed, done.told, done.kept) == ((first,), (words,), ())
    assert await _private(use, words) == []


async def test_what_its_owner_hid_by_itself_stays_hidden(
    use: Services, owner_database: Database
) -> None:
    memory_id, words = await _told(use, SECRET)
    assert (await _mark(owner_database, use, "message", words)).changed == (words,)
    assert (await _mark(owner_database, use, "memory", memory_id)).told == ()
    done = await _mark(owner_database, use, "memory", memory_id, private=False)
    assert (done.changed, done.told, done.kept) == ((memory_id,), (), (words,))
    assert await _private(use, words) == [words]
    done = await _mark(owner_database, use, "message", words, private=False)
    assert (done.changed, done.kept) == ((words,), ())
    assert await _private(use, words) == []


async def test_a_private_memory_told_again_stays_private_with_the_new_words(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    memory_id, _ = await _told(use, SECRET)
    await _mark(owner_database, use, "memory", memory_id)
    again, words = await _told(use, SECRET.upper())
    assert again == memory_id
    assert await _private(use, words) == [words]
    await drain(cold_database, FakeEmbedder())
    assert await _found(use, "biopsy") == []
    await _mark(owner_database, use, "memory", memory_id, private=False)
    assert await _private(use, words) == []
    assert memory_id in await _found(use, "biopsy")


async def test_earlier_versions_on_private_words_are_not_told(
    use: Services, owner_database: Database
) -> None:
    said, public = await use.say(SECRET), await use.say("She is well.")
    first = await applied(use, Add("health", SECRET), evidence=(said.id,))
    memory_id = first.changes[0].item_id
    second = await applied(use, Update(memory_id, "She is well.", 1), evidence=(public.id,))
    third = await applied(use, Update(memory_id, "She is fine.", 2), evidence=(public.id,))
    await _mark(owner_database, use, "message", said.id)
    history = History(use.database)
    told = await history.versions(memory_id, use.user_id)
    assert not isinstance(told, Refusal)
    assert [version.version for version in told] == [2, 3]
    assert "biopsy" not in str(told)
    assert (told[0].diff, told[1].diff is None) == (None, False)
    for patch_id in (first.patch_id, second.patch_id):
        assert isinstance(await history.patch_view(patch_id, use.user_id), Refusal)
        assert not isinstance(
            await history.patch_view(patch_id, use.user_id, private=True), Refusal
        )
    assert [one.id for one in await history.list_patches(use.user_id)] == [third.patch_id]
    assert len(await _versions(history, memory_id, use)) == 3
    assert "biopsy" in str(await _versions(history, memory_id, use))


async def test_ids_of_private_items_are_as_good_as_none(
    use: Services, owner_database: Database
) -> None:
    said = await use.say(SECRET)
    memory_id, other = await add(use, SECRET), await add(use, "The lab is in Basel.")
    graph = Graph(use.database)
    await graph.link(other, memory_id, EdgeKind.RELATED, 1.0, use.user_id)
    citing = Citing(use.database)
    await citing.cite([memory_id], use.user_id, None)
    await _mark(owner_database, use, "message", said.id)
    await _mark(owner_database, use, "memory", memory_id)

    async def counted() -> tuple[int, int]:
        uses = await use.database.run(count_uses)
        return await use.database.run(lambda c: edges.count_edges(c, use.user_id)), uses.cited

    assert await counted() == (0, 0)
    gone = await graph.unlink(other, memory_id, None, use.user_id)
    assert isinstance(gone, Refusal)
    assert gone.code is Code.UNKNOWN_ITEM
    cited = await citing.cite([said.id, memory_id, other], use.user_id, None)
    assert isinstance(cited, Cited)
    assert (cited.cited, cited.unknown) == ({other: "memory"}, (said.id, memory_id))
    refusal = await refused(use, Add("lab", "It is far."), evidence=(said.id,))
    assert (refusal.code, refusal.details) == (Code.EVIDENCE_NOT_FOUND, {"missing": [said.id]})
    await _mark(owner_database, use, "memory", memory_id, private=False)
    assert await counted() == (1, 2)


async def test_a_page_on_private_words_is_shown_to_nobody_who_writes_it_anew(
    use: Services, owner_database: Database
) -> None:
    said, public = await use.say(SECRET), await use.say("Be kind.")
    pages = Profiles(use.database, use.intake, use.patching)
    kind = "persona.user"

    async def write(text: str, by: Author = AGENT, **options: Any) -> Written | Refusal:
        return await pages.write(use.user_id, kind, text, draft(""), by, **options)

    first = await write(SECRET, evidence=(said.id,), expected_version=0)
    assert isinstance(first, Written)
    assert first.patch_id is not None
    await _mark(owner_database, use, "message", said.id)
    history = History(use.database)
    assert isinstance(await history.patch_view(first.patch_id, use.user_id), Refusal)
    conflict = await write("Is well.", evidence=(public.id,), expected_version=0)
    assert isinstance(conflict, Refusal)
    assert conflict.code is Code.VERSION_CONFLICT
    page = (await pages.list(use.user_id))[kind]
    for refusal in (conflict, unseen(kind, page)):
        assert "biopsy" not in str(refusal)
        assert (refusal.details["version"], "current" in refusal.details) == (1, False)
    # The same words may be said on other grounds.
    same = await write(SECRET, evidence=(public.id,), expected_version=1)
    assert isinstance(same, Written)
    assert (same.version, same.diff.count("biopsy")) == (2, 1)
    assert same.patch_id is not None
    assert isinstance(await history.patch_view(same.patch_id, use.user_id), Refusal)
    await _mark(owner_database, use, "message", public.id)
    done = await write("Is well.", expected_version=2)
    assert isinstance(done, Written)
    assert "biopsy" not in done.diff
    assert "+Is well." in done.diff
    assert isinstance(await history.patch_view(done.patch_id or 0, use.user_id), Refusal)
    by_owner = await write("Is very well.", by=OWNER)
    assert isinstance(by_owner, Written)
    assert not isinstance(await history.patch_view(by_owner.patch_id or 0, use.user_id), Refusal)
