"""A readable export: everything, of one moment, in bounded memory."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from agents_memory.domain.patches import Remove, Update
from agents_memory.services.export import export
from agents_memory.storage import exporting
from agents_memory.storage.connections import Database
from tests.conftest import Pool
from tests.factories import Services, services
from tests.integration.cold_daemons import query
from tests.integration.patches import add, applied

ANY = 'tab\t"quotes" \\ back\u2028slash 🦩 العربية 中文 \x85 \x7f \x1b[31m\r\n end'


class Writer:
    """Takes what is written, and remembers in which portions."""

    def __init__(self) -> None:
        self.portions: list[str] = []

    def __call__(self, text: str) -> None:
        self.portions.append(text)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in "".join(self.portions).split("\n")[:-1]]

    def of(self, row_type: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["type"] == row_type]


async def test_everything_is_exported_readably_with_its_history(
    use: Services, hot_database: Database
) -> None:
    """F16: as the role that `status` uses."""
    said = await use.say(ANY, venue="ops:alerts")
    memory_id = await add(use, f"Deploys: {ANY}", evidence=(said.id,), tags=("ops",))
    await applied(use, Update(memory_id, "Deploys happen on Fridays."), evidence=(said.id,))
    gone = await add(use, "The port is 5432.")
    await applied(use, Remove(gone))
    await use.knowledge.write_profile("Works on harbor.", use.user_id)
    writer = Writer()
    done = await export(hot_database, writer)

    head, *_, end = writer.rows
    assert (head["type"], head["restorable"], head["sections"][0]) == ("export", False, "messages")
    assert "not restorable" in head["note"]
    assert end == {"type": "end", "rows": dict(done.rows)}
    assert done.rows == {
        "message": 1, "memory": 2, "memory_version": 4, "profile": 1, "profile_version": 1,
        "proposal": 0,
        "patch": 5, "operation": 5, "summary": 0, "edge": 0, "source": 2,
    }  # fmt: skip
    [message] = writer.of("message")
    assert message["message"] == ANY
    assert (message["user"], message["screening"]) == ("mara", "unscreened")
    assert [row["content"] for row in writer.of("memory_version") if row["memory_id"] == memory_id]
    assert {row["status"] for row in writer.of("memory")} == {"active", "removed"}
    assert {row["reason"] for row in writer.of("patch")} >= {"because"}
    assert {row["message_id"] for row in writer.of("source")} == {said.id}
    assert all(text.isprintable() for text in "".join(writer.portions).split("\n"))


async def test_only_some_sections_and_only_what_is_new(use: Services) -> None:
    await use.say("hello")
    await add(use)
    writer = Writer()
    await export(use.database, writer, ["memories"])
    assert {row["type"] for row in writer.rows} == {"export", "memory", "memory_version", "end"}
    later = Writer()
    now = (await export(use.database, Writer())).snapshot_at
    done = await export(use.database, later, since=now + timedelta(seconds=1))
    assert not any(done.rows.values())
    assert any((await export(use.database, Writer(), since=now - timedelta(days=1))).rows.values())


async def test_what_is_written_meanwhile_is_not_in_it(use: Services, pool: Pool) -> None:
    """One moment: no operation without its patch, no version without its memory."""
    await use.say("before")

    def interfere() -> None:
        async def write() -> None:
            other = pool.database("memory_hot")
            theirs = await services(other)
            await theirs.say("meanwhile")
            await add(theirs, "Said meanwhile.")
            await theirs.close()
            await other.close()

        asyncio.run(write())

    class Interfering(Writer):
        def __call__(self, text: str) -> None:
            super().__call__(text)
            if len(self.portions) == 1:
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(interfere).result()

    writer = Interfering()
    done = await export(use.database, writer)
    assert [row["message"] for row in writer.of("message")] == ["before"]
    assert (done.rows["message"], done.rows["memory"], done.rows["patch"]) == (1, 0, 0)
    assert (await export(use.database, Writer())).rows["message"] == 2


@pytest.mark.parametrize(("rows", "chars"), [(5_000, 10), (120, 400_000)])
async def test_no_portion_grows_with_the_pool(
    rows: int, chars: int, use: Services, owner_database: Database
) -> None:
    """A million messages are never held: a portion has 1,000 rows, fewer when they are long."""
    await query(
        owner_database,
        "INSERT INTO messages (intake_id, user_id, platform, role, message, origin, trust, "
        "lexemes, lexeme_count) SELECT gen_random_uuid(), $1, 'x', 'user', repeat('x', $3::int), "
        "'captured', 'owner', '', 0 FROM generate_series(1, $2::int)",
        use.user_id, rows, chars,
    )  # fmt: skip
    writer = Writer()
    done = await export(use.database, writer, ["messages"])
    assert done.rows == {"message": rows}
    assert max(portion.count("\n") for portion in writer.portions) <= exporting.MAX_ROWS
    largest = max(map(len, writer.portions))
    assert largest <= max(exporting.FIRST_ROWS * (chars + 700), 1.5 * exporting.BATCH_CHARS)
