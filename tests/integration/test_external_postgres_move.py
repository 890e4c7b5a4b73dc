"""A pool moves between the embedded database and a server of somebody else, as the docs say."""

import asyncio
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents_memory.domain.filters import Filters
from agents_memory.domain.memories import Kind
from agents_memory.services.knowledge import Remembered
from agents_memory.services.opening import prepare_pool
from agents_memory.services.recall import RecallAnswer, RecallRequest
from agents_memory.settings import Settings
from agents_memory.storage import leadership, messages
from agents_memory.storage.connections import Database
from tests.conftest import SCHEMA, Pool
from tests.factories import Services, draft, services, settle_by_hand
from tests.integration.foreign_server import ForeignServer, RemotePool

SAID = (
    "We replaced Kafka with a plain outbox table.",
    "Im Schlafzimmer soll es 17 Grad haben.\n\\restrict abc\nSET transaction_timeout = 0;",
    "データベースの移行は来週です\tund zwar \\. am Montag",
    "Login sessions live in Redis now: %s {} ' \" \\",
)
ASKED = ("kafka outbox", "Schlafzimmer", "移行", "where do sessions live", "plain SQL")
_PAGE = Path(__file__).parents[2] / "docs" / "databases.md"


def _page_filter() -> str:
    """The sed program that docs/databases.md tells people to use."""
    program: str
    [program] = re.findall(r"sed '([^']+)'", _PAGE.read_text("utf-8"))
    return program


@dataclass
class Side:
    """One end of the move: a database with its roles."""

    urls: dict[str, str]

    def database(self, role: str) -> Database:
        return Database(self.urls[role], schema=SCHEMA, application="test")


ROLES = ("memory_owner", "memory_cold", "memory_hot")


def _side(pool: Pool | RemotePool) -> Side:
    return Side({role: pool.url(role) for role in ROLES})


def _move(tools: Path, source: Side, target: Side, folder: Path) -> None:
    """The three steps of docs/databases.md."""
    dumped = subprocess.run(
        [tools / "pg_dump", f"--schema={SCHEMA}", "--no-owner", "--no-privileges",
         source.urls["memory_owner"]],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    cleaned = subprocess.run(
        ["sed", _page_filter()], input=dumped, capture_output=True, check=True
    ).stdout
    (folder / "pool.sql").write_bytes(cleaned)
    subprocess.run(
        [tools / "psql", "--no-psqlrc", "--quiet", "--single-transaction",
         "--set=ON_ERROR_STOP=1", f"--file={folder / 'pool.sql'}", target.urls["memory_owner"]],
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip


async def _fill(side: Side) -> None:
    hot, cold = side.database("memory_hot"), side.database("memory_cold")
    use = await services(hot)
    ids = [(await use.say(text)).id for text in SAID]
    await settle_by_hand(cold, use.embedder, ids)
    remembered = await use.knowledge.add_memory(
        draft("Mara prefers plain SQL."), use.user_id, kind=Kind.PREFERENCE, subject=None,
        project=None,
    )  # fmt: skip
    assert isinstance(remembered, Remembered)
    await use.close()
    await hot.close()
    await cold.close()


async def _answers(use: Services) -> list[RecallAnswer]:
    recall = use.recall()
    filters = Filters(use.user_id)
    found = [await recall.search(RecallRequest(asked, filters)) for asked in ASKED]
    await recall.close()
    return found


@pytest.fixture(params=["embedded to external", "external to embedded"])
async def sides(
    request: pytest.FixtureRequest, pool: Pool, empty_pool: Pool, remote: RemotePool
) -> tuple[Side, Side]:
    """A pool with memories, and a database with pgvector and no schema yet."""
    if request.param == "embedded to external":
        await remote.admin(f"DROP SCHEMA {SCHEMA} CASCADE", "SELECT 1")
        return _side(pool), _side(remote)
    return _side(remote), _side(empty_pool)


async def test_a_moved_pool_answers_alike_and_goes_on_where_it_was(
    sides: tuple[Side, Side], foreign: ForeignServer, tmp_path: Path
) -> None:
    """Same answers, ids that continue, rights as they should be, and nothing left to migrate."""
    source, target = sides
    await _fill(source)
    hot_there, owner_there = source.database("memory_hot"), source.database("memory_owner")
    there = await services(hot_there)
    expected = await _answers(there)
    last = await owner_there.run(leadership.find_leader)
    assert [len(answer.items) > 0 for answer in expected] == [True] * len(ASKED)
    await asyncio.to_thread(_move, foreign.bin, source, target, tmp_path)
    settings = Settings.load(
        {
            "OWNER_DATABASE_URL": target.urls["memory_owner"],
            "COLD_DATABASE_URL": target.urls["memory_cold"],
            "DATABASE_URL": target.urls["memory_hot"],
            "EMBEDDING_MODEL": "hashing",
            "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS": "true",
        },
        home=tmp_path,
    )
    assert await prepare_pool(settings) == ()
    hot, cold = target.database("memory_hot"), target.database("memory_cold")
    here = await services(hot)
    assert here.user_id == there.user_id
    assert await _answers(here) == expected
    next_there = await there.say("The heron came back.")
    next_here = await here.say("The heron came back.")
    assert next_here.id == next_there.id
    assert await cold.run(lambda c: leadership.take_lead(c, "test", 1)) == last.epoch + 1
    await settle_by_hand(cold, here.embedder, [next_here.id])
    assert await hot.run(messages.count_messages) == len(SAID) + 2
    for statement in ("DELETE FROM messages", "UPDATE messages SET message = ''"):
        for runtime in (hot, cold):
            with pytest.raises(Exception, match="42501"):
                await runtime.run(lambda c, sql=statement: c.execute(sql))  # type: ignore[misc]
    for use in (here, there):
        await use.close()
    for database in (hot, cold, hot_there, owner_there):
        await database.close()
