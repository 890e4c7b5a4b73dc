"""digest over MCP: a text goes to the daemon, and the tool waits for it, but not for ever (F59)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agents_memory.storage.connections import Database
from cold.llm.port import Why
from tests.fixtures.language_model import ScriptedModel, failing
from tests.integration.cold_daemons import FakeEmbedder, PacedStop, drain, running, value, worker
from tests.unit.hot.conftest import House, Talk, held, know_project, text_of

NOTES = """\
# Harbor
- Deploys happen on Tuesdays only, after the tide report.
- Mara owns the pager until the end of March.
"""


@pytest.fixture
async def talk(house: House) -> AsyncIterator[Talk]:
    async with held(house, toolsets=("core", "mind")) as talk:
        yield talk


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon runs, so nothing is worth waiting for."""
    monkeypatch.setattr("agents_memory.services.jobs.BUDGET_S", 0.0)


async def test_a_daemon_that_runs_answers_within_the_call(
    talk: Talk, cold_database: Database
) -> None:
    stop = PacedStop()
    async with running(worker(cold_database, FakeEmbedder(), stop=stop), cold_database, stop):
        done = await talk.ask("digest", text=NOTES, tags=["harbor"])
    assert (done["state"], done["count"], done["backend"]) == ("done", 2, "rules")
    assert done["affect"] == "estimated"
    assert "note" not in done
    first, second = done["memories"]
    assert first["text"] == "Harbor: Deploys happen on Tuesdays only, after the tide report."
    assert (second["outcome"], second["kind"], second["trust"]) == ("add", "note", "agent")
    assert second["tags"] == ["harbor"]
    recalled = await talk.ask("recall", query="pager in March")
    assert second["id"] in [item["id"] for item in recalled["results"]]
    # The version it has seen is what a change is based on.
    await talk.ask("revise", id=second["id"], action="pin")


async def test_a_text_that_states_nothing_is_refused_and_not_stored(talk: Talk) -> None:
    """At once: nobody waits for a daemon to say it."""
    error = await talk.refused("digest", text="# only a heading")
    assert error["code"] == "INVALID_INPUT"
    assert "nothing that could be remembered" in error["message"]
    assert (await talk.ask("status"))["counts"]["messages"] == 0


async def test_without_a_daemon_there_is_a_receipt_for_later(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    waiting = await talk.ask("digest", text=NOTES)
    assert (waiting["state"], waiting["count"], waiting["memories"]) == ("waiting", 0, [])
    assert waiting["reason"] == "no daemon leads the pool"
    assert "mcp-agents-memory up" in waiting["fix"]
    assert waiting["message_id"] > 0
    again = await talk.ask("digest", job_id=waiting["job_id"])
    assert (again["job_id"], again["state"]) == (waiting["job_id"], "waiting")
    await drain(cold_database, FakeEmbedder())
    for _ in range(2):
        done = await talk.ask("digest", job_id=waiting["job_id"])
        assert (done["state"], done["count"]) == ("done", 2)
        assert done["message_id"] == waiting["message_id"]
    assert await value(cold_database, "SELECT count(*) FROM memories") == 2


async def test_the_text_says_what_the_structure_says_fenced_as_data(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    waiting = await talk.call("digest", text=NOTES)
    assert waiting.structured_content is not None
    job_id = waiting.structured_content["job_id"]
    assert f"digest waiting: job {job_id}, 0 memories" in text_of(waiting)
    assert "mcp-agents-memory up" in text_of(waiting)
    await drain(cold_database, FakeEmbedder())
    done = text_of(await talk.call("digest", job_id=job_id))
    assert "Mara owns the pager until the end of March." in done
    assert "evidence message" in done


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "give text, or the job_id"),
        ({"text": "a", "job_id": 1}, "give text, or the job_id"),
        ({"text": " \u200b\n"}, "text is empty"),
        ({"text": ""}, "text is empty"),
        ({"text": NOTES, "valence": "NaN"}, "valence goes from -1"),
        ({"text": NOTES, "intensity": 1.5}, "intensity goes from 0"),
        ({"text": NOTES, "importance": 0}, "importance goes from 1 to 10"),
    ],
)
async def test_what_cannot_be_digested_is_refused_before_anything_is_stored(
    talk: Talk, arguments: dict[str, Any], says: str, cold_database: Database
) -> None:
    error = await talk.refused("digest", **arguments)
    assert error["code"] == "INVALID_INPUT"
    assert says in error["message"]
    assert await value(cold_database, "SELECT count(*) FROM messages") == 0


