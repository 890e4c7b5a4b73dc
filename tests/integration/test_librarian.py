"""The profile that the daemon keeps: when, from what, in whose words, and what it never touches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from agents_memory.domain.messages import Origin, Role, Trust
from agents_memory.domain.patches import WriteProfile
from agents_memory.domain.policy import ActorClass, parse_policy
from agents_memory.services.patching import Patching
from agents_memory.services.rollback import Rollback
from agents_memory.storage import patches, profiles
from agents_memory.storage.connections import Database
from cold.llm.blaming import SILENT
from cold.llm.port import Turn, Why
from cold.passes.librarian import ACTOR, AWAY_S, LOOK_EVERY_S, Librarian
from cold.passes.librarianship import Librarianship
from tests.factories import NOON, Services
from tests.fakes import ManualClock
from tests.fixtures.language_model import ScriptedModel, failing, filed, revised, verified
from tests.integration.cold_daemons import FakeEmbedder, begin_term, drain, query, value
from tests.integration.patches import applied

PLAN = Librarianship(threshold=3, newest=5, oldest=5)
DAY = timedelta(days=1)
START = NOON - 20 * DAY
CORE = [{"line": "Lives in Graz.", "evidence": [1]}]


def outdated(number: int, *evidence: int) -> list[dict[str, Any]]:
    """A line of the profile that messages are said to contradict."""
    return [{"number": number, "evidence": list(evidence)}]


@dataclass
class Desk:
    """A librarian over a pool, with its clock."""

    use: Services
    cold: Database
    model: ScriptedModel
    clock: ManualClock
    epoch: int
    plan: Librarianship = PLAN
    policy: str = ""

    async def say(self, *texts: str, first: datetime = START, **changes: Any) -> list[int]:
        """Screened messages, a day apart."""
        ids = [
            (await self.use.say(text, occurred_at=first + number * DAY, **changes)).id
            for number, text in enumerate(texts)
        ]
        await drain(self.cold, FakeEmbedder())
        self.epoch = await begin_term(self.cold)
        return ids

    async def look(self) -> None:
        """One look of a librarian that just started."""
        patching = Patching(self.cold, self.use.hints, parse_policy(self.policy))
        await Librarian(self.cold, self.model, patching, self.clock, self.plan).run(self.epoch)

    async def profile(self) -> dict[str, str]:
        found = await self.cold.run(lambda c: profiles.list_profiles(c, self.use.user_id))
        return {kind: one.content for kind, one in found.items()}

    async def grounds(self, kind: str) -> list[int]:
        """The messages that a profile rests on now."""
        found = (await self.cold.run(lambda c: profiles.list_profiles(c, self.use.user_id)))[kind]
        return await self.cold.run(lambda c: patches.list_sources(c, found.id, found.version))

    async def runs(self) -> list[dict[str, Any]]:
        return await query(self.cold, "SELECT * FROM librarian_runs")

    async def write(self, kind: str, content: str) -> None:
        await applied(self.use, WriteProfile(kind, content), actor_class=ActorClass.OWNER)


@pytest.fixture
async def desk(use: Services, cold_database: Database) -> Desk:
    model = ScriptedModel(librarian=lambda _: revised(core=CORE))
    return Desk(use, cold_database, model, ManualClock(), await begin_term(cold_database))


GRAZ = ("I live in Graz.", "The heron camera is broken again.", "The viola lesson went well.")


async def test_what_the_owner_said_becomes_a_profile_with_its_evidence(desk: Desk) -> None:
    """F64, F71: by patch, as the daemon, resting on all that was read."""
    ids = await desk.say(*GRAZ)
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            core=CORE, sub=[{"line": "Repairs the heron camera.", "evidence": [2]}]
        )
    ).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Lives in Graz.", "sub": "Repairs the heron camera."}
    [row] = await query(
        desk.cold, "SELECT DISTINCT actor, tool FROM patches WHERE actor = $1", ACTOR
    )
    assert row["tool"] == "librarian"
    for kind in ("core", "sub"):
        assert sorted(await desk.grounds(kind)) == sorted(ids)
    [run] = await desk.runs()
    assert (run["attempted_at"], run["read_to"]) == (desk.clock.now(), max(ids))


async def test_it_can_be_taken_back_and_stays_away(desk: Desk) -> None:
    await desk.say(*GRAZ)
    await desk.look()
    [patch] = await query(desk.cold, "SELECT id FROM patches WHERE actor = $1", ACTOR)
    await Rollback(desk.use.database, desk.use.hints).roll_back(patch["id"], desk.use.user_id, "no")
    assert await desk.profile() == {"core": ""}
    await desk.say(*GRAZ, first=START + 5 * DAY)
    desk.clock.advance(24 * 3600)
    await desk.look()
    assert await desk.profile() == {"core": ""}


async def test_it_waits_for_so_many_new_messages_and_so_many_hours(desk: Desk) -> None:
    """F64: both thresholds."""
    await desk.say(*GRAZ[:2])
    await desk.look()
    assert (desk.model.asked, await desk.runs()) == ([], [])
    await desk.say(GRAZ[2], first=START + 2 * DAY)
    await desk.look()
    assert len(desk.model.asked) == 1
    await desk.say(*GRAZ[:2], first=START + 5 * DAY)
    desk.clock.advance(24 * 3600)
    await desk.look()
    assert len(desk.model.asked) == 1
    await desk.say(GRAZ[2], first=START + 9 * DAY)
    await desk.look()
    assert len(desk.model.asked) == 2
    await desk.say(*GRAZ, first=START + 12 * DAY)
    desk.clock.advance(24 * 3600 - 1)
    await desk.look()
    assert len(desk.model.asked) == 2
    desk.clock.advance(1)
    await desk.look()
    assert len(desk.model.asked) == 3


async def test_only_cleared_words_of_the_owner_are_counted_and_read(desk: Desk) -> None:
    """F107: nobody else's words, nothing private, unscreened or held back."""
    await desk.say("I live in Rome.", trust=Trust.AGENT, origin=Origin.ASSERTED)
    await desk.say("You live in Rome.", role=Role.ASSISTANT, trust=Trust.AGENT)
    await desk.say("They live in Rome.", trust=Trust.OTHER)
    for screening, private in (("clear", True), ("unscreened", False), ("quarantined", False)):
        [item] = await desk.say("I lived in Rome.")
        await query(
            desk.cold,
            "UPDATE message_state SET screening = $2, private = $3 WHERE message_id = $1 "
            "RETURNING 1",
            item, screening, private,
        )  # fmt: skip
    await desk.look()
    assert desk.model.asked == []
    await desk.say(*GRAZ)
    await desk.look()
    [shown] = desk.model.texts()
    assert "Rome" not in shown
    assert [line[:14] for line in shown.splitlines()] == [
        "[1] 2026-10-31", "[2] 2026-11-01", "[3] 2026-11-02",
    ]  # fmt: skip


