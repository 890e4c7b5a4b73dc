"""What was erased is nowhere: a dump of the pool is searched for it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from agents_memory.domain import admission
from agents_memory.domain.errors import Code, Deposed, Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.lexical import analyse
from agents_memory.domain.memories import Kind, same_key
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import (
    Add,
    Applied,
    Operation,
    PatchRequest,
    Remove,
    Retag,
    Supersede,
    Support,
    Update,
    WriteProfile,
)
from agents_memory.domain.reading import Reading
from agents_memory.domain.redaction import Redacted
from agents_memory.services import intake
from agents_memory.services.erasure import Report
from agents_memory.services.knowledge import Remembered
from agents_memory.services.recall import RecallRequest
from agents_memory.services.redacting import Redacting
from agents_memory.services.rollback import Rollback
from agents_memory.storage import rebuilding
from agents_memory.storage.connections import Database
from agents_memory.storage.tombstones import KnownTombstones
from agents_memory.storage.vectors import digest
from tests.factories import Services, draft, services
from tests.fakes import ManualClock
from tests.integration.cold_daemons import LIMIT_S, FakeEmbedder, drain, query, value
from tests.integration.dumps import dump, quoted
from tests.integration.patches import check_diffs


async def _patch(use: Services, *operations: Operation, evidence: int, reason: str = "why") -> int:
    request = PatchRequest(use.user_id, "agent", "test", reason, operations, (evidence,))
    applied = await use.patching.apply(request)
    assert isinstance(applied, Applied), applied
    return applied.changes[0].item_id


async def _erase(owner: Database, words: str, *, run: bool = True) -> Report:
    report = await Redacting(owner).erase_words(words, run=run)
    assert isinstance(report, Report), report
    return report


@pytest.mark.parametrize(
    ("words", "elsewhere"),
    [
        ("Purple Walrus", "a walrus that is purple, and walruses"),
        ("periwinkle", "the winkle is at peril"),
        ("秘密暗号", "これは秘密です。暗号もある"),
        ("سر الخزنة", "السرير في الخزنة"),
        ("Тайный Барсук", "Тайна барсука"),
    ],
)
async def test_erased_words_are_in_no_dump(
    use: Services, cold_database: Database, owner_database: Database, words: str, elsewhere: str
) -> None:
    """F109: text, history, quotes, tags, labels, reasons, diffs, statistics: everywhere."""
    split = words.replace(" ", "\n ")
    said = await use.say(
        f"I tell you: {split}! And {words.upper()} again.", cwd=f"/home/x/{words}/y",
        session=f"{words}-1", venue=f"slack:{words}", native_id=f"{words}-7", source="s",
        store_id="t",
    )  # fmt: skip
    again = await use.say(f"So {words} it is, they said.", session=f"{words}-1")
    await use.say(json.dumps({"code": words, "path": f"a/{words}/b"}))
    await use.say("an answer to all of it", session=f"{words}-1")
    other = await use.say(elsewhere)
    memory = await _patch(
        use, Add(f"code {words}", f"It is {split}.", tags=(words, "code"), attribute=words),
        evidence=said.id, reason=f"they said {words}",
    )  # fmt: skip
    await _patch(use, Update(memory, f"It is {words}, surely."), evidence=again.id)
    await _patch(use, Supersede(memory, f"It was {words}; now it is another."), evidence=said.id)
    await _patch(use, Retag(memory, ("code", words)), evidence=said.id)
    gone = await _patch(use, Add("old", f"Once {words}."), evidence=said.id)
    await _patch(use, Remove(gone), evidence=said.id)
    await _patch(use, WriteProfile("sub", f"Likes {words}."), evidence=said.id)
    await _patch(use, WriteProfile("sub", "Likes it.\nNothing else."), evidence=said.id)
    await drain(cold_database, FakeEmbedder())
    await owner_database.run(
        lambda c: c.execute(
            "UPDATE sources SET quote = $1 WHERE item_id = $2", f"… {words} …", memory
        )
    )
    async with owner_database.acquire() as connection:
        await connection.execute(
            "UPDATE message_results SET detail = $1 WHERE stage = 'tag'",
            {"note": [words], "more": {"at": words}},
        )
        await connection.execute(
            "UPDATE project_tags SET name = 'renamed' || id, description = $1", f"of {words}"
        )
        await connection.execute(
            "INSERT INTO captures VALUES ('laptop', 'claude-code', $1, now())", f"{words}-1"
        )
        await connection.execute(
            "INSERT INTO work (item_id, stage, parked_reason) VALUES ($1, 'x', $2)", said.id, words
        )

        await connection.execute("ANALYZE")
    assert words in await quoted(owner_database)

    rehearsed = await _erase(owner_database, words, run=False)
    assert not rehearsed.ran
    assert words in await dump(owner_database)
    report = await _erase(owner_database, f"  {words.lower()}\n")
    assert report == replace(rehearsed, ran=True)
    await owner_database.run(lambda c: c.execute("DELETE FROM work WHERE stage = 'x'"))
    noted = (await quoted(owner_database)).casefold()
    assert words.casefold() not in noted
    for lexeme in analyse(words).terms.keys() - analyse(elsewhere).terms.keys():
        assert lexeme not in noted.replace(",", "{").split("{")
    await drain(cold_database, FakeEmbedder())

    text = await dump(owner_database)
    folded = text.casefold()
    assert words.casefold() not in folded
    assert split.replace("\n", "\\n").casefold() not in folded
    kept = analyse(elsewhere).terms
    for lexeme in analyse(words).terms.keys() - kept.keys():
        assert f"'{lexeme}'" not in text
        assert f"\n{lexeme}\t" not in text
    # Nothing else was damaged, and everything works on.
    assert elsewhere in text
    assert await value(owner_database, "SELECT count(*) FROM work") == 0
    await check_diffs(use, memory)
    await check_diffs(use, gone)
    model_rows = await query(owner_database, "SELECT message_id FROM message_vectors_1")
    assert other.id in {row["message_id"] for row in model_rows}
    assert said.id in {row["message_id"] for row in model_rows}
    again_later = await _erase(owner_database, words)
    assert again_later.changed == {}


async def test_a_name_that_others_refer_to_is_reported_and_left(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    await use.say("something", project_hint="walrus")
    await drain(cold_database, FakeEmbedder())
    report = await _erase(owner_database, "walrus")
    assert report.left == {"project_tags.name": 1}


async def test_a_patch_of_before_operations_had_diffs_is_computed_anew_too(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said")
    memory = await _patch(use, Add("pet", "called walrus\nand fed"), evidence=said.id)
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE patches SET diff = (SELECT diff FROM patch_operations)")
        await connection.execute("UPDATE patch_operations SET diff = NULL")
    await _erase(owner_database, "walrus")
    [row] = await query(
        owner_database, "SELECT p.diff, o.diff AS own FROM patches p, patch_operations o"
    )
    assert row["own"] is None
    assert f"+++ b/memory/{memory}" in row["diff"]
    assert "+called [redacted]\n+and fed" in row["diff"]


async def test_a_running_process_knows_within_a_minute(
    use: Services, hot_database: Database, owner_database: Database
) -> None:
    clock = ManualClock()
    known = KnownTombstones(clock)
    assert not await hot_database.run(known.now)
    await _erase(owner_database, "walrus")
    assert not await hot_database.run(known.now)
    clock.advance(60)
    assert (await hot_database.run(known.now)).spans("a walrus") == [(2, 8)]


async def test_other_forms_of_a_word_are_left_and_told(
    use: Services, owner_database: Database
) -> None:
    await use.say("one walrus")
    form = await use.say("two walruses")
    joined = await use.say("see walrusServer")
    report = await _erase(owner_database, "walrus")
    assert report.kin == (joined.id, form.id)


async def test_erased_words_never_come_in_again(
    use: Services, owner_database: Database, hot_database: Database
) -> None:
    """Later drains and imports respect it, under any id and in any label."""
    await _erase(owner_database, "Purple Walrus")
    later = await use.say("the purple\nwalrus is back", cwd="/x/purple walrus")
    [row] = await query(
        hot_database, "SELECT message, cwd, lexemes::text FROM messages WHERE id = $1", later.id
    )
    assert row["message"] == "the [redacted] is back"
    assert row["cwd"] == "/x/[redacted]"
    assert "walrus" not in row["lexemes"]


async def test_erased_words_come_back_in_no_patch(use: Services, owner_database: Database) -> None:
    """An agent that was told them before still has them."""
    await _erase(owner_database, "Purple Walrus")
    told = await use.knowledge.add_memory(
        draft("Watch the purple walrus.", trust=Trust.AGENT),
        use.user_id,
        kind=Kind.NOTE,
        subject="purple walrus",
        project=None,
    )
    assert isinstance(told, Remembered)
    await use.knowledge.write_profile("Likes a purple walrus.", use.user_id)
    assert "walrus" not in await dump(owner_database)


async def test_a_turn_with_a_struck_id_stays_a_turn_that_is_known(
    use: Services, owner_database: Database
) -> None:
    identity = {"source": "files", "store_id": "any", "native_id": "walrus-1"}
    first = await use.say("hello there", **identity)
    await _erase(owner_database, "walrus")
    later = await services(use.database)
    second = await later.say("hello there", **identity)
    await later.close()
    assert second.id == first.id
    assert second.duplicate


async def test_what_slipped_in_is_struck_before_anything_reads_it(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """A process learns of a tombstone within a minute; the daemon looks at once."""
    await use.say("an early turn, so that this process knows of no tombstone")
    await _erase(owner_database, "Purple Walrus")
    slipped = await use.say("see the purple walrus run", session="purple walrus")
    async with owner_database.acquire() as connection:
        assert "walrus" in await connection.fetchval(
            "SELECT message FROM messages WHERE id = $1", slipped.id
        )
    await drain(cold_database, FakeEmbedder())
    assert "walrus" not in await dump(owner_database)
    [row] = await query(owner_database, "SELECT message FROM messages WHERE id = $1", slipped.id)
    assert row["message"] == "see the [redacted] run"


async def test_what_the_daemon_had_in_its_hands_is_not_written(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """A vector that was worked out of the older words never reaches its table."""
    said = await use.say("see the purple walrus run")
    embedder = FakeEmbedder()
    embedder.gate.clear()
    term = asyncio.create_task(drain(cold_database, embedder))
    await embedder.reached.wait()
    await _erase(owner_database, "Purple Walrus")
    embedder.gate.set()
    with pytest.raises(Deposed):
        await term
    assert await value(owner_database, "SELECT count(*) FROM message_vectors_1") == 0
    await drain(cold_database, FakeEmbedder())
    [row] = await query(owner_database, "SELECT message_id, content_hash FROM message_vectors_1")
    assert row == {"message_id": said.id, "content_hash": digest("see the [redacted] run")}


async def test_turns_are_stored_while_the_owner_erases(
    use: Services, owner_database: Database
) -> None:
    """Only patches and the daemon wait; a rehearsal lets nobody wait."""
    await use.say("the purple walrus")
    erasing = Redacting(owner_database)
    stored: list[int] = []
    finish = rebuilding.drop_lexemes

    async def meanwhile(*arguments: Any) -> int:
        async with asyncio.timeout(LIMIT_S):
            stored.append((await use.say("something else")).id)
        return await finish(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rebuilding, "drop_lexemes", meanwhile)
        await erasing.erase_words("purple walrus", run=False)
        await erasing.erase_words("purple walrus", run=True)
    assert len(set(stored)) == 2


async def test_the_daemon_can_strike_only_what_nobody_screened(
    use: Services, cold_database: Database
) -> None:
    """F13: it takes words out, never puts others in, and not from older evidence."""
    said = await use.say("plain words")
    await drain(cold_database, FakeEmbedder())
    async with cold_database.acquire() as connection:
        assert not await connection.fetchval(
            "SELECT strike_message($1, '{1}', '{5}', '{}', '', 0)", said.id
        )
        assert (
            await connection.fetchval("SELECT message FROM messages WHERE id = $1", said.id)
            == "plain words"
        )


async def test_an_erased_message_leaves_its_place_and_takes_what_rests_on_it(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    identity = {"source": "files", "store_id": "any", "native_id": "7"}
    text = "the periwinkle vault opens at noon"
    said = await use.say(text, **identity)
    other = await use.say("an unrelated message of the same day")
    alone = await _patch(use, Add("vault", "periwinkle at noon"), evidence=said.id)
    both = await _patch(use, Add("day", "it was a fine day"), evidence=other.id)
    await _patch(use, WriteProfile("sub", "Has a vault."), evidence=said.id)
    await drain(cold_database, FakeEmbedder())
    report = await Redacting(owner_database).erase_message(said.id, run=True)
    assert isinstance(report, Report)
    assert report.removed == (alone,)
    assert len(report.documents) == 1
    await drain(cold_database, FakeEmbedder())
    everything = await dump(owner_database)
    assert "periwinkl" not in everything
    assert "it was a fine day" in everything
    await check_diffs(use, alone)
    await check_diffs(use, both)
    assert (await use.say(text, **identity)).id == said.id
    copy = await use.say(text.upper(), native_id="8", source="files", store_id="any")
    await drain(cold_database, FakeEmbedder())
    rows = await query(
        owner_database,
        "SELECT message, screening FROM messages JOIN message_state ON message_id = id "
        "WHERE id = ANY ($1)",
        [said.id, copy.id],
    )
    assert rows == [{"message": "[redacted]", "screening": "quarantined"}] * 2


@pytest.mark.parametrize("second", ["the periwinkle vault opens at noon", "so: periwinkle, noon"])
async def test_what_rests_on_erased_messages_only_is_erased_with_the_last_of_them(
    second: str, use: Services, cold_database: Database, owner_database: Database
) -> None:
    """F109: a second evidence that was erased before holds nothing up."""
    said = [await use.say("the periwinkle vault opens at noon"), await use.say(second)]
    await drain(cold_database, FakeEmbedder())
    memory = await _patch(use, Add("vault", "periwinkle at noon"), evidence=said[0].id)
    await _patch(use, Support(memory), evidence=said[1].id)
    first = await Redacting(owner_database).erase_message(said[0].id, run=True)
    assert isinstance(first, Report)
    assert first.removed == ()
    last = await Redacting(owner_database).erase_message(said[1].id, run=True)
    assert isinstance(last, Report)
    assert (last.removed, last.already) == ((memory,), False)
    await drain(cold_database, FakeEmbedder())
    assert "periwinkl" not in await dump(owner_database)
    await check_diffs(use, memory)


async def test_a_copy_that_screening_strikes_holds_up_no_memory(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """F109: it says the very same and nobody screened it yet."""
    said = [await use.say("the periwinkle vault opens at noon") for _ in range(2)]
    memory = await _patch(use, Add("vault", "periwinkle at noon"), evidence=said[0].id)
    await _patch(use, Support(memory), evidence=said[1].id)
    report = await Redacting(owner_database).erase_message(said[0].id, run=True)
    assert isinstance(report, Report)
    assert report.removed == (memory,)
    await drain(cold_database, FakeEmbedder())
    assert "periwinkl" not in await dump(owner_database)


async def test_an_erased_memory_takes_its_versions_and_what_was_told_for_it(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    told = await use.knowledge.add_memory(
        draft("The vault code word is periwinkle.", trust=Trust.AGENT),
        use.user_id,
        kind=Kind.NOTE,
        subject="vault",
        project=None,
    )
    assert isinstance(told, Remembered)
    memory = told.applied.changes[0].item_id
    await drain(cold_database, FakeEmbedder())
    report = await Redacting(owner_database).erase_memory(memory, run=True)
    assert isinstance(report, Report)
    assert report.removed == (memory,)
    await drain(cold_database, FakeEmbedder())
    assert "periwinkl" not in await dump(owner_database)
    await check_diffs(use, memory)


async def test_memories_that_become_the_same_collapse_into_the_oldest(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said")
    first = await _patch(use, Add("pet", "called walrus"), evidence=said.id)
    second = await _patch(use, Add("pet", "called Walrus, walrus"), evidence=said.id)
    third = await _patch(use, Add("pet", "called [redacted]"), evidence=said.id)
    report = await _erase(owner_database, "walrus")
    assert report.removed == (first,)
    await check_diffs(use, first)
    rows = await query(
        owner_database, "SELECT id, subject, content, content_key, status FROM memories"
    )
    assert {row["id"]: row["status"] for row in rows} == {
        first: "removed",
        second: "active",
        third: "active",
    }
    assert all(row["content_key"] == same_key(row["subject"], row["content"]) for row in rows)


async def test_no_erased_word_comes_back_by_a_key_a_platform_or_the_reason_of_a_rollback(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said")
    memory = await _patch(use, Add("pet", "a cat"), evidence=said.id)
    patch = await value(owner_database, "SELECT min(id) FROM patches")
    await _erase(owner_database, "walrus")
    later = await services(use.database)
    request = PatchRequest(
        use.user_id, "agent", "test", "why", (Update(memory, "a dog"),), (said.id,),
        idempotency_key="walrus-1", platform="walrus app",
    )  # fmt: skip
    done = await later.patching.apply(request)
    added = await later.patching.apply(
        replace(request, operations=(Add("pet", "a hen"),), idempotency_key="walrus-2")
    )
    assert isinstance(done, Applied)
    assert isinstance(added, Applied)
    for number in (done.patch_id, patch):
        back = await Rollback(use.database, use.hints).roll_back(
            number, use.user_id, "the walrus again"
        )
        assert isinstance(back, Applied)
    assert "walrus" not in await dump(owner_database)
    assert await later.patching.apply(request) == replace(done, replayed=True)
    await later.close()


async def test_an_answer_lost_before_an_erasure_is_found_by_its_key_after_it(
    use: Services, owner_database: Database
) -> None:
    """Key and words were erased since, one after the other; the same request makes nothing new."""
    said = await use.say("something said")
    request = PatchRequest(
        use.user_id, "agent", "test", "the walrus said so", (Add("pet", "A walrus, not a seal."),),
        (said.id,), idempotency_key="seal-and-walrus",
    )  # fmt: skip
    done = await use.patching.apply(request)
    assert isinstance(done, Applied)
    await _erase(owner_database, "walrus")
    await _erase(owner_database, "seal")
    later = await services(use.database)
    again = await later.patching.apply(request)
    assert isinstance(again, Applied), again
    assert (again.patch_id, again.replayed) == (done.patch_id, True)
    assert await value(owner_database, "SELECT count(*) FROM memories") == 1
    await later.close()


async def test_a_key_that_holds_an_erased_memory_goes_and_is_known_still(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said")
    words = "the vault opens at noon"
    request = PatchRequest(
        use.user_id, "agent", "test", "why", (Add("vault", words),), (said.id,),
        idempotency_key=words,
    )  # fmt: skip
    done = await use.patching.apply(request)
    assert isinstance(done, Applied)
    await Redacting(owner_database).erase_memory(done.changes[0].item_id, run=True)
    assert "vault" not in await dump(owner_database)
    later = await services(use.database)
    again = await later.patching.apply(request)
    assert isinstance(again, Applied), again
    assert again.replayed
    await later.close()


async def test_an_erased_memory_is_not_written_again_word_for_word(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said")
    long = await _patch(use, Add("vault", "The vault opens at noon."), evidence=said.id)
    await _patch(use, Update(long, "The vault opens at one."), evidence=said.id)
    short = await _patch(use, Add("vault", "At noon."), evidence=said.id)
    other = await _patch(use, Add("pet", "a cat"), evidence=said.id)
    redacting = Redacting(owner_database)
    first = await redacting.erase_memory(long, run=True)
    second = await redacting.erase_memory(short, run=True)
    assert isinstance(first, Report)
    assert isinstance(second, Report)
    assert (first.kept_out, second.kept_out) == (True, False)
    later = await services(use.database)
    for operation in (
        Add("vault", "the vault OPENS at noon"),
        Add("other", "The vault opens at one."),
        Update(other, "The vault opens at noon."),
        Add("vault", "at noon!"),
    ):
        refused = await later.patching.apply(
            PatchRequest(use.user_id, "agent", "test", "why", (operation,), (said.id,))
        )
        assert isinstance(refused, Refusal), operation
        assert refused.code is Code.INVALID_INPUT
    await later.close()


async def test_reasons_of_patches_that_did_something_else_too_are_named(
    use: Services, owner_database: Database
) -> None:
    said = await use.say("something said about the vault and noon")
    request = PatchRequest(
        use.user_id, "agent", "test", "the vault and the cat",
        (Add("vault", "It opens at noon, I hear."), Add("pet", "a cat")), (said.id,),
    )  # fmt: skip
    done = await use.patching.apply(request)
    assert isinstance(done, Applied)
    report = await Redacting(owner_database).erase_memory(done.changes[0].item_id, run=True)
    assert isinstance(report, Report)
    assert report.reasons == (done.patch_id,)


async def test_what_was_erased_already_is_said_to_be(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    said = await use.say("the periwinkle vault opens at noon", session="s")
    await use.say("and closes", session="s")
    memory = await _patch(use, Add("vault", "periwinkle at noon it is"), evidence=said.id)
    await drain(cold_database, FakeEmbedder())
    redacting = Redacting(owner_database)
    for erase, number in ((redacting.erase_message, said.id), (redacting.erase_memory, memory)):
        first = await erase(number, run=True)
        await drain(cold_database, FakeEmbedder())
        again = await erase(number, run=True)
        assert isinstance(first, Report)
        assert isinstance(again, Report)
        assert (again.changed, again.already, again.kept_out) == ({}, True, True)


async def test_the_words_of_this_program_stay_what_they_are(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """Told words are hidden, doubles are found and keys are known, whatever words were erased."""
    captured = {"source": "claude-code", "store_id": "any", "native_id": "7"}
    first = await use.say("hello there", **captured)
    await use.say("Zanzifax agent", platform="claude code")
    told = await use.knowledge.add_memory(
        draft("The harbour is deep and cold.", trust=Trust.AGENT), use.user_id,
        kind=Kind.NOTE, subject=None, project=None,
    )  # fmt: skip
    assert isinstance(told, Remembered)
    memory = told.applied.changes[0].item_id
    request = PatchRequest(
        use.user_id, "agent", "memory_apply", "why", (Add("pet", "a cat"),), (first.id,),
        idempotency_key="one", platform="claude-code",
    )  # fmt: skip
    patched = await use.patching.apply(request)
    assert isinstance(patched, Applied)
    await drain(cold_database, FakeEmbedder())
    ours = (
        "SELECT array_agg(row(source, store_id) ORDER BY id) FROM messages WHERE source <> ''",
        "SELECT array_agg(DISTINCT platform) FROM memories",
        "SELECT array_agg(row(scope, subject) ORDER BY id) FROM memories",
        "SELECT array_agg(row(actor, tool) ORDER BY id) FROM patches",
        "SELECT array_agg(detail ORDER BY message_id, stage) FROM message_results "
        "WHERE detail = '{}' OR detail ? 'reasons'",
    )
    before = [await value(owner_database, sql) for sql in ours]
    for words in ("manage knowledge", "default", "agent", "reasons", "claude code", "d", "user"):
        report = await _erase(owner_database, words)
        if words in ("manage knowledge", "default", "reasons", "d", "user"):
            assert report.changed == {}, words
        assert "patch_operations.diff" not in report.changed, words
    assert [await value(owner_database, sql) for sql in ours] == before
    assert (
        await value(owner_database, "SELECT count(*) FROM messages WHERE platform LIKE '[%'") == 1
    )
    later = await services(use.database)
    assert (await later.say("hello there", **captured)).id == first.id
    assert await later.patching.apply(request) == replace(patched, replayed=True)
    again = await later.knowledge.add_memory(
        draft("The harbour is deep and cold.", trust=Trust.AGENT), use.user_id,
        kind=Kind.NOTE, subject=None, project=None,
    )  # fmt: skip
    assert isinstance(again, Remembered)
    assert again.applied.changes[0].item_id == memory
    await later.knowledge.remove_memory(use.user_id, memory, None)
    recall = later.recall(embedder=None)
    found = await recall.search(RecallRequest("harbour deep cold", Filters(use.user_id)))
    await recall.close()
    assert found.items == ()
    await later.close()


async def test_what_names_nothing_is_refused(owner_database: Database) -> None:
    redacting = Redacting(owner_database)
    for outcome, code in (
        (await redacting.erase_words(" …! ", run=True), Code.INVALID_INPUT),
        (await redacting.erase_words("[redacted]", run=True), Code.INVALID_INPUT),
        (await redacting.erase_words("wal\0rus", run=True), Code.INVALID_INPUT),
        (await redacting.erase_words("walr\ufffds", run=True), Code.INVALID_INPUT),
        (await redacting.erase_words("walr\udce9s", run=True), Code.INVALID_INPUT),
        (await redacting.erase_message(999, run=True), Code.UNKNOWN_ITEM),
        (await redacting.erase_message(2**70, run=True), Code.UNKNOWN_ITEM),
        (await redacting.erase_memory(999, run=True), Code.UNKNOWN_MEMORY),
    ):
        assert isinstance(outcome, Refusal)
        assert outcome.code is code


TOKEN = "ghp_" + "aB3dE5gH7j" * 3 + "kL9mN1"
PASSWORD = "Tr0ub4dor&3"


def _without_rules(text: str) -> Redacted:
    return Redacted(text, {})


def _read_without_rules(text: str) -> Reading:
    return Reading(text, {}, analyse(text))


async def _stored_before_the_rules(use: Services) -> tuple[int, int, int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "redact", _without_rules)
        patch.setattr(intake, "read", _read_without_rules)
        patch.setattr(admission, "redact", _without_rules)
        said = await use.say(
            f"Deploy with {TOKEN}, the database password is {PASSWORD}.", cwd=f"/tmp/{TOKEN}/x",
            session=f"s-{TOKEN}", native_id=f"n-{TOKEN}", source="s", store_id="t",
        )  # fmt: skip
        twin = await use.say("and this is fine", session=f"s-{TOKEN}")
        memory = await _patch(
            use, Add("deploy", f"The token is {TOKEN}.", tags=("deploy",)), evidence=said.id,
            reason=f"they said {TOKEN}",
        )  # fmt: skip
        await _patch(use, Update(memory, f"The database password is {PASSWORD}."), evidence=said.id)
        await _patch(use, WriteProfile("sub", f"Deploys with {TOKEN}."), evidence=said.id)
    return said.id, twin.id, memory


async def test_a_scan_takes_out_secrets_that_are_older_than_their_rules(
    use: Services, cold_database: Database, owner_database: Database
) -> None:
    """F108, F109: messages, labels, memories with their history, profiles, reasons and vectors."""
    said, twin, memory = await _stored_before_the_rules(use)
    await use.say("nothing of that sort: commit 4f2a9c1e77, see auth/views2.py")
    await drain(cold_database, FakeEmbedder())
    assert TOKEN in await dump(owner_database)

    rehearsed = await Redacting(owner_database).erase_secrets(run=False)
    assert isinstance(rehearsed, Report)
    assert not rehearsed.ran
    assert set(rehearsed.kinds) == {"github_token", "password"}
    assert rehearsed.changed["messages.message"] == 1
    assert rehearsed.changed["memories.content"] == 1
    assert rehearsed.changed["profile_versions.content"] == 1
    for secret in (TOKEN, PASSWORD):
        assert secret not in repr(rehearsed)
    assert TOKEN in await dump(owner_database)

    report = await Redacting(owner_database).erase_secrets(run=True)
    assert report == replace(rehearsed, ran=True)
    await drain(cold_database, FakeEmbedder())
    text = (await dump(owner_database)) + (await quoted(owner_database))
    for secret in (TOKEN, PASSWORD):
        assert secret.casefold() not in text.casefold()
    await check_diffs(use, memory)
    rows = await query(
        owner_database, "SELECT id, message, session, cwd FROM messages ORDER BY id LIMIT 2"
    )
    assert rows[0]["message"] == (
        "Deploy with [redacted:github_token], the database password is [redacted:password]."
    )
    assert rows[0]["cwd"] == "/tmp/[redacted:github_token]/x"
    assert [row["id"] for row in rows] == [said, twin]
    assert rows[0]["session"] == rows[1]["session"]
    again = await Redacting(owner_database).erase_secrets(run=True)
    assert isinstance(again, Report)
    assert (again.changed, again.kinds) == ({}, {})


async def test_names_that_held_different_secrets_stay_different(
    use: Services, owner_database: Database
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "redact", _without_rules)
        patch.setattr(intake, "read", _read_without_rules)
        for end in "23":
            await use.say(f"turn {end}", source="s", store_id="t", native_id=TOKEN[:-1] + end)
    report = await Redacting(owner_database).erase_secrets(run=True)
    assert isinstance(report, Report)
    rows = await query(owner_database, "SELECT native_id FROM messages")
    assert len({row["native_id"] for row in rows}) == 2
    assert all(row["native_id"].startswith("[redacted:github_token]#") for row in rows)