async def test_a_job_that_is_none_is_refused(talk: Talk) -> None:
    error = await talk.refused("digest", job_id=2**53 - 1)
    assert error["code"] == "UNKNOWN_ITEM"
    assert "ask for it anew" in error["message"]


async def test_a_project_must_be_known(talk: Talk, at_once: None, cold_database: Database) -> None:
    error = await talk.refused("digest", text=NOTES, p_tag="lighthouse")
    assert error["code"] == "UNKNOWN_ITEM"
    await know_project(cold_database, "lighthouse")
    await talk.ask("digest", text=NOTES, p_tag="Lighthouse")
    await drain(cold_database, FakeEmbedder())
    names = await value(
        cold_database,
        "SELECT array_agg(DISTINCT t.name) FROM memories m JOIN project_tags t ON t.id = m.p_tag",
    )
    assert names == ["lighthouse"]


async def test_one_sentence_becomes_one_memory_and_the_answer_says_so(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    waiting = await talk.ask("digest", text="The harbor team meets on Mondays.")
    await drain(cold_database, FakeEmbedder())
    done = await talk.ask("digest", job_id=waiting["job_id"])
    assert done["count"] == 1
    assert "`remember` takes such a one" in done["note"]


async def test_what_was_left_out_of_a_megabyte_is_told(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    text = "".join(f"- Buoy {n} was seen at pier {n * 7}.\n" for n in range(40_000))[:1_000_000]
    waiting = await talk.ask("digest", text=text + "\0")
    await drain(cold_database, FakeEmbedder())
    done = await talk.ask("digest", job_id=waiting["job_id"])
    assert done["count"] == 6
    assert done["left_out_chars"] == 1_000_001 - 200_000
    assert "were not read; hand them over by themselves" in done["note"]


async def test_more_than_a_message_holds_is_refused_with_the_limit(
    talk: Talk, at_once: None
) -> None:
    error = await talk.refused("digest", text="x" * (16 * 2**20 + 1))
    assert error["code"] == "LIMIT_EXCEEDED"
    assert error["details"]["limit_bytes"] == 16 * 2**20


async def test_a_text_that_holds_nothing_is_refused_by_the_daemon(
    talk: Talk, at_once: None, cold_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a client of an earlier version asked for it."""
    monkeypatch.setattr("agents_memory.services.digesting.units", lambda text: [text])
    waiting = await talk.ask("digest", text="… — …")
    await drain(cold_database, FakeEmbedder())
    error = await talk.refused("digest", job_id=waiting["job_id"])
    assert error["code"] == "INVALID_INPUT"
    assert error["details"] == {"job_id": waiting["job_id"]}


async def test_a_model_that_cannot_say_is_told_of(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    waiting = await talk.ask("digest", text=NOTES)
    model = ScriptedModel(extract=lambda _: failing(Why.UNGROUNDED))
    await drain(cold_database, FakeEmbedder(), models=model)
    done = await talk.ask("digest", job_id=waiting["job_id"])
    assert (done["backend"], done["count"]) == ("rules", 2)
    assert "(ungrounded), so rules chose" in done["note"]


async def test_a_parked_job_says_why_and_what_to_do(
    talk: Talk, at_once: None, cold_database: Database
) -> None:
    waiting = await talk.ask("digest", text=NOTES)
    await value(
        cold_database, "UPDATE work SET parked_reason = 'it failed', last_error = 'it failed'"
    )
    parked = await talk.ask("digest", job_id=waiting["job_id"])
    assert (parked["state"], parked["reason"]) == ("parked", "it failed")
    assert f"retry {waiting['job_id']}" in parked["fix"]
