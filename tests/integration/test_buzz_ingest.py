"""The Buzz ingest against a stand-in for its program, on a real pool."""

import asyncio
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.filters import Filters
from agents_memory.domain.messages import Screening
from agents_memory.services.recall import RecallRequest
from agents_memory.storage import messages
from agents_memory.storage.connections import Database
from agents_memory.storage.embedded.processes import exists
from tests.conftest import Pool
from tests.factories import Services
from tests.fixtures.buzz import BEGUN, DEN, FRIEND, HALL, OWNER, SELF, Relay
from tests.integration.capturers import LIMIT_S, Machine
from tests.integration.cold_daemons import FakeEmbedder, drain, query, value


@pytest.fixture
def machine(tmp_path: Path, pool: Pool) -> Machine:
    machine = Machine(tmp_path, pool.url("memory_hot"))
    machine.environ |= {"BUZZ_INGEST_OWNER": OWNER, "BUZZ_PRIVATE_KEY": "nsec1secret"}
    return machine


@pytest.fixture
def relay(machine: Machine) -> Relay:
    made = Relay(machine.home)
    machine.environ["BUZZ_CLI"] = str(made.program)
    return made


async def run(machine: Machine, *words: str, **environ: str) -> tuple[int, Any, str]:
    """Its exit code, what it reported, and what it said."""
    async with machine.capturer("ingest.buzz", "--json", *words, **environ) as process:
        output, said = await process.process.communicate()
    assert process.process.returncode is not None
    return process.process.returncode, json.loads(output) if output else None, said.decode()


async def rows(database: Database) -> list[dict[str, Any]]:
    return await query(
        database,
        "SELECT m.*, s.screening, s.p_tag, w.replaced_by FROM messages m "
        "JOIN message_state s ON s.message_id = m.id "
        "LEFT JOIN withdrawals w ON w.message_id = m.id ORDER BY m.id",
    )


async def found(use: Services, words: str) -> list[int]:
    recall = use.recall()
    answer = await recall.search(RecallRequest(words, Filters(use.user_id)))
    await recall.close()
    return [item.id for item in answer.items]


