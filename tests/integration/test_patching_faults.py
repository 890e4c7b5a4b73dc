"""Patches when something goes wrong: lost answers, deposed daemons, pools of older programs."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from agents_memory.domain.errors import Code, DatabaseUnavailable, Deposed, Refusal
from agents_memory.domain.patches import Add, Applied, PatchRequest, Pin, Replace, Update
from agents_memory.domain.policy import ActorClass
from agents_memory.services.history import History
from agents_memory.services.patching import Patching
from agents_memory.services.rollback import Rollback
from agents_memory.storage import leadership, memories, migrate, patches
from agents_memory.storage.connections import Connection, Database
from cold.fence import fenced
from tests.conftest import Pool
from tests.factories import Services
from tests.integration.patches import add, applied, versions


@pytest.fixture
def lose_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """From then on the answer to the next commit is lost; gives the patches sent since."""

    def arm() -> list[int]:
        sent: list[int] = []
        real = Database.run

        async def run(self: Database, operation: Callable[[Connection], Awaitable[Any]]) -> Any:
            done = await real(self, operation)
            if isinstance(done, Applied):
                sent.append(done.patch_id)
                if len(sent) == 1:
                    # What `run` does when the server goes away after the commit.
                    return await real(self, operation)
            return done

        monkeypatch.setattr(Database, "run", run)
        return sent

    return arm


async def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    use: Services, lose_answer: Callable[[], list[int]]
) -> None:
    """A9, F7: tried again, it is found to stand; without any key."""
    memory_id = await add(use)
    sent = lose_answer()
    added = await applied(use, Add("tea", "Green."))
    assert sent == [added.patch_id]
    sent = lose_answer()
    changed = await applied(use, Update(memory_id, "Later.", 1))
    assert sent[0] == changed.patch_id
    sent = lose_answer()
    back = await Rollback(use.database, use.hints).roll_back(changed.patch_id, use.user_id, "why")
    assert isinstance(back, Applied)
    assert [v.patch_id for v in await versions(use, memory_id)][1:] == [
        changed.patch_id,
        back.patch_id,
    ]
    async with use.database.acquire() as connection:
        assert await memories.count_memories(connection) == 2


def _of_daemon(use: Services, *operations: Any) -> PatchRequest:
    return PatchRequest(
        use.user_id, "cold/test", "pass", "because", operations, actor_class=ActorClass.DAEMON
    )


async def test_a_pass_patches_within_its_term(use: Services, cold_database: Database) -> None:
    """F105: a daemon that no longer leads changes nothing; one that does changes all or nothing."""
    first, second = await add(use, "One."), await add(use, "One!?")
    patching = Patching(cold_database, use.hints)
    async with cold_database.transaction() as connection:
        epoch = await leadership.take_lead(connection, "test", 1)
    async with fenced(cold_database, epoch) as connection:
        done = await patching.apply_within(connection, _of_daemon(use, Replace(first, second)))
        assert isinstance(done, Applied)
    assert len(await versions(use, first)) == 2
    with pytest.raises(Deposed):
        async with fenced(cold_database, epoch - 1) as connection:
            await patching.apply_within(connection, _of_daemon(use, Pin(second)))

    async def fall() -> None:
        async with fenced(cold_database, epoch) as connection:
            made = await patching.apply_within(connection, _of_daemon(use, Pin(second)))
            assert isinstance(made, Applied)
            raise DatabaseUnavailable("away")

    with pytest.raises(DatabaseUnavailable):
        await fall()
    assert len(await versions(use, second)) == 1


async def test_a_refused_patch_leaves_the_rest_of_the_transaction(
    use: Services, cold_database: Database
) -> None:
    said = await use.say("Tea.")
    memory_id, other = await add(use, "Tea."), await add(use, "Coffee.")
    patching = Patching(cold_database, use.hints)
    async with cold_database.transaction() as connection:
        for wrong, code in (
            (Update(other, "tea", 1, (said.id,)), Code.DUPLICATE_MEMORY),
            (Add("deploys", "TEA", evidence=(said.id,)), Code.DUPLICATE_MEMORY),
            (Pin(other, True, 9), Code.VERSION_CONFLICT),
        ):
            told = await patching.apply_within(connection, _of_daemon(use, wrong))
            assert isinstance(told, Refusal)
            assert told.code is code
        done = await patching.apply_within(connection, _of_daemon(use, Pin(memory_id)))
        assert isinstance(done, Applied)
    assert len(await versions(use, memory_id)) == 2
    assert len(await versions(use, other)) == 1


async def test_patches_of_an_older_program_are_read_and_rolled_back(
    empty_pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F10, F94: the whole diff of before stays, and evidence moves to its operation."""
    owner = empty_pool.database("memory_owner")
    everything = migrate.steps()
    monkeypatch.setattr(migrate, "steps", lambda: everything[:5])
    await migrate.migrate(owner)
    async with owner.acquire() as connection:
        await connection.execute(OLD_POOL)
        with pytest.raises(asyncpg.PostgresError):
            await connection.execute("SELECT diff FROM patch_operations")
    monkeypatch.setattr(migrate, "steps", lambda: everything)
    await migrate.migrate(owner)
    history = History(owner)
    found = await history.versions(11, 1)
    assert not isinstance(found, Refusal)
    [version] = found
    assert (version.operation, version.evidence, version.diff) == ("add", (10,), None)
    view = await history.patch_view(12, 1)
    assert not isinstance(view, Refusal)
    assert view.diff == "--- /dev/null\n+++ b/memory/11\n"
    assert [operation.evidence for operation in view.operations] == [(10,)]
    async with owner.acquire() as connection:
        earlier = await patches.find_earlier(connection, 1, "agent", "k")
    assert earlier.id == 12
    await owner.close()


OLD_POOL = """
INSERT INTO users (name) VALUES ('mara');
INSERT INTO messages (id, intake_id, user_id, platform, role, message, origin, trust, lexemes,
    lexeme_count)
VALUES (10, gen_random_uuid(), 1, 'x', 'user', 'Tea.', 'captured', 'owner', '', 0);
INSERT INTO patches (id, user_id, actor, tool, reason, idempotency_key, payload_hmac, diff)
VALUES (12, 1, 'agent', 'x', 'because', 'k', 'x', E'--- /dev/null\\n+++ b/memory/11\\n');
INSERT INTO memories (id, user_id, subject, content, content_key, kind, importance, valence,
    intensity, trust, lexemes, lexeme_count)
VALUES (11, 1, 's', 'Tea.', 'x', 'note', 5, 0, 0, 'owner', '', 0);
INSERT INTO memory_versions (memory_id, version, patch_id, subject, content, kind, importance,
    valence, intensity, trust, status, pinned, tags)
VALUES (11, 1, 12, 's', 'Tea.', 'note', 5, 0, 0, 'owner', 'active', false, '{}');
INSERT INTO patch_operations (patch_id, position, operation, item_id, to_version)
VALUES (12, 0, 'add', 11, 1);
INSERT INTO sources (item_id, item_version, message_id) VALUES (11, 1, 10);
SELECT setval('item_id', 12);
"""
