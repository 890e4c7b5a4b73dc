"""Messages filed anew by hand: counted first, bounded, resumed and taken back."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.services import retagging as module
from agents_memory.services.project_tags import ProjectTags
from agents_memory.services.retagging import Outcome, Plan, Request, Retagging, Undoing
from agents_memory.storage.connections import Database
from cold.stopping import Stop
from tests.conftest import Pool
from tests.factories import Services, settle_by_hand
from tests.integration.cold_daemons import FakeEmbedder, drain, query, running, worker
from tests.integration.test_tag_suggestions import projects, said


@pytest.fixture
async def retagging(cold_database: Database, hot_database: Database) -> Retagging:
    await ProjectTags(hot_database, actor="mara", device="laptop", via="cli").add("harbor")
    return Retagging(cold_database, actor="mara", device="laptop")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 3)


def quiet(_: int) -> None:
    """Nobody watches."""


async def run(retagging: Retagging, request: Request, limit: int | None = None) -> Outcome:
    begun = await retagging.begin(request)
    assert isinstance(begun, int), begun
    return await retagging.work(begun, limit=limit, advance=quiet)


async def plan(retagging: Retagging, request: Request, sample: int = 5) -> Plan:
    planned = await retagging.plan(request, sample)
    assert isinstance(planned, Plan), planned
    return planned


async def in_sandbox(use: Services, cold: Database, count: int = 8) -> list[int]:
    return [
        await said(use, cold, f"heron {number}", ["birds"], project="sandbox")
        for number in range(count)
    ]


async def state(database: Database) -> Mapping[int, Any]:
    rows = await query(database, "SELECT * FROM message_state ORDER BY message_id")
    return {row["message_id"]: row for row in rows}


async def test_a_plan_counts_and_shows_and_changes_nothing(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    mine = await in_sandbox(use, cold_database)
    await said(use, cold_database, "elsewhere", project="kitchen")
    await query(
        cold_database, "UPDATE message_state SET pinned = true WHERE message_id = $1", mine[0]
    )
    before = await state(cold_database)
    planned = await plan(retagging, Request(to="harbor", of="sandbox"))
    assert (planned.looked_at, planned.total, planned.pinned) == (8, 7, 1)
    assert planned.moves == {("sandbox", "harbor"): 7}
    [sample] = planned.sample
    assert (sample.id, sample.before, sample.after, sample.text) == (
        mine[-1],
        "sandbox",
        "harbor",
        "heron 7",
    )
    assert (await plan(retagging, Request(to="harbor", of="sandbox"), 0)).sample == ()
    assert await state(cold_database) == before
    assert await query(cold_database, "SELECT * FROM retags") == []


async def test_a_run_does_what_was_planned_and_the_vectors_learn_of_it(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    mine = await in_sandbox(use, cold_database)
    other = await said(use, cold_database, "elsewhere", project="kitchen")
    await settle_by_hand(cold_database, use.embedder, [*mine, other])
    done = await run(retagging, Request(to="harbor", of="sandbox"))
    assert (done.moved, done.finished) == (8, True)
    filed = await projects(cold_database)
    assert ({filed[one] for one in mine}, filed[other]) == ({"harbor"}, "kitchen")
    [row] = await query(
        cold_database,
        "SELECT count(*) AS rows FROM message_vectors_1 v JOIN project_tags t ON t.id = v.p_tag "
        "WHERE t.name = 'harbor'",
    )
    assert row["rows"] == len(mine)


async def test_pinned_messages_keep_their_tag_unless_they_are_named(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    mine = await in_sandbox(use, cold_database, 2)
    await query(
        cold_database, "UPDATE message_state SET pinned = true WHERE message_id = $1", mine[0]
    )
    await run(retagging, Request(to="harbor", of="sandbox"))
    filed = await projects(cold_database)
    assert (filed[mine[0]], filed[mine[1]]) == ("sandbox", "harbor")
    await run(retagging, Request(to="harbor", of="sandbox", include_pinned=True))
    assert (await projects(cold_database))[mine[0]] == "harbor"


async def test_only_what_was_selected_moves(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    birds = await said(use, cold_database, "heron", ["birds"])
    soup = await said(use, cold_database, "soup", ["soup"])
    await run(retagging, Request(to="harbor", untagged=True, d_tag="Birds"))
    filed = await projects(cold_database)
    assert (filed[birds], filed[soup]) == ("harbor", None)


async def test_the_rules_file_by_hint_and_folder_and_leave_what_they_do_not_know(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    there = await said(use, cold_database, "a", project="sandbox", cwd="/home/mara/code/port")
    hinted = await said(use, cold_database, "b", cwd="/home/mara/code/x", project_hint="Harbor")
    unknown = await said(use, cold_database, "c", project="sandbox", cwd="/tmp")
    by_hand = await said(use, cold_database, "d", project="kitchen", cwd="/home/mara/code/port")
    await run(retagging, Request(to="harbor", of="kitchen"))
    planned = await plan(retagging, Request())
    assert (planned.total, planned.kept) == (2, 1)
    done = await run(retagging, Request())
    assert done.moved == 2
    filed = await projects(cold_database)
    assert [filed[one] for one in (there, hinted, unknown, by_hand)] == [
        "port",
        "harbor",
        "sandbox",
        "harbor",
    ]


async def test_a_limit_stops_it_and_a_resumed_run_ends_it(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    await in_sandbox(use, cold_database)
    first = await run(retagging, Request(to="harbor", of="sandbox"), limit=4)
    assert (first.moved, first.finished) == (4, False)
    assert list((await projects(cold_database)).values()).count("harbor") == 4
    resumed = await retagging.resume(first.run_id)
    assert not isinstance(resumed, Refusal)
    rest = await retagging.work(first.run_id, advance=quiet)
    assert (rest.moved, rest.finished) == (4, True)
    over = await retagging.resume(first.run_id)
    assert isinstance(over, Refusal)
    assert over.code is Code.OPERATION_NOT_ALLOWED


async def test_a_run_is_taken_back_but_for_what_changed_since(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    mine = await in_sandbox(use, cold_database)
    none = await said(use, cold_database, "unfiled", ["birds"])
    before = await state(cold_database)
    done = await run(retagging, Request(to="harbor", d_tag="birds"))
    assert done.moved == 9
    kitchen = await said(use, cold_database, "soup", project="kitchen")
    await run(retagging, Request(to="kitchen", d_tag="birds"), limit=2)
    undoing = await retagging.undoing(done.run_id)
    assert undoing == Undoing(done.run_id, changed=9, since=2)
    begun = await retagging.begin_rollback(done.run_id)
    assert isinstance(begun, int)
    back = await retagging.work(begun, advance=quiet)
    assert (back.moved, back.since, back.finished) == (7, 2, True)
    after = await state(cold_database)
    assert after[none] == before[none]
    assert [after[one] == before[one] for one in mine] == [False, False] + [True] * 6
    assert kitchen in after
    for refusal in (
        await retagging.begin_rollback(done.run_id),
        await retagging.undoing(done.run_id),
        await retagging.resume(done.run_id),
    ):
        assert isinstance(refusal, Refusal)
        assert refusal.code is Code.ALREADY_ROLLED_BACK
    assert isinstance(await retagging.begin_rollback(begun), Refusal)


async def test_a_rollback_that_stopped_goes_on(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    await in_sandbox(use, cold_database)
    done = await run(retagging, Request(to="harbor", of="sandbox"))
    first = await retagging.begin_rollback(done.run_id)
    assert isinstance(first, int)
    part = await retagging.work(first, limit=5, advance=quiet)
    assert (part.moved, part.finished) == (5, False)
    assert await retagging.begin_rollback(done.run_id) == first
    assert (await retagging.work(first, advance=quiet)).finished
    assert set((await projects(cold_database)).values()) == {"sandbox"}


async def test_a_run_that_is_taken_back_meanwhile_ends(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    await in_sandbox(use, cold_database)
    part = await run(retagging, Request(to="harbor", of="sandbox"), limit=3)
    back = await retagging.begin_rollback(part.run_id)
    assert isinstance(back, int)
    assert (await retagging.work(part.run_id, advance=quiet)).moved == 0
    await retagging.work(back, advance=quiet)
    assert set((await projects(cold_database)).values()) == {"sandbox"}


async def test_two_who_go_on_with_one_run_move_each_message_once(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    await in_sandbox(use, cold_database, 20)
    begun = await retagging.begin(Request(to="harbor", of="sandbox"))
    assert isinstance(begun, int)
    outcomes = await asyncio.gather(*(retagging.work(begun, advance=quiet) for _ in range(3)))
    assert sum(outcome.moved for outcome in outcomes) == 20
    [row] = await query(cold_database, "SELECT count(*) AS rows FROM retag_entries")
    assert row["rows"] == 20


async def test_what_is_filed_while_the_daemon_tags_stays_filed(
    use: Services, cold_database: Database, retagging: Retagging
) -> None:
    """The daemon tags and knows another project for each; a person's word holds."""
    ids = [
        (await use.say(f"heron {number}", cwd="/home/mara/code/port")).id for number in range(30)
    ]
    stop = Stop()
    async with running(worker(cold_database, FakeEmbedder(), stop=stop), cold_database, stop):
        moved = 0
        while moved < len(ids):
            moved += (await run(retagging, Request(to="harbor", untagged=True))).moved
            if "port" in (await projects(cold_database)).values():
                moved += (await run(retagging, Request(to="harbor", of="port"))).moved
    await drain(cold_database, FakeEmbedder())
    assert set((await projects(cold_database)).values()) == {"harbor"}
    [row] = await query(
        cold_database,
        "SELECT count(*) AS rows FROM message_vectors_1 v JOIN message_state s USING (message_id) "
        "WHERE v.p_tag IS DISTINCT FROM s.p_tag",
    )
    assert row["rows"] == 0


