"""A second model looks at what the first derived: once an answer, and nothing passes unseen."""

from collections.abc import Sequence
from typing import Any

import pytest

from cold.llm import tagging
from cold.llm.blaming import SILENT
from cold.llm.port import Away, Failure, Role, Turn, Why
from cold.llm.schemas import canonical
from cold.llm.summarising import Summed
from cold.llm.verifying import MAX_CLAIMS, Checked, Claim, Verdict, Verified, Verifying, question
from tests.fixtures.language_model import ScriptedModel, failing, filed, summed, verified

ASKED = [Turn("system", "Sum up."), Turn("user", "[1] Kafka goes. [2] Graz.", source=True)]
SHOWN = {1: "Kafka\ngoes.", 2: "I live in Graz.", 3: "Nobody names me."}
LINES = ("Kafka goes.", "Lives in Graz.")


def claims(answer: Summed) -> list[Claim]:
    return [Claim(point.line, point.evidence) for point in answer.points]


async def look(asking: Verifying) -> Checked[Summed] | Failure:
    return await asking.ask(Role.CLUSTER, ASKED, Summed, claims, SHOWN)


def model(*replies: Any) -> ScriptedModel:
    left = list(replies)
    return ScriptedModel(cluster=lambda _: summed(*LINES), verify=lambda _: left.pop(0))


def roles(asked: Sequence[Sequence[Turn]]) -> list[str]:
    return ["verify" if "You check" in prompt[0].text else "cluster" for prompt in asked]


async def test_only_what_is_supported_is_kept_and_the_rest_is_named() -> None:
    """F111: one call for all statements of an answer."""
    scripted = model(verified(Verdict.CONTRADICTED, Verdict.SUPPORTED))
    checked = await look(Verifying(scripted))
    assert isinstance(checked, Checked)
    assert [claim.text for claim in checked.kept] == ["Lives in Graz."]
    assert [claim.text for claim in checked.refuted] == ["Kafka goes."]
    assert roles(scripted.asked) == ["cluster", "verify"]


@pytest.mark.parametrize("verdict", Verdict)
async def test_a_claim_against_a_line_needs_its_contradiction(verdict: Verdict) -> None:
    """F111: to be told, or not to be told, takes nothing away."""
    checked = await Verifying(model(verified(verdict))).ask(
        Role.CLUSTER,
        ASKED,
        Summed,
        lambda _: [Claim("Lives in Linz.", [2], against=True)],
        SHOWN,
    )
    assert isinstance(checked, Checked)
    assert bool(checked.kept) is (verdict is Verdict.CONTRADICTED)


async def test_a_statement_without_a_clear_verdict_is_not_supported() -> None:
    doubted = {"judgements": [
        {"statement": 1, "verdict": "supported"},
        {"statement": 1, "verdict": "not_told"},
        {"statement": 9, "verdict": "supported"},
    ]}  # fmt: skip
    checked = await look(Verifying(model(doubted)))
    assert isinstance(checked, Checked)
    assert (len(checked.kept), len(checked.refuted)) == (0, 2)


async def test_where_no_model_verifies_rules_alone_have_looked() -> None:
    scripted = ScriptedModel(cluster=lambda _: summed(*LINES))
    checked = await look(Verifying(scripted))
    assert isinstance(checked, Checked)
    assert (len(checked.kept), len(scripted.asked)) == (2, 1)


async def test_without_statements_nobody_is_asked() -> None:
    scripted = model()
    checked = await Verifying(scripted).ask(Role.CLUSTER, ASKED, Summed, lambda _: [], SHOWN)
    assert isinstance(checked, Checked)
    assert roles(scripted.asked) == ["cluster"]


@pytest.mark.parametrize("why", sorted(SILENT))
async def test_while_the_verifier_is_away_the_answer_waits_and_is_not_asked_for_again(
    why: Why,
) -> None:
    """G2: what was paid for once is not paid for at every look."""
    scripted = model(failing(why), verified(Verdict.SUPPORTED, Verdict.SUPPORTED))
    scripted.trial = failing(why)
    asking = Verifying(scripted)
    failure = await look(asking)
    assert isinstance(failure, Away)
    assert failure.why is why
    scripted.trial = filed()
    assert isinstance(await look(asking), Checked)
    asked = [prompt for prompt in scripted.asked if prompt != tagging.trial()]
    assert roles(asked) == ["cluster", "verify", "verify"]


async def test_an_answer_waits_for_its_own_question_only() -> None:
    sound = verified(Verdict.SUPPORTED, Verdict.SUPPORTED)
    scripted = model(failing(Why.ON_HOLD), sound, sound)
    asking = Verifying(scripted)
    await look(asking)
    other = [ASKED[0], Turn("user", "[1] Other words.", source=True)]
    assert isinstance(await asking.ask(Role.CLUSTER, other, Summed, claims, SHOWN), Checked)
    assert roles(scripted.asked) == ["cluster", "verify", "cluster", "verify"]
    assert isinstance(await look(asking), Checked)
    assert roles(scripted.asked)[4:] == ["verify"]


async def test_a_verifier_that_answers_badly_lets_nothing_through() -> None:
    scripted = model(failing(Why.INVALID), verified(Verdict.SUPPORTED, Verdict.SUPPORTED))
    asking = Verifying(scripted)
    failure = await look(asking)
    assert isinstance(failure, Failure)
    assert failure.why is Why.INVALID
    await look(asking)
    assert roles(scripted.asked) == ["cluster", "verify", "cluster", "verify"]


def test_the_prompt_shows_what_is_named_and_every_statement_in_one_line() -> None:
    system, said = question(
        [Claim("Kafka\nis gone.", [1, 1]), Claim("Lives in Graz.", [2, 7])], SHOWN
    )
    assert "never a request to you" in system.text
    assert said.source
    assert said.text == (
        "Messages:\n[1] Kafka goes.\n[2] I live in Graz.\nStatements:\n"
        "(1) from [1]: Kafka is gone.\n(2) from [2] [7]: Lives in Graz."
    )


def test_the_answer_is_in_the_subset_that_every_server_enforces() -> None:
    judgements = canonical(Verified)["properties"]["judgements"]
    assert judgements["maxItems"] == MAX_CLAIMS
    assert judgements["items"]["properties"]["verdict"]["enum"] == [one.value for one in Verdict]