async def test_null_keeps_and_counts_as_read(desk: Desk) -> None:
    """F64"""
    await desk.write("core", "Likes tea.")
    ids = await desk.say(*GRAZ)
    desk.model.scripts = ScriptedModel(librarian=lambda _: revised()).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Likes tea."}
    assert [run["read_to"] for run in await desk.runs()] == [max(ids)]


async def test_lines_that_nothing_shown_says_are_refused(desk: Desk) -> None:
    """C3, F111: each by itself; the others are taken."""
    await desk.say(*GRAZ)
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            core=[
                {"line": "Lives in Rome.", "evidence": [1]},
                {"line": "Lives in Graz.", "evidence": [99]},
                {"line": "Lives with the viola.", "evidence": []},
                {"line": "Repairs the heron camera.", "evidence": [2]},
                {"line": '{"core": "I live in Graz."}', "evidence": [1]},
                {"line": "I live in Graz.", "evidence": [1]},
            ]
        )
    ).scripts
    await desk.look()
    assert await desk.profile() == {"core": "I live in Graz."}


async def test_a_line_that_turns_round_what_was_said_is_refused(desk: Desk) -> None:
    """C3: the opposite, and another name, rest on nothing."""
    await desk.say("I never drink coffee.", "We decided to drop Kafka.", "我住在上海。")
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            sub=[
                {"line": "Drinks coffee.", "evidence": [1]},
                {"line": "Decided to keep Kafka.", "evidence": [2]},
                {"line": "住在北京。", "evidence": [3]},
                {"line": "Decided to drop Kafka.", "evidence": [2]},
            ]
        )
    ).scripts
    await desk.look()
    assert await desk.profile() == {"sub": "Decided to drop Kafka."}


