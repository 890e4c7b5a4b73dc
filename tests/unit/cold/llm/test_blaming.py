"""Whose fault an answer that never came is: told by a trivial text, and found out after a hang."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from cold.llm import tagging
from cold.llm.blaming import SILENT, Blaming, model_away
from cold.llm.port import Answered, Away, Failure, Role, Turn, Why
from cold.llm.tagging import Filed
from tests.fixtures.language_model import Reply, ScriptedModel, failing, filed

BAD = [Turn("user", "the text over which it fails", source=True)]
GOOD = [Turn("user", "any other text", source=True)]
UNTIL = datetime(2026, 12, 1, 9, tzinfo=UTC)


def model(bad: Reply, trial: Reply, good: Reply | None = None) -> ScriptedModel:
    def script(asked: Sequence[Turn]) -> Reply:
        return bad if asked == BAD else good or filed()

    scripted = ScriptedModel(cluster=script, verify=script)
    scripted.trial = trial
    return scripted


async def ask(
    asking: Blaming, text: Sequence[Turn], role: Role = Role.CLUSTER
) -> Answered[Filed] | Failure:
    return await asking.complete(role, text, Filed)


def told(scripted: ScriptedModel) -> list[str]:
    names = {id(BAD): "bad", id(GOOD): "good"}
    return [names.get(id(asked), "trial") for asked in scripted.asked]


@pytest.mark.parametrize("why", sorted(SILENT))
async def test_what_answers_nothing_at_all_is_away(why: Why) -> None:
    """D2, D10: no text is to blame."""
    assert await ask(Blaming(model(failing(why), failing(why))), BAD) == Away(
        why, f"it is {why} by the script"
    )


@pytest.mark.parametrize(
    ("why", "told_as"),
    [(Why.TIMED_OUT, Why.TIMED_OUT), (Why.UNAVAILABLE, Why.REJECTED)],
)
async def test_a_text_over_which_alone_it_fails_is_to_blame(why: Why, told_as: Why) -> None:
    failure = await ask(Blaming(model(failing(why), filed())), BAD)
    assert isinstance(failure, Failure)
    assert not isinstance(failure, Away)
    assert failure.why is told_as


@pytest.mark.parametrize("why", sorted(set(Why) - SILENT - {Why.REJECTED}))
async def test_a_bad_answer_is_what_it_was_and_costs_no_trial(why: Why) -> None:
    scripted = model(failing(why), filed())
    assert await ask(Blaming(scripted), BAD) == failing(why)
    assert told(scripted) == ["bad"]


@pytest.mark.parametrize("why", [Why.ON_HOLD, Why.OVER_CEILING, Why.UNAVAILABLE])
async def test_until_when_it_is_away_is_told_without_a_trial(why: Why) -> None:
    scripted = model(failing(why, UNTIL), filed())
    away = await ask(Blaming(scripted), BAD)
    assert isinstance(away, Away)
    assert told(scripted) == ["bad"]
    assert str(model_away(away)).endswith("; until 2026-12-01 09:00:00 UTC")
    assert model_away(away).until == UNTIL


async def test_after_a_hang_the_trivial_text_comes_first_and_the_bad_one_is_found_out() -> None:
    """D2: it would else be asked first each time, and be taken for a server that is away."""
    scripted = model(failing(Why.TIMED_OUT), failing(Why.ON_HOLD))
    asking = Blaming(scripted)
    assert isinstance(await ask(asking, BAD), Away)
    assert isinstance(await ask(asking, BAD), Away)
    assert told(scripted) == ["bad", "trial", "trial"]
    scripted.trial = filed()
    failure = await ask(asking, BAD)
    assert not isinstance(failure, Away)
    assert failure == failing(Why.TIMED_OUT)
    assert told(scripted)[3:] == ["trial", "bad"]
    assert isinstance(await ask(asking, GOOD), Answered)
    assert told(scripted)[5:] == ["good"]


async def test_a_hang_of_one_role_is_none_of_another() -> None:
    scripted = model(failing(Why.TIMED_OUT), failing(Why.TIMED_OUT))
    asking = Blaming(scripted)
    assert isinstance(await ask(asking, BAD), Away)
    assert isinstance(await ask(asking, GOOD, Role.VERIFY), Answered)


async def test_side_by_side_after_a_hang_one_trial_speaks_for_all() -> None:
    scripted = model(failing(Why.TIMED_OUT), failing(Why.TIMED_OUT))
    asking = Blaming(scripted)
    await ask(asking, BAD)
    scripted.asked.clear()
    scripted.reached.clear()
    scripted.gate.clear()
    waiting = [asyncio.create_task(ask(asking, GOOD)) for _ in range(4)]
    await scripted.reached.wait()
    scripted.gate.set()
    assert all(isinstance(one, Away) for one in await asyncio.gather(*waiting))
    assert scripted.asked == [tagging.trial()]


async def test_a_text_that_alone_is_not_taken_is_to_blame() -> None:
    scripted = model(failing(Why.REJECTED), filed())
    assert await ask(Blaming(scripted), BAD) == failing(Why.REJECTED)
    assert told(scripted) == ["bad", "trial"]


@pytest.mark.parametrize("trial", sorted(SILENT | {Why.REJECTED}))
async def test_what_takes_no_question_at_all_is_away(trial: Why) -> None:
    """D10: a server that speaks another dialect refuses every text, and none is to blame."""
    scripted = model(failing(Why.REJECTED), failing(trial))
    assert await ask(Blaming(scripted), BAD) == Away(Why.REJECTED, "it is rejected by the script")
