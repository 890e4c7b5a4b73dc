"""What somebody asks to remember joins what is believed already."""

import asyncio
from typing import Any

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Trust
from agents_memory.domain.patches import Add, Applied, Remove, Support, Update
from agents_memory.domain.policy import ActorClass, parse_policy
from agents_memory.services.knowledge import Knowledge, Remembered
from agents_memory.services.patching import Patching
from agents_memory.services.rollback import Rollback
from tests.factories import Services, draft
from tests.integration.patches import add, applied, apply, check_diffs, refused, versions


async def remember(use: Services, text: str, **options: Any) -> Remembered:
    options = {"kind": Kind.NOTE, "subject": "deploys", "project": None} | options
    trust = options.pop("trust", Trust.AGENT)
    done = await use.knowledge.add_memory(draft(text, trust=trust), use.user_id, **options)
    assert isinstance(done, Remembered), done
    return done


async def test_the_same_again_is_one_memory_with_more_evidence(use: Services) -> None:
    """F45, B4: 20 sessions, one observation, 20 sources."""
    first = await remember(use, "Deploys happen on Tuesdays.")
    [change] = first.applied.changes
    done = [await remember(use, "  deploys happen on tuesdays ") for _ in range(19)]
    assert {one.applied.changes[0].operation for one in done} == {"support"}
    assert {one.applied.changes[0].item_id for one in done} == {change.item_id}
    history = await versions(use, change.item_id)
    assert len(history) == 20
    assert history[-1].sources == tuple(sorted(one.message_id or 0 for one in (first, *done)))
    assert history[-1].evidence == (done[-1].message_id,)
    assert {version.content for version in history} == {"Deploys happen on Tuesdays."}
    await check_diffs(use, change.item_id)


async def test_all_who_say_the_same_at_once_are_heard(use: Services) -> None:
    """A10"""
    done = await asyncio.gather(*(remember(use, "Deploys happen on Tuesdays.") for _ in range(6)))
    [memory_id] = {one.applied.changes[0].item_id for one in done}
    history = await versions(use, memory_id)
    assert history[-1].sources == tuple(sorted(one.message_id or 0 for one in done))


async def test_twenty_at_once_are_one_memory_and_nobody_hears_of_a_version(use: Services) -> None:
    """A10: in other punctuation too, and with a pin; each is heard."""
    words = [
        "Deploys happen on Tuesdays",
        "Deploys happen on Tuesdays.",
        "deploys happen on tuesdays!",
    ]
    done = await asyncio.gather(*(remember(use, words[number % 3]) for number in range(20)))
    [memory_id] = {one.applied.changes[0].item_id for one in done}
    history = await versions(use, memory_id)
    assert history[-1].sources == tuple(sorted(one.message_id or 0 for one in done))
    await check_diffs(use, memory_id)


async def test_what_is_supported_has_to_say_so_still(use: Services) -> None:
    memory_id = await add(use, "Deploys happen on Tuesdays.")
    said = await use.say("Tuesdays.")
    support = Support(memory_id, saying="Deploys happen on Tuesdays.")
    await applied(use, support, evidence=(said.id,))
    await applied(use, Update(memory_id, "Deploys happen on Fridays."), evidence=(said.id,))
    assert (await refused(use, support, evidence=(said.id,))).code is Code.VERSION_CONFLICT


async def test_what_is_asked_for_is_pinned_though_it_was_known_before(use: Services) -> None:
    known = await add(use, "Deploys happen on Tuesdays.")
    done = await remember(use, "Deploys happen on Tuesdays.")
    assert [change.operation for change in done.applied.changes] == ["support", "pin"]
    found = await use.knowledge.find(known, use.user_id)
    assert found is not None
    assert (found.pinned, found.version) == (True, 3)


async def test_support_raises_the_trust_and_never_lowers_it(use: Services) -> None:
    by_agent = await use.say("It is Tuesdays.", trust=Trust.AGENT)
    by_owner = await use.say("Tuesdays, yes.")
    options = {"evidence": (by_agent.id,), "actor_class": ActorClass.AGENT}
    memory_id = (await applied(use, Add("deploys", "Tuesdays."), **options)).changes[0].item_id
    for message, trust in ((by_owner, Trust.OWNER), (by_agent, Trust.OWNER)):
        assert isinstance(await apply(use, Support(memory_id), evidence=(message.id,)), Applied)
        assert (await versions(use, memory_id))[-1].trust is trust