async def test_what_the_verifier_does_not_confirm_is_not_written(desk: Desk) -> None:
    """F111: one call for both profiles, and with a line refused none is taken away."""
    await desk.say(*GRAZ)
    await desk.look()
    await desk.say(*GRAZ, first=START + 9 * DAY)
    desk.clock.advance(24 * 3600)
    asked = len(desk.model.asked)
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            core=[{"line": "Lives near Graz.", "evidence": [1, 4]}],
            core_outdated=outdated(1, 4),
            sub=[
                {"line": "Repairs the heron camera.", "evidence": [2]},
                {"line": "Sails in Rome.", "evidence": [2]},
            ],
        ),
        verify=lambda _: verified("contradicted", "supported"),
    ).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Lives in Graz.", "sub": "Repairs the heron camera."}
    assert len(desk.model.asked) == asked + 2
    *_, (_, shown) = desk.model.asked
    assert "(1) from [1] [4]: Lives near Graz." in shown.text
    assert "(2) from [2]: Repairs the heron camera." in shown.text
    assert "Rome" not in shown.text


async def test_while_the_verifier_is_away_nothing_is_written_and_the_librarian_asked_once(
    desk: Desk,
) -> None:
    """G2, F110: the answer waits, and is not asked for again."""
    await desk.say(*GRAZ)
    left: list[Any] = [failing(Why.OVER_CEILING), verified("supported")]
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(core=CORE), verify=lambda _: left.pop(0)
    ).scripts
    librarian = Librarian(
        desk.cold, desk.model, Patching(desk.cold, desk.use.hints), desk.clock, desk.plan
    )
    await librarian.run(desk.epoch)
    assert await desk.profile() == {}
    assert [run["attempted_at"] for run in await desk.runs()] == [None]
    desk.clock.advance(AWAY_S)
    await librarian.run(desk.epoch)
    assert await desk.profile() == {"core": "Lives in Graz."}
    assert len(desk.model.asked) == 3


async def test_the_language_of_the_owner_is_kept(desk: Desk) -> None:
    """F112: German words make German lines."""
    await desk.say(
        "Ich wohne in Graz und bin Tischler.",
        "Die Werkstatt in Graz ist jetzt fertig.",
        "Der Hobel für die Werkstatt ist da.",
    )
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            core=[
                {"line": "The user is a Tischler and they live in Graz", "evidence": [1]},
                {"line": "Wohnt in Graz, ist Tischler", "evidence": [1, 2]},
            ]
        )
    ).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Wohnt in Graz, ist Tischler"}


async def test_lines_of_others_are_never_taken_away(desk: Desk) -> None:
    await desk.write("core", "Likes tea.\nLives in Linz.")
    await desk.say(*GRAZ)
    prompts: list[str] = []

    def reply(prompt: Sequence[Turn]) -> Any:
        prompts.append(prompt[0].text)
        return revised(core=CORE, core_outdated=[*outdated(1, 1), *outdated(2, 1)])

    desk.model.scripts = ScriptedModel(librarian=reply).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Likes tea.\nLives in Linz.\nLives in Graz."}
    assert "(fixed) Likes tea.\n(fixed) Lives in Linz." in prompts[0]


async def test_a_line_of_its_own_gives_way_to_what_holds_now(desk: Desk) -> None:
    await desk.say(*GRAZ)
    await desk.look()
    moved = await desk.say("I live in Linz now.", *GRAZ[1:], first=START + 9 * DAY)
    desk.clock.advance(24 * 3600)
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(
            core=[{"line": "Lives in Linz.", "evidence": [4]}], core_outdated=outdated(1, 4)
        )
    ).scripts
    await desk.look()
    assert await desk.profile() == {"core": "Lives in Linz."}
    assert set(moved) <= set(await desk.grounds("core"))


def _taking_away(gone: list[dict[str, Any]], _: Sequence[Turn]) -> Any:
    return revised(core_outdated=gone)


WHO = (*GRAZ, "My name is Mara.", "I work as a carpenter.")
SELF = (("Lives in Graz.", 1), ("Her name is Mara.", 4), ("Works as a carpenter.", 5))


async def known(desk: Desk) -> None:
    """A profile of three lines of the daemon's; the next look is due."""
    await desk.say(*WHO)
    desk.model.scripts = ScriptedModel(
        librarian=lambda _: revised(core=[{"line": one, "evidence": [n]} for one, n in SELF])
    ).scripts
    await desk.look()
    assert len((await desk.profile())["core"].splitlines()) == 3
    desk.clock.advance(24 * 3600)


