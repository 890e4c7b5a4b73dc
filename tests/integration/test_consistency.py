"""`doctor --deep`: a pool with a history is sound, and each corruption is found and named."""

from pathlib import Path

import pytest

from agents_memory.domain.patches import (
    Applied,
    Pin,
    Remove,
    Replace,
    Resolve,
    Retag,
    Supersede,
    Support,
    Update,
    WriteProfile,
)
from agents_memory.embedding.profiles import HASHING
from agents_memory.services import consistency
from agents_memory.services.consistency import Finding
from agents_memory.services.diagnosis import Diagnosis
from agents_memory.services.diagnosis.check import Outcome
from agents_memory.services.erasure import Report
from agents_memory.services.redacting import Redacting
from agents_memory.services.rollback import Rollback
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from tests.conftest import Pool
from tests.factories import Services
from tests.integration.cold_daemons import FakeEmbedder, drain
from tests.integration.patches import add, applied


async def examined(database: Database) -> dict[str, Finding]:
    """As the hot role, like the doctor."""
    async with database.snapshot() as connection:
        profiles = {HASHING.id: HASHING}
        return {one.name: one async for one in consistency.examine(connection, profiles)}


async def broken(database: Database) -> dict[str, str]:
    return {name: one.detail for name, one in (await examined(database)).items() if one.fix}


@pytest.fixture
async def history(use: Services, cold_database: Database, owner_database: Database) -> list[int]:
    """Four memories after everything that can become of one: active, removed, replaced, erased."""
    said = await use.say("Deploys happen on Tuesdays, and Anouk keeps the keys.")
    await use.say("And the port? " + "It is 5432, as I said. " * 200)
    kept = await add(use, "Deploys happen\non Tuesdays.", evidence=(said.id,), tags=("ops",))
    gone = await add(use, "The port is 5432.")
    loser = await add(use, "Anouk keeps the keys of the boathouse.")
    winner = await add(use, "Anouk keeps the keys.", evidence=(said.id,))
    await applied(use, Update(kept, "Deploys happen\non Wednesdays."), evidence=(said.id,))
    await applied(use, Supersede(kept, "Deploys happen daily."), Pin(kept), Retag(kept, ("a", "b")))
    wrong = await applied(use, Resolve(kept), Pin(kept, pinned=False))
    assert isinstance(
        await Rollback(use.database, use.hints).roll_back(wrong.patch_id, use.user_id, "no"),
        Applied,
    )
    await applied(use, Support(winner), evidence=(said.id,))
    await applied(use, Remove(gone))
    await applied(use, Replace(loser, winner, merge=True))
    await applied(use, WriteProfile("sub", "Works on harbor."))
    await applied(use, WriteProfile("sub", "Works on harbor.\nWith Anouk."))
    await drain(cold_database, FakeEmbedder())
    assert isinstance(await Redacting(owner_database).erase_words("boathouse", run=True), Report)
    await drain(cold_database, FakeEmbedder())
    return [kept, gone, loser, winner]


async def test_a_pool_with_a_history_is_sound(
    history: list[int], hot_database: Database, cold_database: Database
) -> None:
    found = await examined(hot_database)
    assert {name: one.detail for name, one in found.items() if one.fix} == {}
    assert list(found) == [
        "message_state", "versions", "diffs", "profiles", "evidence", "superseded", "contexts",
        "archive", "edges", "vectors",
    ]  # fmt: skip
    assert found["superseded"].detail == "1 memories that gave way"
    assert found["vectors"].detail == f"{HASHING.id}, 4 texts compared"


UNTIE = (
    "ALTER TABLE sources DROP CONSTRAINT sources_message_id_fkey",
    "ALTER TABLE message_context DROP CONSTRAINT message_context_message_id_fkey",
    "ALTER TABLE memories DROP CONSTRAINT memories_superseded_by_fkey",
)


