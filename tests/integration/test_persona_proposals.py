"""What the daemon proposes for the persona, from what, and that the owner decides (F63)."""

import asyncio
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import pytest

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Origin, Role, Trust
from agents_memory.domain.patches import Add, Applied, WriteProfile
from agents_memory.services.brief import Briefing, Reader
from agents_memory.services.erasure import Report
from agents_memory.services.export import export
from agents_memory.services.jobs import Asked, Jobs, JobState
from agents_memory.services.proposals import Accepted, Proposals
from agents_memory.services.redacting import Redacting
from agents_memory.storage import profiles
from agents_memory.storage.connections import Database
from agents_memory.storage.proposals import Proposal, Status
from cold.composition import compose
from cold.llm.blaming import SILENT
from cold.llm.port import Why
from cold.passes.persona import BAD_ANSWERS
from cold.stopping import Stop
from cold.worker import Pace
from tests.factories import NOON, Services, services
from tests.fakes import ManualClock
from tests.fixtures.language_model import BACKEND, ScriptedModel, failing, verified
from tests.integration.cold_daemons import LIMIT_S, FakeEmbedder, begin_term, query, value
from tests.integration.patches import applied, apply

USER, AGENT, SHARED = "persona.user", "persona.agent", "persona.shared"


@dataclass
class Desk:
    """Who asks, decides and looks at what stands."""

    use: Services
    cold: Database
    jobs: Jobs
    proposals: Proposals

    async def remember(self, content: str, **options: Any) -> int:
        """A lasting memory; the id of the message that it rests on."""
        said = await self.use.say(
            content, trust=options.pop("trust", Trust.OWNER), role=options.pop("role", Role.USER)
        )
        subject = options.pop("subject", "user")
        fields = {"kind": Kind.FACT, **options}
        await applied(self.use, Add(subject, content, **fields), evidence=(said.id,))
        return said.id

    async def ask(self, kind: str = USER, **options: Any) -> Asked:
        """A job, and what came of it once the daemon has worked."""
        job_id = await self.jobs.ask(self.use.user_id, "persona", {"kind": kind})
        await self.work(**options)
        found = await self.jobs.wait(self.use.user_id, "persona", job_id, within_s=0)
        assert isinstance(found, Asked)
        return found

    async def work(self, **options: Any) -> None:
        """A run by hand, which does what is due and waits for nothing."""
        pace = Pace(5, 60.0, once=True)
        worker = compose(
            self.cold, [FakeEmbedder()], Stop(), ManualClock(), pace=pace, max_attempts=9, **options
        )
        async with asyncio.timeout(LIMIT_S):
            await worker.run(await begin_term(self.cold))

    async def proposed(self, kind: str = USER, **options: Any) -> Proposal:
        asked = await self.ask(kind, **options)
        assert asked.result is not None, asked
        found = await self.proposals.find(self.use.user_id, asked.result["proposal_id"])
        assert isinstance(found, Proposal), found
        return found

    async def pages(self) -> dict[str, str]:
        found = await self.use.database.run(lambda c: profiles.list_profiles(c, self.use.user_id))
        return {kind: one.content for kind, one in found.items()}

    async def write(self, kind: str, content: str, **options: Any) -> tuple[int, int]:
        """A page by the owner; its id and version."""
        [change] = (await applied(self.use, WriteProfile(kind, content), **options)).changes
        return change.item_id, change.version

    async def accept(self, proposal_id: int) -> Accepted | Refusal:
        return await self.proposals.accept(self.use.user_id, proposal_id, "mara")

    async def reject(self, proposal_id: int) -> Proposal | Refusal:
        return await self.proposals.reject(self.use.user_id, proposal_id, "mara")


@pytest.fixture
async def desk(use: Services, cold_database: Database) -> Desk:
    return Desk(
        use,
        cold_database,
        Jobs(use.database, use.hints),
        Proposals(use.database, use.patching),
    )


async def test_rules_propose_lasting_memories_and_change_nothing(desk: Desk) -> None:
    await desk.write(USER, "# Who\n- Is called Mara.")
    heavy = await desk.remember("Lives in Graz.", importance=9)
    light = await desk.remember("Sings in a choir.", importance=5)
    await desk.remember("Bought milk.", importance=2)
    await desk.remember("A note of no weight.", kind=Kind.NOTE)
    await desk.remember("Anouk skis.", subject="Anouk")
    found = await desk.proposed()
    assert found.content == "# Who\n- Is called Mara.\n- Lives in Graz.\n- Sings in a choir."
    assert (found.evidence, found.base, found.status) == ((heavy, light), 1, Status.PENDING)
    assert (found.backend, found.trust) == ("rules", Trust.OWNER)
    assert (await desk.pages())[USER] == "# Who\n- Is called Mara."
    brief = Briefing(desk.use.database, ManualClock(), zone=UTC)
    woken = await brief.wake(Reader(desk.use.user_id, "claude-code", "laptop"))
    assert "Graz" not in woken.text