@pytest.mark.parametrize("verifies", [False, True])
async def test_a_profile_is_not_taken_away_without_evidence(desk: Desk, verifies: bool) -> None:
    """F64, F111: null keeps, whatever is called outdated, and by whomever it is confirmed."""
    await known(desk)
    before = await desk.profile()
    await desk.say("The tide is high.", "Coffee was good.", "Next file.", first=START + 8 * DAY)
    scripts: dict[str, Any] = {"verify": lambda _: verified(*["contradicted"] * 3)}
    for evidence in ([], [6], [1, 2, 3, 4, 5, 6]):
        gone = [line for number in (1, 2, 3) for line in outdated(number, *evidence)]
        desk.model.scripts = ScriptedModel(
            librarian=partial(_taking_away, gone),
            **(scripts if verifies else {}),
        ).scripts
        await query(desk.cold, "UPDATE librarian_runs SET read_to = 0 RETURNING 1")
        await desk.look()
        desk.clock.advance(24 * 3600)
        assert await desk.profile() == before


@pytest.mark.parametrize("verdict", [None, "contradicted", "supported", "not_told"])
async def test_what_the_owner_takes_back_goes_and_is_cited(desk: Desk, verdict: str | None) -> None:
    """F110, F111: rules and the verifier, where there is one, have to agree."""
    await known(desk)
    said = await desk.say(
        "I no longer work as a carpenter.", "Coffee was good.", "Ok.", first=START + 8 * DAY
    )

    def reply(prompt: Sequence[Turn]) -> Any:
        shown = next(turn.text for turn in prompt if turn.source).splitlines()
        number = 1 + next(at for at, line in enumerate(shown) if "no longer" in line)
        return revised(core_outdated=outdated(3, number))

    scripts = {} if verdict is None else {"verify": lambda _: verified(verdict)}
    desk.model.scripts = ScriptedModel(librarian=reply, **scripts).scripts
    await desk.look()
    goes = verdict in (None, "contradicted")
    lines = [line for line, _ in SELF[: 2 if goes else 3]]
    assert (await desk.profile())["core"].splitlines() == lines
    if goes:
        assert said[0] in await desk.grounds("core")
    if verdict is not None:
        *_, (_, shown) = desk.model.asked
        assert "Works as a carpenter." in shown.text


async def test_what_the_owner_writes_meanwhile_is_kept(desk: Desk) -> None:
    """A23: both changes stand."""
    await desk.say(*GRAZ)
    desk.model.gate.clear()
    look = asyncio.create_task(desk.look())
    await desk.model.reached.wait()
    await desk.write("core", "Likes tea.")
    desk.model.gate.set()
    await look
    assert await desk.profile() == {"core": "Likes tea.\nLives in Graz."}


async def test_what_is_held_back_meanwhile_says_nothing(desk: Desk) -> None:
    ids = await desk.say(*GRAZ)
    desk.model.gate.clear()
    look = asyncio.create_task(desk.look())
    await desk.model.reached.wait()
    await query(
        desk.cold,
        "UPDATE message_state SET screening = 'quarantined' WHERE message_id = $1 RETURNING 1",
        ids[0],
    )
    desk.model.gate.set()
    await look
    assert await desk.profile() == {}


async def test_an_attempt_is_noted_before_the_model_is_asked(desk: Desk) -> None:
    """A daemon that dies in between has written nothing, and asks again only a day later."""
    await desk.say(*GRAZ)
    desk.model.gate.clear()
    look = asyncio.create_task(desk.look())
    await desk.model.reached.wait()
    assert await desk.runs() == [
        {"user_id": desk.use.user_id, "attempted_at": desk.clock.now(), "read_to": 0}
    ]
    idle = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    assert await value(desk.cold, idle) == 0
    look.cancel()
    await asyncio.gather(look, return_exceptions=True)
    desk.model.gate.set()
    await desk.look()
    assert await desk.profile() == {}
    desk.clock.advance(24 * 3600)
    await desk.look()
    assert await desk.profile() == {"core": "Lives in Graz."}