async def test_each_message_is_a_row_with_the_trust_of_who_said_it(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    """F80: oldest first over all rooms, and a second run adds nothing."""
    late = relay.add("Sounds good", author=FRIEND, at=20)
    first = relay.add("Let us move to Lisbon", at=10)
    own = relay.add("Noted.", author=SELF, room=DEN, at=15)
    relay.add("  ", at=16)
    code, report, _ = await run(machine)
    assert (code, report["pending"], report["inserted"], report["blank"]) == (0, 3, 3, 1)
    assert report["byVenue"] == {"buzz:Hall": 2, "buzz:dm": 1}
    stored = await rows(hot_database)
    assert [
        (r["native_id"], r["role"], r["trust"], r["venue"], r["session"], r["message"])
        for r in stored
    ] == [
        (first, "user", "owner", "buzz:Hall", HALL, "[Mara] Let us move to Lisbon"),
        (own, "assistant", "agent", "buzz:dm", DEN, "[Helper] Noted."),
        (late, "assistant", "other", "buzz:Hall", HALL, "[Jo x] Sounds good"),
    ]
    assert {(r["source"], r["platform"], r["origin"]) for r in stored} == {
        ("buzz", "buzz", "captured")
    }
    assert stored[0]["raw_message"] == "Let us move to Lisbon"
    assert stored[0]["occurred_at"] == datetime.fromtimestamp(BEGUN + 10, UTC)
    code, report, _ = await run(machine)
    assert (code, report["pending"], report["inserted"]) == (0, 0, 0)
    assert len(await rows(hot_database)) == 3


async def test_at_most_so_many_are_written_in_a_run(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    said = [relay.add(f"number {n}", at=n) for n in range(5)]
    for expected in (2, 4, 5):
        code, report, _ = await run(machine, "--max=2")
        assert code == 0
        assert [r["native_id"] for r in await rows(hot_database)] == said[:expected]
    assert report["inserted"] == 1


async def test_pages_overlap_where_several_events_bear_one_second(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    said = [relay.add(f"number {n}", at=n // 3) for n in range(401)]
    code, report, _ = await run(machine, "--max=1000")
    assert (code, report["inserted"]) == (0, 401)
    assert [r["native_id"] for r in await rows(hot_database)] == said


async def test_an_edit_takes_the_place_of_what_was_said(
    machine: Machine, relay: Relay, use: Services, cold_database: Database
) -> None:
    """F81: found and embedded in its latest wording, filed as before; the evidence stays."""
    target = relay.add("The invoice goes to Porto", at=10)
    assert (await run(machine))[0] == 0
    await drain(cold_database, FakeEmbedder())
    [before] = await rows(use.database)
    await query(
        cold_database,
        "WITH t AS (INSERT INTO project_tags (name, origin) VALUES ('trip', 'model') RETURNING id) "
        "UPDATE message_state SET p_tag = (SELECT id FROM t) RETURNING 1",
    )
    relay.add("The invoice goes to Braga", kind=40003, at=20, of=target)
    latest = relay.add("The invoice goes to Coimbra", kind=40003, at=30, of=target)
    code, report, _ = await run(machine)
    assert (code, report["edited"], report["inserted"]) == (0, 1, 0)
    await drain(cold_database, FakeEmbedder())
    old, new = await rows(use.database)
    assert (old["id"], old["message"]) == (before["id"], "[Mara] The invoice goes to Porto")
    assert (old["screening"], old["replaced_by"]) == ("withdrawn", new["id"])
    assert (new["native_id"], new["message"]) == (latest, "[Mara] The invoice goes to Coimbra")
    assert (new["screening"], new["p_tag"]) == ("clear", old["p_tag"])
    assert new["occurred_at"] == old["occurred_at"]
    assert await found(use, "invoice Porto Coimbra") == [new["id"]]
    searchable = "SELECT bool_and(searchable) FROM message_vectors_1 WHERE message_id = $1"
    assert await value(use.database, searchable, old["id"]) is False
    assert await value(use.database, searchable, new["id"]) is True
    [shown] = await use.database.run(lambda c: messages.list_messages(c, [old["id"]], use.user_id))
    assert shown.screening is Screening.WITHDRAWN
    assert (await run(machine))[1]["edited"] == 0
    relay.add("The invoice goes to Faro", kind=40003, at=40, of=target)
    assert (await run(machine))[1]["edited"] == 1
    assert [r["replaced_by"] is None for r in await rows(use.database)] == [False, False, True]


async def test_an_edit_or_deletion_before_the_first_run_leaves_one_row_or_none(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    """F81."""
    target = relay.add("first wording", at=10)
    relay.add("second wording", kind=40003, at=11, of=target)
    gone = relay.add("never mind", at=12)
    relay.add("", kind=5, at=13, of=gone)
    assert (await run(machine))[1]["inserted"] == 1
    again = (await run(machine))[1]
    assert (again["inserted"], again["edited"], again["hidden"]) == (0, 0, 0)
    [row] = await rows(hot_database)
    assert (row["native_id"], row["message"]) == (target, "[Mara] second wording")


async def test_a_deletion_hides_unless_the_message_is_pinned(
    machine: Machine, relay: Relay, use: Services, owner_database: Database
) -> None:
    """F81: deleted by its author or a moderator; a pin stops it; nobody else can."""
    said = [relay.add(f"heron number {n}", at=n) for n in range(4)]
    assert (await run(machine))[0] == 0
    stored = [row["id"] for row in await rows(use.database)]
    await query(
        owner_database,
        "UPDATE message_state SET pinned = true WHERE message_id = $1 RETURNING 1",
        stored[3],
    )
    relay.add("", kind=5, at=10, of=said[0])
    relay.add("", kind=9005, author=FRIEND, at=10, of=said[1])
    relay.add("", kind=5, author=FRIEND, at=10, of=said[2])
    relay.add("other words", kind=40003, author=FRIEND, at=10, of=said[2])
    relay.add("", kind=5, at=10, of=said[3])
    code, report, _ = await run(machine)
    assert (code, report["hidden"], report["ignored"], report["pinned"]) == (0, 2, 2, 1)
    assert sorted(await found(use, "heron")) == stored[2:]
    assert (await run(machine))[1]["hidden"] == 0


async def test_screening_does_not_bring_a_withdrawn_message_back(
    machine: Machine, relay: Relay, use: Services, cold_database: Database
) -> None:
    target = relay.add("the heron stood there", at=1)
    await run(machine)
    relay.add("", kind=5, at=2, of=target)
    await run(machine)
    [row] = await rows(use.database)
    async with cold_database.acquire() as connection:
        await messages.settle_screening(connection, row["id"], Screening.CLEAR)
    assert (await rows(use.database))[0]["screening"] == "withdrawn"


@pytest.mark.parametrize(
    ("call", "answer", "expected"),
    [
        ("channels list", {"stdout": "[]"}, "member of no room"),
        ("users get", {"stdout": "[]"}, "not your own profile"),
        ("messages get", {"stdout": "<html>502</html>"}, "not JSON"),
        ("messages get", {"stdout": "null"}, "not an array"),
        ("messages get", {"stdout": '[{"id": "x"}]'}, "no id"),
        ("messages get next", {"stdout": "[]"}, "does not go on"),
        (
            "messages get",
            {
                "stdout": "",
                "code": 3,
                "stderr": 'note\n{"error": "auth_error", "message": "no", "retryable": false}',
            },
            "auth_error",
        ),
        (
            "messages get",
            {"stdout": "", "code": 2, "stderr": '{"error": "relay_error", "retryable": true}'},
            "run it again later",
        ),
    ],
)
async def test_an_unexpected_answer_writes_nothing(
    machine: Machine,
    relay: Relay,
    hot_database: Database,
    call: str,
    answer: dict[str, Any],
    expected: str,
) -> None:
    """F82: it says what to do, and the next run goes on as if nothing had been."""
    for n in range(201):
        relay.add(f"number {n}", at=n)
    relay.fail(call, **answer)
    code, report, said = await run(machine)
    assert (code, report) == (1, None)
    assert expected in said
    assert "Nothing was written" in said or "nothing was written" in said
    assert await rows(hot_database) == []
    relay.mend()
    assert (await run(machine))[1]["inserted"] == 20


async def test_a_known_room_without_messages_is_no_quiet_room(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    """F82: an empty first page; what is deleted in Buzz, all of it, is none."""
    said = [relay.add(f"number {n}", at=n) for n in range(3)]
    assert (await run(machine))[0] == 0
    relay.fail("messages get", "[]")
    code, report, told = await run(machine)
    assert (code, report) == (1, None)
    assert "'Hall' looks emptied or lost" in told
    relay.mend()
    relay.add("", kind=9005, author=FRIEND, at=10, of=said[0])
    relay.events = [e for e in relay.events if e["kind"] != 9]
    relay.write()
    assert "looks emptied or lost" in (await run(machine))[2]
    for target in said[1:]:
        relay.add("", kind=5, at=11, of=target)
    code, report, _ = await run(machine)
    assert (code, report["hidden"]) == (0, 3)
    assert (await run(machine))[0] == 0
    assert {r["screening"] for r in await rows(hot_database)} == {"withdrawn"}


async def test_names_without_ones_own_among_them_write_nothing(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    """F82: a relay that fails quietly between two questions."""
    relay.add("hello", at=1)
    text = relay.program.read_text()
    relay.program.write_text(
        text.replace('given("--pubkey") or', "given('--pubkey')[:-1] if given('--pubkey') else")
    )
    code, _, said = await run(machine)
    assert code == 1
    assert "your own profile is not among them" in said
    assert await rows(hot_database) == []


async def test_the_program_sees_nothing_of_ours(machine: Machine, relay: Relay) -> None:
    """F83."""
    relay.add("hello", at=1)
    code, _, _ = await run(
        machine,
        OPENAI_API_KEY="sk-1",
        LC_ALL="C.UTF-8",
        https_proxy="http://proxy:1",
        SSL_CERT_FILE="/etc/ssl/x.pem",
        BUZZ_AUTH_TAG="tag",
        PYTHONPATH="/nowhere",
        LD_LIBRARY_PATH="/nowhere",
    )
    assert code == 0
    for call in relay.calls():
        assert set(call["environ"]) - {"LC_CTYPE"} == {
            "PATH", "HOME", "LC_ALL", "https_proxy", "SSL_CERT_FILE", "BUZZ_AUTH_TAG", "BUZZ_CLI",
            "BUZZ_INGEST_OWNER", "BUZZ_PRIVATE_KEY",
        }  # fmt: skip


async def test_without_the_owners_keys_or_the_program_it_refuses(
    machine: Machine, relay: Relay
) -> None:
    code, _, said = await run(machine, BUZZ_INGEST_OWNER="")
    assert (code, relay.calls()) == (2, [])
    assert "BUZZ_INGEST_OWNER" in said
    code, _, said = await run(machine, BUZZ_CLI="/nowhere/buzz")
    assert code == 2
    assert "BUZZ_CLI" in said


async def test_a_dry_run_writes_nothing_and_counts_what_is_not_read(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    relay.add("hello", at=1)
    relay.add("a diff", kind=40008, at=2)
    relay.add("a post", kind=45001, at=3)
    code, report, _ = await run(machine, "--dry-run")
    assert (code, report["dryRun"], report["pending"], report["inserted"]) == (0, True, 1, 0)
    assert report["unsupported"] == {"40008": 1, "45001": 1}
    assert await rows(hot_database) == []


async def test_killed_in_a_call_it_takes_the_program_along_and_writes_nothing(
    machine: Machine, relay: Relay, hot_database: Database
) -> None:
    relay.add("hello", at=1)
    relay.hang("messages get")
    async with machine.capturer("ingest.buzz") as process, asyncio.timeout(LIMIT_S):
        while not any(c["words"][0] == "messages" for c in relay.calls()):  # noqa: ASYNC110
            await asyncio.sleep(0)
        process.process.kill()
        await process.process.wait()
        pid = relay.calls()[-1]["pid"]
        while exists(pid) and _state(pid) != "Z":  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(0)
    assert await rows(hot_database) == []
    relay.mend()
    assert (await run(machine))[1]["inserted"] == 1


def _state(pid: int) -> str:
    try:
        return Path(os.fspath(f"/proc/{pid}/stat")).read_text().rpartition(") ")[2][0]
    except OSError:
        return "Z"


async def test_an_edit_broken_off_half_way_is_finished_by_the_next_run(
    machine: Machine, relay: Relay, hot_database: Database, owner_database: Database
) -> None:
    target = relay.add("first wording", at=1)
    await run(machine)
    relay.add("second wording", kind=40003, at=2, of=target)
    await run(machine)
    await query(owner_database, "DELETE FROM withdrawals RETURNING 1")
    await query(owner_database, "UPDATE message_state SET screening = 'unscreened' RETURNING 1")
    code, report, _ = await run(machine)
    assert (code, report["edited"]) == (0, 1)
    old, new = await rows(hot_database)
    assert (old["screening"], old["replaced_by"]) == ("withdrawn", new["id"])


def _wrapped(quote: str, second: int) -> str:
    at = datetime.fromtimestamp(BEGUN + second, UTC).isoformat().replace("+00:00", ".000Z")
    return (
        "<base>\nThe manual, with an example <context>.\n</base>\n\n"
        "<agent-instructions>\nBe brief.\n</agent-instructions>\n\n"
        f"<context>\nScope: thread\nChannel: Hall (#{HALL})\n</context>\n\n"
        f'<thread-context included="1" total="1">\n[1] Mara ({OWNER}) ({at}): {quote}\n'
        "</thread-context>\n\n"
        '<buzz-event type="@mention">\nContent: And what of the heron?\n</buzz-event>'
    )


async def test_a_wrapped_turn_is_cleaned_once_all_it_quotes_is_stored(
    machine: Machine, relay: Relay, use: Services
) -> None:
    """F84: the original is kept, and nothing is lost that is not a row of its own."""
    relay.add("Let us  move to Lisbon", at=10)
    told = {"source": "claude-code", "store_id": "any"}
    ready = await use.say(_wrapped("Let us move to Lisbon", 10), native_id="one", **told)
    await use.say(_wrapped("Let us stay", 10), native_id="two", **told)
    await use.say(_wrapped("Let us move to Lisbon", 11), native_id="three", **told)
    code, report, _ = await run(machine, "--dry-run")
    assert (code, report["envelopesReady"], report["envelopesStuckBy"]) == (0, 0, {"noRow": 3})
    code, report, _ = await run(machine)
    assert (code, report["recleaned"], report["healed"]) == (0, 1, 0)
    assert report["envelopesStuckBy"] == {"noRow": 1, "textDiffers": 1}
    old, *_, new = await rows(use.database)
    assert (old["id"], old["replaced_by"]) == (ready.id, new["id"])
    assert new["message"] == (
        f"<context>\nScope: thread\nChannel: Hall (#{HALL})\n</context>\n\n"
        '<buzz-event type="@mention">\nContent: And what of the heron?\n</buzz-event>'
    )
    assert new["raw_message"] == old["message"]
    assert (new["trust"], new["device"], new["native_id"]) == ("owner", "laptop", "one#unwrapped")
    assert (await run(machine))[1]["recleaned"] == 0


async def test_a_wrapped_turn_without_a_history_is_healed_at_once(
    machine: Machine, relay: Relay, use: Services
) -> None:
    """F84: and the report has the names that programs know."""
    relay.add("Let us move to Lisbon", at=10)
    bare = re.sub("<thread-context.*</thread-context>\n\n", "", _wrapped("x", 10), flags=re.S)
    await use.say(bare, native_id="one", source="claude-code", store_id="any")
    code, report, _ = await run(machine)
    assert code == 0
    assert report | {"dryRun": False, "channels": 2, "inserted": 1, "edited": 0, "hidden": 0} == (
        report
    )
    assert report | {"healed": 1, "healedByDevice": {"laptop": 1}, "healReady": 1} == report
    assert report | {"healRejected": 0, "recleaned": 0, "envelopesReady": 0} == report
    assert report | {"envelopesStuck": 0, "envelopesStuckBy": {}, "unsupported": {}} == report
    assert set(report) == {
        "dryRun", "channels", "pending", "inserted", "edited", "hidden", "byVenue", "healed",
        "healedByDevice", "healReady", "healRejected", "recleaned", "envelopesReady",
        "envelopesStuck", "envelopesStuckBy", "unsupported",
        "changes", "refused", "failed", "pinned", "ignored", "blank", "resting",
    }  # fmt: skip


async def test_only_the_sources_own_messages_can_be_withdrawn(
    use: Services, hot_database: Database
) -> None:
    """The running role hides through one narrow function: what agents handed over stays."""
    told = await use.say("told by an agent", origin="asserted", trust="agent")
    said = await use.say("said", source="buzz", store_id="any", native_id="x")
    other = await use.say("elsewhere", source="codex", store_id="any", native_id="y")
    withdraw = "SELECT withdraw_message($1, $2)"
    assert await value(hot_database, withdraw, told.id, None) is False
    assert await value(hot_database, withdraw, said.id, other.id) is False
    assert await value(hot_database, withdraw, said.id, None) is True
    assert await value(hot_database, withdraw, said.id, None) is False
    with pytest.raises(Exception, match="42501"):
        await query(hot_database, "INSERT INTO withdrawals (message_id) VALUES ($1)", other.id)
