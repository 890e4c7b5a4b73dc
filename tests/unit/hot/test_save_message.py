"""save_message."""

import pytest

from agents_memory.domain.fencing import fence
from agents_memory.storage import captures, messages
from agents_memory.storage.connections import Database
from tests.unit.hot.conftest import House, Talk


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
        ({"role": "user", "mesage": "Hi"}, "did you mean message?"),
    ],
)
async def test_malformed_calls_say_what_is_wrong(
    alone: Talk, arguments: dict[str, object], said: str
) -> None:
    assert said in await alone.malformed("save_message", **arguments)


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