@pytest.mark.parametrize("why", sorted(set(Why) - {Why.TOO_LONG}))
async def test_every_failure_leaves_the_profile_as_it_is(desk: Desk, why: Why) -> None:
    """A bad answer waits for the next day, a model that is away only until it is back (D2)."""
    # What is not even taken about a trivial text is the provider's fault.
    away = SILENT | {Why.REJECTED}
    await desk.say(*GRAZ)
    answers: list[Any] = [failing(why), revised(core=CORE)]
    desk.model.scripts = ScriptedModel(librarian=lambda _: answers.pop(0)).scripts
    desk.model.trial = failing(why)
    await desk.look()
    assert await desk.profile() == {}
    [run] = await desk.runs()
    assert (run["attempted_at"], run["read_to"]) == (
        None if why in away else desk.clock.now(),
        0,
    )
    desk.clock.advance(AWAY_S if why in away else 24 * 3600)
    desk.model.trial = filed()
    await desk.look()
    assert await desk.profile() == {"core": "Lives in Graz."}


async def test_while_the_model_is_away_it_is_left_alone_until_then(desk: Desk) -> None:
    await desk.say(*GRAZ)
    until = desk.clock.now() + timedelta(hours=1)
    desk.model.scripts = ScriptedModel(librarian=lambda _: failing(Why.ON_HOLD, until)).scripts
    patching = Patching(desk.cold, desk.use.hints)
    librarian = Librarian(desk.cold, desk.model, patching, desk.clock, desk.plan)
    await librarian.run(desk.epoch)
    desk.clock.advance(3599)
    await librarian.run(desk.epoch)
    assert len(desk.model.asked) == 1
    desk.clock.advance(1 + LOOK_EVERY_S)
    await librarian.run(desk.epoch)
    assert len(desk.model.asked) == 2


async def test_what_does_not_fit_is_halved(desk: Desk) -> None:
    await desk.say(*GRAZ, *GRAZ)
    answers: list[Any] = [failing(Why.TOO_LONG), revised(core=CORE)]
    desk.model.scripts = ScriptedModel(librarian=lambda _: answers.pop(0)).scripts
    await desk.look()
    first, second = (len(text.splitlines()) for text in desk.model.texts())
    assert (first, second) == (6, 3)
    assert await desk.profile() == {"core": "Lives in Graz."}


async def test_the_newest_and_the_oldest_are_read(desk: Desk) -> None:
    await desk.say(*(f"The heron came on day {n}." for n in range(9)))
    desk.plan = replace(PLAN, newest=2, oldest=1)
    await desk.look()
    [shown] = desk.model.texts()
    assert [line[-2:] for line in shown.splitlines()] == ["0.", "7.", "8."]


async def test_a_policy_that_forbids_it_and_a_switch_are_kept_to(desk: Desk) -> None:
    """F6"""
    await desk.say(*GRAZ)
    desk.plan = replace(PLAN, enabled=False)
    await desk.look()
    assert desk.model.asked == []
    desk.plan, desk.policy = PLAN, '[daemon]\nmay = ["add"]'
    await desk.look()
    assert await desk.profile() == {}
    assert [run["read_to"] for run in await desk.runs()] == [0]


async def test_without_a_model_nothing_is_touched(desk: Desk) -> None:
    """F93"""
    await desk.write("core", "Likes tea.")
    await desk.say(*GRAZ)
    await drain(desk.cold, FakeEmbedder(), models=ScriptedModel(), librarianship=PLAN)
    assert (await desk.profile(), await desk.runs()) == ({"core": "Likes tea."}, [])


async def test_the_daemon_has_a_librarian_where_a_model_serves_one(desk: Desk) -> None:
    await desk.say(*GRAZ)
    await drain(desk.cold, FakeEmbedder(), models=desk.model, librarianship=PLAN)
    assert await desk.profile() == {"core": "Lives in Graz."}


async def test_an_attempt_of_a_clock_that_was_ahead_keeps_it_from_nothing(desk: Desk) -> None:
    """Once the clock is right the profile is written as ever."""
    await desk.say(*GRAZ)
    right = desk.clock.now()
    desk.clock.set(right + 365 * DAY)
    await desk.look()
    desk.clock.set(right)
    await desk.say(*GRAZ, first=START + 8 * DAY)
    await desk.look()
    assert len(desk.model.asked) == 2
    [run] = await desk.runs()
    assert run["attempted_at"] == right
    await desk.say(*GRAZ, first=START + 12 * DAY)
    await desk.look()
    assert len(desk.model.asked) == 2