async def test_each_side_has_memories_of_its_own(desk: Desk) -> None:
    await desk.remember("Answers in German.", subject="assistant", kind=Kind.PREFERENCE)
    await desk.remember("Send the photos.", kind=Kind.PROMISE, subject="photos")
    await desk.remember("Prefers tea.", kind=Kind.PREFERENCE, subject="Mara")
    assert (await desk.proposed(AGENT)).content == "- Answers in German."
    assert (await desk.proposed(SHARED)).content == "- Send the photos."
    assert (await desk.proposed(USER)).content == "- Prefers tea."


async def test_an_accepted_proposal_becomes_a_version_with_its_evidence(desk: Desk) -> None:
    said = await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    done = await desk.accept(found.id)
    assert isinstance(done, Accepted), done
    assert (done.kind, done.version) == (USER, 1)
    assert await desk.pages() == {USER: "- Lives in Graz."}
    [version] = await desk.use.database.run(
        lambda c: profiles.list_history(c, desk.use.user_id, USER)
    )
    assert (version.evidence, version.actor) == ((said,), "owner")
    assert version.reason == f"accepted proposal {found.id}"
    stands = await desk.proposals.find(desk.use.user_id, found.id)
    assert isinstance(stands, Proposal)
    assert (stands.status, stands.patch_id, stands.decided_by) == (
        Status.ACCEPTED, done.patch_id, "mara",
    )  # fmt: skip
    for again in (await desk.accept(found.id), await desk.reject(found.id)):
        assert isinstance(again, Refusal)
        assert "accepted already" in again.message
    assert (await desk.ask()).result == {"proposal_id": None}


