"""save_message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.fencing import fence
from agents_memory.domain.reading import Reading, read
from agents_memory.services import intake, spooling
from agents_memory.storage import captures, messages
from agents_memory.storage.connections import Database
from hot import saving
from tests.unit.hot.conftest import House, Talk, held, text_of


async def test_a_saved_turn_is_acknowledged_and_found_at_once(talk: Talk) -> None:
    """F70: stored without a model, and searchable by its words."""
    saved = await talk.ask("save_message", role="user", message="We replaced Kafka with an outbox.")
    assert saved == {
        "ok": True,
        "stored": True,
        "id": saved["id"],
        "role": "user",
        "created_at": saved["created_at"],
        "duplicate": False,
        "redactions": {},
    }
    found = await talk.ask("search_memory", query="kafka")
    assert [item["id"] for item in found["results"]] == [saved["id"]]


async def test_it_carries_where_it_comes_from(talk: Talk, hot_database: Database) -> None:
    """F78: platform, model, sub-agent, device, session; asserted, with the trust of an agent."""
    saved = await talk.ask(
        "save_message",
        role="assistant",
        message="Done.",
        agent_model="model-1",
        subagent=True,
        subagent_role="reviewer",
        subagent_model="model-2",
    )
    async with hot_database.acquire() as connection:
        [row] = await messages.list_messages(connection, [saved["id"]], 1)
    assert (row.platform, row.model, row.device) == ("claude-code", "model-1", "laptop")
    assert (row.origin, row.trust, row.subagent) == ("asserted", "agent", True)
    assert row.session == talk.app.session.id


async def test_the_users_words_have_no_model_and_no_more_trust(
    talk: Talk, hot_database: Database
) -> None:
    saved = await talk.ask("save_message", role="user", message="Hi", agent_model="model-1")
    async with hot_database.acquire() as connection:
        [row] = await messages.list_messages(connection, [saved["id"]], 1)
    assert (row.role, row.model, row.trust) == ("user", None, "agent")


async def test_the_caller_may_name_another_platform(talk: Talk, hot_database: Database) -> None:
    """F78."""
    saved = await talk.ask("save_message", role="user", message="Hi", agent_platform="Gemini CLI")
    async with hot_database.acquire() as connection:
        [row] = await messages.list_messages(connection, [saved["id"]], 1)
    assert row.platform == "gemini-cli"


async def test_two_clients_are_told_apart(house: House) -> None:
    async with house.talk(client="codex-mcp-client") as codex:
        await codex.ask("save_message", role="user", message="The outbox is polled.")
    async with house.talk() as claude:
        found = await claude.ask("search_memory", query="outbox", agent_platform="codex")
        assert [item["platform"] for item in found["results"]] == ["codex"]
        assert found["here"]["platform"] == "claude-code"


async def test_the_time_has_its_zone(talk: Talk) -> None:
    """I4."""
    saved = await talk.ask("save_message", role="user", message="Hi")
    assert saved["created_at"][-6:] in ("+01:00", "+02:00")


async def test_secrets_are_counted_and_not_kept(talk: Talk) -> None:
    token = "ghp_" + "a1B2" * 9
    saved = await talk.ask("save_message", role="user", message=f"use {token} for the release")
    assert sum(saved["redactions"].values()) == 1
    found = await talk.ask("search_memory", query="release")
    assert token not in str(found)


@pytest.mark.parametrize("message", ["", " \n\t", "\u200b", fence("something recalled", "recall")])
async def test_what_says_nothing_new_is_refused(talk: Talk, message: str) -> None:
    """B1, B3: also our own recalled text alone."""
    error = await talk.refused("save_message", role="user", message=message)
    assert error["code"] == "INVALID_INPUT"


async def test_too_much_is_refused_with_the_limit(talk: Talk) -> None:
    error = await talk.refused("save_message", role="user", message="x" * (16 * 2**20 + 1))
    assert error["code"] == "LIMIT_EXCEEDED"
    assert error["details"] == {"limit_bytes": 16 * 2**20}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"role": "user"}, "message: Field required"),
        ({"message": "Hi"}, "role: Field required"),
        ({"role": "system", "message": "Hi"}, "role: should be 'user' or 'assistant'"),
        ({"role": "user", "message": ["Hi"]}, "message: should be a valid string"),
        ({"role": "user", "message": None}, "message: should be a valid string"),
        ({"role": "user", "mesage": "Hi"}, "did you mean message?"),
    ],
)
async def test_malformed_calls_say_what_is_wrong(
    alone: Talk, arguments: dict[str, object], said: str
) -> None:
    assert said in await alone.malformed("save_message", **arguments)


async def test_without_a_database_a_turn_is_queued_and_both_forms_say_what_that_means(
    alone: Talk,
) -> None:
    """F103."""
    token = "ghp_" + "a1B2" * 9
    result = await alone.call("save_message", role="user", message=f"use {token} today")
    queued = result.structured_content
    assert queued is not None
    assert (queued["ok"], queued["stored"], queued["queued"]) == (True, False, True)
    assert "id" not in queued
    assert sum(queued["redactions"].values()) == 1
    assert queued["created_at"] == "2026-11-20T13:00:00+01:00"
    assert "there is no database in this test" in queued["note"]
    for part in (queued["intake_id"], "Do not save it again", "queued"):
        assert part in text_of(result)


async def test_what_waits_behind_others_says_why_they_wait(alone: Talk) -> None:
    """F103, D11: the cause, and what to do about it, with each turn."""
    for number in range(4):
        queued = await alone.ask("save_message", role="user", message=f"turn {number}")
        assert queued["note"].endswith("Why: there is no database in this test")


async def test_what_waits_behind_the_turns_of_a_process_that_is_gone_says_why(
    tmp_path: Path, era: str
) -> None:
    """F103, D11: the first turn of a new server, too."""
    for _ in range(2):
        async with held(House(None, tmp_path, era)) as away:
            queued = await away.ask("save_message", role="user", message="Hi")
            assert queued["note"].endswith("Why: there is no database in this test")


async def test_what_waits_behind_turns_that_are_being_stored_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    async with held(House(None, house.tmp_path, house.era)) as away:
        await away.ask("save_message", role="user", message="First.")
    monkeypatch.setattr(spooling, "drain", never)
    async with held(house) as talk:
        queued = await talk.ask("save_message", role="user", message="Second.")
    assert queued["note"].endswith("Why: turns that were said before it are stored first")


async def test_a_server_that_does_not_answer_is_named(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: where it is, and what to do."""

    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(saving, "SAVE_WITHIN_S", 0.01)
    monkeypatch.setattr(saving.Saving, "_store", never)
    monkeypatch.setattr(spooling, "drain", never)
    async with held(house) as talk:
        for _ in range(2):
            queued = await talk.ask("save_message", role="user", message="Hi")
            assert talk.app.settings.describe_database() in queued["note"]
            assert "no answer within 0.01 seconds; check that the server" in queued["note"]