@pytest.mark.parametrize(
    ("corruption", "name", "words"),
    [
        (
            "DELETE FROM message_state WHERE message_id = (SELECT max(id) FROM messages)",
            "message_state",
            "1 messages have no state",
        ),
        (
            "DELETE FROM memory_versions WHERE memory_id = {kept} AND version = 2",
            "versions",
            "1 memories lack versions: {kept}",
        ),
        (
            "UPDATE memories SET importance = 9 WHERE id = {kept}",
            "versions",
            "1 memories differ from their last version: {kept}",
        ),
        (
            "DELETE FROM patch_operations WHERE item_id = {gone} AND to_version = 2",
            "versions",
            "1 items have a version that no patch made: {gone}",
        ),
        (
            "UPDATE patch_operations SET from_version = 7 "
            "WHERE item_id = {gone} AND to_version = 2",
            "versions",
            "1 patches say they made a version",
        ),
        (
            "UPDATE memory_versions SET content = 'No.' WHERE memory_id = {kept} AND version = 2",
            "diffs",
            "1 memories have a diff that does not lead from a version to the next: {kept}",
        ),
        (
            "UPDATE patch_operations SET diff = 'x' WHERE item_id = {winner} AND to_version = 1",
            "diffs",
            "1 memories have a diff that does not lead from a version to the next: {winner}",
        ),
        (
            "UPDATE memories SET content_key = '\\x00' WHERE id = {winner}",
            "diffs",
            "1 memories are known by the key of other words: {winner}",
        ),
        (
            "INSERT INTO edges (user_id, from_id, to_id, kind, weight) "
            "SELECT user_id, id, 999999, 'related', 1 FROM memories WHERE id = {kept}",
            "edges",
            "1 items are linked with one that is not there or another user's: {kept}",
        ),
        ("UPDATE profiles SET content = 'x'", "profiles", "1 profiles lack versions or differ"),
        (
            "UPDATE profile_versions SET content = 'x' WHERE version = 1",
            "profiles",
            "1 profiles have a diff that does not lead",
        ),
        (
            "UPDATE patch_operations SET evidence = '{{999999}}' WHERE item_id = {winner}",
            "evidence",
            "3 patches cite a message that is not there",
        ),
        (
            "UPDATE sources SET message_id = 999999 WHERE item_id = {winner}",
            "evidence",
            "1 items rest on a message that is not there or another user's: {winner}",
        ),
        (
            "WITH u AS (INSERT INTO users (name) VALUES ('ben') RETURNING id) UPDATE messages "
            "SET user_id = u.id FROM u WHERE messages.id = (SELECT min(id) FROM messages)",
            "evidence",
            "3 items rest on a message that is not there or another user's",
        ),
        (
            "UPDATE memories SET superseded_by = 999999 WHERE id = {loser}",
            "superseded",
            "1 memories gave way to none: {loser}",
        ),
        (
            "UPDATE memories SET superseded_by = {loser} WHERE id = {winner}",
            "superseded",
            "2 memories gave way to themselves: {loser}, {winner}",
        ),
        (
            "INSERT INTO message_context VALUES (999999, NULL, '', 0)",
            "contexts",
            "1 contexts belong to nothing: 999999",
        ),
        (
            "UPDATE message_state SET archived_at = now()",
            "archive",
            "archived messages have no summary",
        ),
        (
            "UPDATE message_state SET screening = 'quarantined'",
            "vectors",
            "2 quarantined messages can be found",
        ),
        (
            "UPDATE memory_vectors_1 SET memory_id = {gone} WHERE memory_id = {winner}",
            "vectors",
            "1 memories that hold no more are found: {gone}",
        ),
        (
            "UPDATE messages SET message = 'other words' WHERE id = (SELECT max(id) FROM messages)",
            "vectors",
            "1 messages have vectors of other words",
        ),
        (
            "DELETE FROM message_vectors_1 WHERE chunk = 1",
            "vectors",
            "1 messages have vectors of other words",
        ),
        (
            "UPDATE memory_vectors_1 SET content_hash = '\\x00' WHERE memory_id = {kept}",
            "vectors",
            "1 memories have vectors of other words: {kept}",
        ),
        (
            "UPDATE embedding_models SET dims = 5",
            "vectors",
            "1 model has other dimensions than message_vectors_1: 1",
        ),
    ],
)
async def test_a_corruption_is_found_and_named(
    corruption: str,
    name: str,
    words: str,
    history: list[int],
    hot_database: Database,
    owner_database: Database,
) -> None:
    ids = dict(zip(("kept", "gone", "loser", "winner"), history, strict=True))
    async with owner_database.transaction() as connection:
        for statement in (*UNTIE, corruption.format(**ids)):
            await connection.execute(statement)
    found = await broken(hot_database)
    assert name in found
    assert words.format(**ids) in found[name]


async def test_many_faults_are_counted_and_the_first_named(
    use: Services, hot_database: Database, owner_database: Database
) -> None:
    ids = [await add(use, f"Statement {number}.") for number in range(7)]
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE memories SET pinned = true")
    detail = (await broken(hot_database))["versions"]
    named = ", ".join(map(str, ids[:5]))
    assert f"7 memories differ from their last version: {named}, …" in detail


async def test_diffs_that_older_programs_did_not_keep_are_counted_and_no_fault(
    history: list[int], hot_database: Database, owner_database: Database
) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute(
            "UPDATE patch_operations SET diff = NULL WHERE item_id = $1 AND to_version = 2",
            history[0],
        )
    found = (await examined(hot_database))["diffs"]
    assert found.fix is None
    assert "1 without a diff" in found.detail


async def test_a_model_that_this_machine_lacks_is_said(
    history: list[int], hot_database: Database
) -> None:
    async with hot_database.snapshot() as connection:
        found = [one async for one in consistency.examine(connection, {})]
    assert found[-1].fix is None
    assert "does not have the model" in found[-1].detail


async def test_what_waits_for_the_daemon_is_no_fault(use: Services, hot_database: Database) -> None:
    await use.say("not screened yet")
    await applied(use, Remove(await add(use)))
    assert await broken(hot_database) == {}


async def test_the_doctor_asked_to_look_deep_does(
    history: list[int], pool: Pool, owner_database: Database, tmp_path: Path
) -> None:
    """F17: with what to do next, and beside its other checks."""
    async with owner_database.acquire() as connection:
        await connection.execute("UPDATE memories SET importance = 9 WHERE id = $1", history[0])
    settings = Settings.load(
        {
            "DATABASE_URL": pool.url("memory_hot"),
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        },
        home=tmp_path,
    )
    checks = await Diagnosis(settings, FakeEmbedder(), deep=True).examine(lambda _: None)
    wrong = {check.name: check for check in checks if check.outcome is Outcome.FAILED}
    assert set(wrong) == {"leader", "versions"}
    assert "memory history" in str(wrong["versions"].fix)