async def test_of_many_who_accept_at_once_one_does(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    done = await asyncio.gather(*(desk.accept(found.id) for _ in range(4)))
    assert len([one for one in done if isinstance(one, Accepted)]) == 1
    assert await value(desk.use.database, "SELECT version FROM profiles") == 1


async def test_a_rejection_is_final(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    declined = await desk.reject(found.id)
    assert isinstance(declined, Proposal)
    assert declined.status is Status.REJECTED
    assert (await desk.ask()).result == {"proposal_id": None}
    await desk.remember("Sings in a choir.")
    assert (await desk.proposed()).content == "- Sings in a choir."


async def test_what_was_taken_out_of_a_page_is_not_proposed_again(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    await desk.write(USER, "- Lives in Graz.\n- Sings.")
    await desk.write(USER, "- Sings.")
    assert (await desk.ask()).result == {"proposal_id": None}


async def test_a_newer_proposal_takes_the_place_of_an_open_one(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    first = await desk.proposed()
    assert (await desk.proposed()).id == first.id
    await desk.remember("Sings in a choir.")
    second = await desk.proposed()
    old = await desk.proposals.find(desk.use.user_id, first.id)
    assert isinstance(old, Proposal)
    assert (old.status, second.status) == (Status.REPLACED, Status.PENDING)
    assert [one.id for one in await desk.proposals.list(desk.use.user_id)] == [second.id]


async def test_a_page_that_changed_since_is_not_overwritten(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    await desk.write(USER, "- Is called Mara.")
    done = await desk.accept(found.id)
    assert isinstance(done, Refusal)
    assert done.code is Code.VERSION_CONFLICT
    assert "changed since this was proposed" in done.message
    assert await desk.pages() == {USER: "- Is called Mara."}


async def test_what_was_held_back_since_is_not_accepted(desk: Desk) -> None:
    said = await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    async with desk.cold.acquire() as connection:
        await connection.execute(
            "UPDATE message_state SET screening = 'quarantined' WHERE message_id = $1", said
        )
    done = await desk.accept(found.id)
    assert isinstance(done, Refusal)
    assert (done.code, done.details) == (Code.EVIDENCE_NOT_FOUND, {"missing": [said]})
    assert await desk.pages() == {}
    assert (await desk.ask()).result == {"proposal_id": None}


@pytest.mark.parametrize("change", ["private", "unscreened", "withdrawn"])
async def test_what_may_feed_nothing_is_not_proposed(desk: Desk, change: str) -> None:
    said = await desk.remember("Lives in Graz.")
    await desk.work()
    column = "private = true" if change == "private" else f"screening = '{change}'"
    async with desk.cold.acquire() as connection:
        await connection.execute(f"UPDATE message_state SET {column} WHERE message_id = $1", said)
    assert (await desk.ask()).result == {"proposal_id": None}


async def test_an_agents_memory_makes_a_proposal_of_an_agents_trust(desk: Desk) -> None:
    said = await desk.use.say(
        "Lives in Graz.", trust=Trust.AGENT, role=Role.ASSISTANT, origin=Origin.ASSERTED
    )
    add = Add("user", "Lives in Graz.", Kind.FACT)
    await apply(desk.use, add, evidence=(said.id,))
    assert (await desk.proposed()).trust is Trust.AGENT


async def test_erasing_a_message_or_a_memory_leaves_no_proposal_of_it(
    desk: Desk, owner_database: Database
) -> None:
    said = await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    await Redacting(owner_database).erase_message(said, run=True)
    gone = await desk.proposals.find(desk.use.user_id, found.id)
    assert isinstance(gone, Proposal)
    assert (gone.status, "Graz" in gone.content) == (Status.WITHDRAWN, False)

    sung = await desk.remember("Sings in a choir.", subject="Mara")
    second = await desk.proposed()
    memory = await value(
        desk.use.database, "SELECT id FROM memories WHERE content = 'Sings in a choir.'"
    )
    page = await desk.write(USER, "- Sings in a choir.", evidence=(sung,))
    report = await Redacting(owner_database).erase_memory(memory, run=True)
    assert isinstance(report, Report)
    # For the owner to look at: it may say the same.
    assert report.documents == (page,)
    gone = await desk.proposals.find(desk.use.user_id, second.id)
    assert isinstance(gone, Proposal)
    assert (gone.status, "choir" in gone.content) == (Status.WITHDRAWN, False)


async def test_erased_words_leave_proposals(desk: Desk, owner_database: Database) -> None:
    await desk.remember("Likes the purple walrus, and sings.")
    found = await desk.proposed()
    await Redacting(owner_database).erase_words("purple walrus", run=True)
    left = await desk.proposals.find(desk.use.user_id, found.id)
    assert isinstance(left, Proposal)
    assert "walrus" not in left.content
    assert "sings" in left.content


async def test_proposals_are_exported_with_their_evidence(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    lines: list[str] = []
    await export(desk.use.database, lines.append, ("profiles", "evidence"))
    text = "".join(lines)
    assert '"type": "proposal"' in text
    assert f'"item_id": {found.id}' in text


async def test_a_proposal_of_another_user_is_unknown(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    found = await desk.proposed()
    other = await services(desk.use.database, "anouk")
    for number in (found.id, 0, 2**63):
        done = await desk.proposals.accept(other.user_id, number, "anouk")
        assert isinstance(done, Refusal)
        assert done.code is Code.UNKNOWN_ITEM
    await other.close()


async def test_a_model_proposes_what_was_said_with_its_evidence(desk: Desk) -> None:
    await desk.write(USER, "- Lives in Graz.\n- Sings.")
    model = ScriptedModel(
        librarian=lambda _: {
            "lines": [
                {"line": "I am a carpenter in Linz.", "evidence": [1]},
                {"line": "Earns 12345 a month.", "evidence": [1]},
            ],
            "outdated": [],
        }
    )
    said = await desk.use.say("I am a carpenter in Linz now.", occurred_at=NOON)
    found = await desk.proposed(models=model)
    assert found.content == "- Lives in Graz.\n- Sings.\n- I am a carpenter in Linz."
    assert (found.evidence, found.backend) == ((said.id,), BACKEND)
    [system, user] = model.asked[-1]
    assert "L1 - Lives in Graz." in system.text
    assert "[1] 2026-11-20 I am a carpenter in Linz now." in user.text


@pytest.mark.parametrize("change", ["private = true", "screening = 'quarantined'"])
async def test_a_page_on_what_is_held_back_is_shown_to_no_model(desk: Desk, change: str) -> None:
    said = await desk.use.say("Is secretly a diver.", trust=Trust.AGENT)
    page = WriteProfile(USER, "- Is secretly a diver.")
    done = await apply(desk.use, page, evidence=(said.id,))
    assert isinstance(done, Applied), done
    await desk.work()
    async with desk.cold.acquire() as connection:
        await connection.execute(
            f"UPDATE message_state SET {change} WHERE message_id = $1", said.id
        )
    model = ScriptedModel(
        librarian=lambda _: {
            "lines": [{"line": "I am a carpenter in Linz.", "evidence": [1]}],
            "outdated": [],
        }
    )
    await desk.use.say("I am a carpenter in Linz now.", occurred_at=NOON)
    found = await desk.proposed(models=model)
    assert (found.content, found.base) == ("- I am a carpenter in Linz.", 1)
    assert not [part for asked in model.asked for part in asked if "diver" in part.text]


async def test_a_model_may_propose_to_drop_what_holds_no_more(desk: Desk) -> None:
    await desk.write(USER, "# Who\n- Lives in Graz.\n- Sings.")
    await desk.use.say("I live in Linz now.", occurred_at=NOON)
    model = ScriptedModel(
        librarian=lambda _: {
            "lines": [{"line": "I live in Linz.", "evidence": [1]}],
            "outdated": [2, 90],
        }
    )
    found = await desk.proposed(models=model)
    assert found.content == "# Who\n- Sings.\n- I live in Linz."


async def test_a_line_that_the_verifier_refutes_is_left_out_and_takes_nothing_away(
    desk: Desk,
) -> None:
    await desk.write(USER, "- Lives in Graz.\n- Sings.")
    await desk.use.say("I live in Linz now. My name is Mara.", occurred_at=NOON)
    model = ScriptedModel(
        librarian=lambda _: {
            "lines": [
                {"line": "I live in Linz.", "evidence": [1]},
                {"line": "My name is Mara.", "evidence": [1]},
            ],
            "outdated": [1],
        },
        verify=lambda _: verified("contradicted", "supported"),
    )
    found = await desk.proposed(models=model)
    assert found.content == "- Lives in Graz.\n- Sings.\n- My name is Mara."


@pytest.mark.parametrize("why", sorted(SILENT))
async def test_while_a_model_is_away_or_hangs_the_job_waits(desk: Desk, why: Why) -> None:
    """D2: however often that is found out."""
    await desk.remember("Lives in Graz.")
    model = ScriptedModel(librarian=lambda _: failing(why))
    for _ in range(BAD_ANSWERS + 1):
        asked = await desk.ask(models=model)
        assert asked.state is JobState.WAITING
    assert await desk.proposals.list(desk.use.user_id, None) == ()


async def test_after_bad_answers_rules_stand_in(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    model = ScriptedModel(librarian=lambda _: failing(Why.MALFORMED))
    job_id = await desk.jobs.ask(desk.use.user_id, "persona", {"kind": USER})
    for _ in range(BAD_ANSWERS):
        async with desk.cold.acquire() as connection:
            await connection.execute("UPDATE work SET run_after = now()")
        await desk.work(models=model)
    found = await desk.jobs.wait(desk.use.user_id, "persona", job_id, within_s=0)
    assert isinstance(found, Asked)
    assert found.state is JobState.DONE
    [proposal] = await desk.proposals.list(desk.use.user_id)
    assert proposal.backend == "rules"


async def test_a_page_that_is_written_meanwhile_is_read_again(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    model = ScriptedModel(
        librarian=lambda _: {"lines": [{"line": "Lives in Graz.", "evidence": [2]}], "outdated": []}
    )
    model.gate.clear()
    asking = asyncio.create_task(desk.proposed(models=model))
    await model.reached.wait()
    await desk.write(USER, "- Sings.")
    model.gate.set()
    found = await asking
    assert (found.base, found.content) == (1, "- Sings.\n- Lives in Graz.")
    assert len(model.asked) == 2


async def test_a_request_that_was_erased_ends_with_nothing(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    assert (await desk.ask("persona.cat")).result == {"proposal_id": None}


async def test_hot_decides_and_writes_no_proposal(desk: Desk) -> None:
    await desk.remember("Lives in Graz.")
    await desk.proposed()
    for statement in (
        "UPDATE persona_proposals SET content = 'x'",
        "DELETE FROM persona_proposals",
        "INSERT INTO persona_proposals SELECT * FROM persona_proposals",
    ):
        with pytest.raises(Exception, match="42501"):
            async with desk.use.database.acquire() as connection:
                await connection.execute(statement)
    for statement in (
        "UPDATE persona_proposals SET content = 'x'",
        "DELETE FROM persona_proposals",
    ):
        with pytest.raises(Exception, match="42501"):
            async with desk.cold.acquire() as connection:
                await connection.execute(statement)
    assert len(await query(desk.cold, "SELECT * FROM persona_proposals")) == 1
