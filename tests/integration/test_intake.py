"""Intake: everything said is stored once, repaired, without its secrets."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import fence
from agents_memory.domain.lexical import Analysis, analyse
from agents_memory.domain.messages import Accepted, Role, Stored, Trust
from agents_memory.services import intake
from agents_memory.services.intake import accept
from agents_memory.storage import messages, work
from agents_memory.storage.connections import Database
from tests.factories import NOON, Services, draft
from tests.integration.cold_daemons import query

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def _text(use: Services, stored: Stored) -> str:
    async with use.database.acquire() as connection:
        [view] = await messages.list_messages(connection, [stored.id], use.user_id)
    return view.text


async def test_a_stored_message_waits_for_its_first_pass(use: Services) -> None:
    """F70, A11: the work is committed with the message."""
    stored = await use.say("We use tabs in this repository.")
    async with use.database.acquire() as connection:
        waiting = await work.list_work_of(connection, stored.id)
    assert [item.stage for item in waiting] == ["screen"]


@pytest.mark.parametrize(
    "text",
    [
        "null\x00byte",
        "lone \ud83d surrogate",
        "\ud83d\ude00 as two code units",
        "‮right to left",
        "'; DROP TABLE messages; --",
        "{}[]\\'\"$1 %s :name",
        "🧑‍👩‍👧‍👦" * 50,
        "line\u2028separators\u2029of\x85all\x0bsorts",
        "데이터베이스를 어떻게 할까?",
        "我们为什么不用 Kafka？",
        "<|endoftext|> <|im_end|>",
    ],
)
async def test_any_text_is_legal(use: Services, text: str) -> None:
    """I1, I3, J10: nothing a person can type is refused or breaks a statement."""
    stored = await use.say(text)
    kept = await _text(use, stored)
    assert "\x00" not in kept
    kept.encode("utf-8")


async def test_text_is_kept_as_it_was_said(use: Services) -> None:
    said = "  Zwei  Leerzeichen,\r\n\tTab und café (e + Akzent: e\u0301)  "
    assert await _text(use, await use.say(said)) == said


async def test_a_megabyte_is_stored_whole(use: Services) -> None:
    said = "All work and no play makes a long log line. " * 30_000
    assert await _text(use, await use.say(said)) == said


async def test_more_than_the_bound_is_refused_with_what_to_do(use: Services) -> None:
    refused = await use.intake.store(draft("x" * (16 * 2**20 + 1)), use.user_id)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.LIMIT_EXCEEDED
    assert "split" in refused.message


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u200c", fence("only recalled", "brief")])
async def test_nothing_said_is_not_stored(use: Services, text: str) -> None:
    """C2, B1: blank turns and our own injected text are no messages."""
    refused = await use.intake.store(draft(text), use.user_id)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_INPUT


async def test_recalled_text_is_not_taken_in_again(use: Services) -> None:
    """B1: only what is new in a turn is stored."""
    stored = await use.say(f"Before. {fence('an old secret plan', 'brief')} After.")
    kept = await _text(use, stored)
    assert "secret plan" not in kept
    assert "Before." in kept
    assert "After." in kept


async def test_secrets_never_reach_the_database(use: Services, owner_database: Database) -> None:
    """F108: neither text nor labels nor lexemes hold the secret."""
    stored = await use.say(
        f"Push with {TOKEN} please <private>my diagnosis</private>",
        venue=f"room {TOKEN}",
        session=TOKEN,
        cwd=f"/home/mara/{TOKEN}",
    )
    assert sum(stored.redactions.values()) == 2
    async with owner_database.acquire() as connection:
        row = await connection.fetchval("SELECT m::text FROM messages m WHERE id = $1", stored.id)
    assert TOKEN not in row
    assert TOKEN.casefold() not in row
    assert "diagnosis" not in row
    assert "redacted" in row


async def test_the_same_turn_of_a_store_is_stored_once(use: Services) -> None:
    """F75, B15: reading a store again inserts nothing."""
    turn = {"source": "claude_code", "store_id": "laptop/abc", "native_id": "turn-1"}
    first = await use.say("Said once.", **turn)
    again = await use.say("Said once.", **turn)
    other_machine = await use.say("Said once.", **{**turn, "store_id": "desktop/abc"})
    assert (again.id, again.duplicate) == (first.id, True)
    assert (other_machine.duplicate, other_machine.id != first.id) == (False, True)


async def test_concurrent_writers_of_one_turn_agree(use: Services) -> None:
    """A10, A26: eight writers at once make one row, and all learn its id."""
    turn = draft("Raced.", source="codex", store_id="s", native_id="1")
    stored = await asyncio.gather(*(use.intake.store(turn, use.user_id) for _ in range(8)))
    ids = {one.id for one in stored if isinstance(one, Stored)}
    assert len(ids) == 1
    assert sum(not one.duplicate for one in stored if isinstance(one, Stored)) == 1


async def test_two_equal_sentences_are_two_messages(use: Services) -> None:
    first, second = await use.say("yes"), await use.say("yes")
    assert first.id != second.id


async def test_a_user_turn_has_no_model(use: Services) -> None:
    """F78: the model belongs to the reply."""
    stored = await use.say("Who?", model="some-model")
    reply = await use.say("Me.", role=Role.ASSISTANT, trust=Trust.AGENT, model="some-model")
    async with use.database.acquire() as connection:
        views = await messages.list_messages(connection, [stored.id, reply.id], use.user_id)
    assert [view.model for view in views] == [None, "some-model"]


async def test_subagent_details_without_a_subagent_are_dropped(use: Services) -> None:
    stored = await use.intake.store(
        replace(draft("Hm."), subagent=False, subagent_role="reviewer"), use.user_id
    )
    assert isinstance(stored, Stored)


async def test_a_time_that_the_pools_clock_has_not_reached_is_unknown(use: Services) -> None:
    """I6: whatever the machine's own clock says; one that is a little ahead is believed."""
    now = await use.database.run(lambda c: c.fetchval("SELECT now()"))
    times = {"soon": timedelta(seconds=100), "hours": timedelta(hours=9), "years": timedelta(3650)}
    turns = []
    for text, ahead in times.items():
        turn = await accept(draft(text, occurred_at=now + ahead), now + ahead)
        assert isinstance(turn, Accepted)
        turns += [turn, replace(turn, intake_id=uuid4())]
    for turn in turns[::2]:
        again = [await use.intake.insert(turn, use.user_id) for _ in range(2)]
        assert [stored.identical for stored in again] == [True, True]
    await use.intake.insert_many(turns[1::2], use.user_id)
    rows = await query(use.database, "SELECT message, occurred_at FROM messages ORDER BY id")
    assert [(row["message"], row["occurred_at"]) for row in rows] == [
        ("soon", now + times["soon"]), ("hours", None), ("years", None),
    ] * 2  # fmt: skip


async def test_many_turns_from_the_disk_are_analysed_beside_the_loop(
    use: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10: each is small enough, all of them take seconds."""
    threads: set[int] = set()

    def noted(text: str) -> Analysis:
        threads.add(threading.get_ident())
        return analyse(text)

    turns = [await accept(draft("some words " * 2_000), NOON) for _ in range(3)]
    waiting = [replace(turn, analysis=None) for turn in turns if isinstance(turn, Accepted)]
    monkeypatch.setattr(intake, "analyse", noted)
    assert len(await use.intake.insert_many(waiting, use.user_id)) == 3
    assert threads
    assert threading.get_ident() not in threads