async def test_a_run_that_is_killed_in_the_middle_is_resumed(
    use: Services, cold_database: Database, retagging: Retagging, pool: Pool, tmp_path: Path
) -> None:
    """kill -9 between batches: whole batches are there, and the rest follows."""
    ids = await in_sandbox(use, cold_database, 12)
    begun = await retagging.begin(Request(to="harbor", of="sandbox"))
    assert isinstance(begun, int)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", KILLED, str(Path(__file__).parents[2]),
        env={"HOME": str(tmp_path), "POOL": pool.url("memory_cold"), "RUN": str(begun)},
        cwd="/",
    )  # fmt: skip
    assert await child.wait() == -signal.SIGKILL
    moved = list((await projects(cold_database)).values()).count("harbor")
    assert moved == 6
    rest = await retagging.work(begun, advance=quiet)
    assert (rest.moved, rest.finished) == (6, True)
    assert {(await projects(cold_database))[one] for one in ids} == {"harbor"}


KILLED = """
import asyncio, os, signal, sys
sys.path.insert(0, sys.argv[1])
from agents_memory.services import retagging
from agents_memory.storage import retags
from agents_memory.storage.connections import Database

retagging.BATCH = 3
seen = 0

async def main():
    global seen
    database = Database(os.environ["POOL"], schema="agents_memory", application="killed")
    real = retags.move

    async def move(*arguments):
        global seen
        await real(*arguments)
        seen += 1
        if seen == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    retags.move = move
    work = retagging.Retagging(database, actor="mara", device="laptop")
    await work.work(int(os.environ["RUN"]), advance=lambda _: None)

asyncio.run(main())
"""


async def test_a_role_without_the_right_is_told_which_setting_has_it(
    hot_database: Database, retagging: Retagging
) -> None:
    with pytest.raises(ConfigurationError, match="COLD_DATABASE_URL"):
        await Retagging(hot_database, actor="mara", device="laptop").begin(Request(to="harbor"))


@pytest.mark.parametrize("number", [0, -1, 2**63, 999_999])
async def test_a_number_that_names_no_run_is_refused(retagging: Retagging, number: int) -> None:
    for refusal in (
        await retagging.resume(number),
        await retagging.undoing(number),
        await retagging.begin_rollback(number),
    ):
        assert isinstance(refusal, Refusal)
        assert refusal.code is Code.UNKNOWN_ITEM


@pytest.mark.parametrize(
    "request_", [Request(to="nowhere"), Request(of="nowhere"), Request(to="…")]
)
async def test_an_unknown_tag_begins_nothing(retagging: Retagging, request_: Request) -> None:
    for refusal in (await retagging.plan(request_, 5), await retagging.begin(request_)):
        assert isinstance(refusal, Refusal)
        assert refusal.code is Code.UNKNOWN_ITEM