async def test_support_is_evidence_or_nothing(use: Services) -> None:
    memory_id = await add(use)
    assert (await refused(use, Support(memory_id))).code is Code.MISSING_EVIDENCE
    done = await refused(use, Support(memory_id), actor_class=ActorClass.OWNER)
    assert done.code is Code.MISSING_EVIDENCE


async def test_support_can_be_rolled_back(use: Services) -> None:
    first = await remember(use, "Deploys happen on Tuesdays.")
    again = await remember(use, "Deploys happen on Tuesdays.")
    done = await Rollback(use.database, use.hints).roll_back(
        again.applied.patch_id, use.user_id, "not so"
    )
    assert isinstance(done, Applied)
    history = await versions(use, first.applied.changes[0].item_id)
    assert history[-1].sources == (first.message_id,)


async def test_patch_operations_still_refuse_a_duplicate(use: Services) -> None:
    """F45: `memory_apply` names the one that exists."""
    memory_id = await add(use, "Deploys happen on Tuesdays.")
    said = await use.say("Tuesdays.")
    done = await refused(use, Add("deploys", "deploys happen on tuesdays"), evidence=(said.id,))
    assert (done.code, done.details["memory_id"]) == (Code.DUPLICATE_MEMORY, memory_id)


async def test_a_policy_without_support_leaves_the_duplicate_refused(use: Services) -> None:
    policy = parse_policy('[agent]\nmay = ["add"]')
    patching = Patching(use.database, use.hints, policy)
    knowledge = Knowledge(use.database, use.intake, patching)
    memory_id = await add(use, "Deploys happen on Tuesdays.")
    done = await knowledge.add_memory(
        draft("Deploys happen on Tuesdays.", trust=Trust.AGENT),
        use.user_id, kind=Kind.NOTE, subject="deploys", project=None,
    )  # fmt: skip
    assert isinstance(done, Refusal)
    assert (done.code, done.details["memory_id"]) == (Code.DUPLICATE_MEMORY, memory_id)


async def test_a_newer_value_of_an_attribute_supersedes_the_older(use: Services) -> None:
    """F46, A4, B6, B12: one memory, the older value in its history; the last correction holds."""
    about = {"subject": "Mara", "attribute": "employer"}
    first = await remember(use, "Mara works at Siemens.", **about)
    for employer in ("Bosch", "Festo", "Bosch"):
        text = f"Mara works at {employer}."
        done = await remember(use, text, subject="mara", attribute="Employer")
        [change] = done.applied.changes
        assert (change.operation, change.item_id) == ("supersede", first.applied.changes[0].item_id)
    history = await versions(use, change.item_id)
    assert [version.content.split()[-1] for version in history] == [
        "Siemens.", "Bosch.", "Festo.", "Bosch.",
    ]  # fmt: skip
    assert history[-1].sources == (done.message_id,)
    await check_diffs(use, change.item_id)


async def test_another_subject_attribute_or_project_is_another_memory(use: Services) -> None:
    """B7"""
    about = {"subject": "Mara", "attribute": "employer"}
    await remember(use, "Mara works at Siemens.", **about)
    for text, other in (
        ("Ben works at Bosch.", {"subject": "Ben"}),
        ("Mara moved to Bosch Street.", {"attribute": "address"}),
        ("Mara was with Bosch in 2019.", {}),
        ("Mara works at Bosch as well.", {"attribute": None}),
    ):
        done = await remember(use, text, **(about | other))
        assert done.applied.changes[0].operation == "add", text


async def test_what_the_owner_said_is_not_superseded_by_an_agent(use: Services) -> None:
    """B12"""
    about = {"subject": "code", "attribute": "indentation"}
    owners = await remember(use, "Indent with tabs.", trust=Trust.OWNER, **about)
    agents = await remember(use, "Indent with spaces.", **about)
    assert agents.applied.changes[0].operation == "add"
    again = await remember(use, "Indent with four spaces.", trust=Trust.OWNER, **about)
    assert again.applied.changes[0].operation == "supersede"
    assert again.applied.changes[0].item_id in (
        owners.applied.changes[0].item_id, agents.applied.changes[0].item_id,
    )  # fmt: skip


async def test_what_was_removed_is_added_anew(use: Services) -> None:
    memory_id = await add(use, "Deploys happen on Tuesdays.")
    await applied(use, Remove(memory_id))
    done = await remember(use, "Deploys happen on Tuesdays.")
    assert done.applied.changes[0].operation == "add"