async def test_a_long_text_is_analysed_before_the_database_has_its_four_seconds(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10: megabytes are not queued beside a database that is well."""
    order: list[str] = []
    store = saving.Saving._store

    def listed(text: str) -> Reading:
        order.append("analysed")
        return read(text)

    async def timed(*arguments: Any) -> Any:
        order.append("clock")
        return await store(*arguments)

    monkeypatch.setattr(intake, "read", listed)
    monkeypatch.setattr(saving.Saving, "_store", timed)
    async with house.talk() as talk:
        saved = await talk.ask("save_message", role="user", message="Aé" * 50_000)
    assert saved["stored"] is True
    assert order == ["analysed", "clock"]


async def test_what_is_refused_is_refused_without_a_database_too(alone: Talk) -> None:
    assert (await alone.refused("save_message", role="user", message=" "))["code"] == (
        "INVALID_INPUT"
    )


async def test_a_full_spool_is_a_refusal(tmp_path: Path, era: str) -> None:
    """F103: SPOOL_MAX_MB holds."""
    async with held(House(None, tmp_path, era), spool_max_mb=1) as talk:
        assert (await talk.ask("save_message", role="user", message="x" * 900_000))["queued"]
        error = await talk.refused("save_message", role="user", message="y" * 900_000)
        assert error["code"] == "LIMIT_EXCEEDED"
        assert error["details"] == {"limit_bytes": 2**20}
        assert "nothing was stored" in error["message"]
        assert (await talk.ask("save_message", role="user", message="small"))["queued"]


async def test_a_disk_that_cannot_be_written_is_a_refusal(tmp_path: Path, era: str) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    async with held(House(None, tmp_path, era), data_dir=blocked) as talk:
        error = await talk.refused("save_message", role="user", message="Hi")
        assert error["code"] == "DATABASE_UNAVAILABLE"
        assert "Nothing was stored" in error["message"]


async def test_a_turn_that_waited_is_found_when_the_database_is_back(
    tmp_path: Path, era: str, hot_database: Database
) -> None:
    async with held(House(None, tmp_path, era)) as away:
        await away.ask("save_message", role="user", message="Kafka is gone.")
    async with held(House(hot_database, tmp_path, era)) as back:
        async with asyncio.timeout(60):
            while not (await back.ask("search_memory", query="kafka"))["count"]:
                pass
        stored = await back.ask("save_message", role="user", message="Redis too.")
        assert stored.get("stored") or stored.get("queued")


async def test_a_captured_session_needs_no_saving(talk: Talk, hot_database: Database) -> None:
    """F77: skipped, and said so, only while a fresh sign of life covers this very session."""
    talk.app.session.client_session = "session-1"

    async def beat(session: str) -> None:
        async with hot_database.acquire() as connection:
            await captures.beat(
                connection,
                device="laptop",
                client="claude-code",
                sessions=[session],
                now=talk.clock.now(),
            )

    await beat("another-session")
    stored = await talk.ask("save_message", role="user", message="Stored.")
    assert stored["stored"] is True
    await beat("session-1")
    skipped = await talk.ask("save_message", role="user", message="Skipped.")
    assert (skipped["ok"], skipped["stored"], "captured" in skipped["skipped"]) == (
        True,
        False,
        True,
    )
    talk.clock.advance(3600)
    again = await talk.ask("save_message", role="user", message="Capture has stopped.")
    assert again["stored"] is True
    async with hot_database.acquire() as connection:
        assert await messages.count_messages(connection) == 2
