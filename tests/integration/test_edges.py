"""Edges between items: bounded, cyclic, one user's, and erased with what they lead to (F34)."""

import pytest

from agents_memory.domain.edges import EDGE_DECAY, EdgeKind
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.filters import Filters
from agents_memory.domain.patches import Applied, Remove, Replace
from agents_memory.services.export import export
from agents_memory.services.graph import Graph, Walk
from agents_memory.services.narrowing import Narrow
from agents_memory.services.recall import RecallAnswer, RecallRequest
from agents_memory.services.redacting import Redacting
from agents_memory.services.rollback import Rollback
from agents_memory.storage import edges
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from tests.factories import Services, services
from tests.integration.patches import add, applied

RELATED = EdgeKind.RELATED


@pytest.fixture
def graph(use: Services) -> Graph:
    return Graph(use.database)


async def link(graph: Graph, use: Services, one: int, other: int, weight: float = 1.0) -> None:
    done = await graph.link(one, other, RELATED, weight, use.user_id)
    assert not isinstance(done, Refusal), done


async def walk(graph: Graph, use: Services, item: int, depth: int = 1, limit: int = 20) -> Walk:
    found = await graph.walk(item, depth, limit, use.user_id)
    assert isinstance(found, Walk), found
    return found


def reached(found: Walk) -> dict[int, int]:
    return {item.id: distance for distance, item in found.items}


async def asked(use: Services, query: str, **options: object) -> RecallAnswer:
    recall = use.recall(embedder=None)
    answer = await recall.search(
        RecallRequest(query, Filters(use.user_id), expand=True, **options)  # type: ignore[arg-type]
    )
    await recall.close()
    return answer


async def test_an_item_is_not_linked_to_itself(use: Services, graph: Graph) -> None:
    one = await add(use, "A storm hit the coast.")
    refused = await graph.link(one, one, RELATED, 1.0, use.user_id)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_INPUT


async def test_a_circle_is_walked_once(use: Services, graph: Graph) -> None:
    ring = [await add(use, f"Station {number} of the ring.") for number in range(4)]
    for one, other in zip(ring, [*ring[1:], ring[0]], strict=True):
        await link(graph, use, one, other)
    found = await walk(graph, use, ring[0], depth=3)
    assert reached(found) == {ring[0]: 0, ring[1]: 1, ring[3]: 1, ring[2]: 2}
    assert len(found.edges) == 4
    assert not found.left_out


async def test_a_walk_is_bounded_and_takes_the_strongest(use: Services, graph: Graph) -> None:
    hub = await add(use, "The hub.")
    rays = [await add(use, f"Ray number {number}.") for number in range(8)]
    for number, ray in enumerate(rays):
        await link(graph, use, hub, ray, weight=(number + 1) / 10)
    found = await walk(graph, use, hub, limit=3)
    assert set(reached(found)) == {hub, *rays[-3:]}
    assert found.left_out
    assert set(reached(await walk(graph, use, hub))) == {hub, *rays}


async def test_a_hundred_thousand_edges_are_not_read_for_the_strongest_few(
    use: Services, graph: Graph, owner_database: Database
) -> None:
    """The index hands out the strongest; a hub costs no more than anything else."""
    hub, near = await add(use, "The hub."), await add(use, "The near one.")
    async with owner_database.acquire() as connection:
        await connection.execute(
            "INSERT INTO edges (user_id, from_id, to_id, kind, weight) "
            "SELECT $1, $2, 1000000 + n, 'related', 0.1 FROM generate_series(1, 100000) AS n",
            use.user_id,
            hub,
        )
        await connection.execute("ANALYZE edges")
    await link(graph, use, hub, near, weight=0.9)
    async with owner_database.acquire() as connection:
        plan = await connection.fetch(
            "EXPLAIN SELECT to_id FROM edges WHERE user_id = $1 AND from_id = $2 "
            "AND removed_at IS NULL ORDER BY weight DESC, to_id LIMIT 5",
            use.user_id,
            hub,
        )
        found = await edges.list_neighbours(
            connection, [hub], use.user_id, most=1, include_archived=True
        )
    assert "edges_from" in "\n".join(row[0] for row in plan)
    assert "Sort" not in "\n".join(row[0] for row in plan)
    assert [one.other for one in found] == [near]


async def test_the_same_link_changes_the_weight_and_a_removed_one_comes_back(
    use: Services, graph: Graph
) -> None:
    one, other = await add(use, "One."), await add(use, "Other.")
    await link(graph, use, one, other, 0.25)
    again = await graph.link(one, other, RELATED, 0.5, use.user_id)
    assert not isinstance(again, Refusal)
    assert again.was == pytest.approx(0.25)
    assert await graph.unlink(one, other, None, use.user_id) == (RELATED,)
    assert await graph.unlink(one, other, None, use.user_id) == ()
    assert await graph.unlink(other, one, RELATED, use.user_id) == ()
    assert reached(await walk(graph, use, one)) == {one: 0}
    back = await graph.link(one, other, RELATED, 0.5, use.user_id)
    assert not isinstance(back, Refusal)
    assert back.was is None
    assert reached(await walk(graph, use, one)) == {one: 0, other: 1}


async def test_another_user_sees_and_links_nothing_of_it(use: Services, graph: Graph) -> None:
    one, other = await add(use, "One."), await add(use, "Other.")
    await link(graph, use, one, other)
    stranger = await services(use.database, "theo")
    for refused in (
        await graph.link(one, other, RELATED, 1.0, stranger.user_id),
        await graph.walk(one, 1, 20, stranger.user_id),
        await graph.unlink(one, other, None, stranger.user_id),
    ):
        assert isinstance(refused, Refusal)
        assert refused.code is Code.UNKNOWN_ITEM
    await stranger.close()


async def test_what_is_removed_is_neither_shown_nor_followed(use: Services, graph: Graph) -> None:
    storm = await add(use, "A storm hit the coast.")
    outage = await add(use, "Grafana was down.")
    await link(graph, use, storm, outage)
    await applied(use, Remove(outage))
    assert reached(await walk(graph, use, storm)) == {storm: 0}
    assert outage not in {item.id for item in (await asked(use, "storm coast")).items}


async def test_edges_of_what_gave_way_are_those_of_what_stands_in_its_place(
    use: Services, graph: Graph
) -> None:
    """F34, F46: at one remove or two, at both ends, and a rollback gives each its own again."""
    first = await add(use, "Mara lives in Aros.")
    second = await add(use, "Mara has moved to Lisbon.")
    third = await add(use, "Mara lives in Porto now.")
    house, office = await add(use, "A blue house."), await add(use, "An office.")
    await link(graph, use, first, house, 0.5)
    await link(graph, use, office, first, 0.9)
    await link(graph, use, second, house, 0.2)
    await link(graph, use, first, third, 0.7)
    await applied(use, Replace(first, second, merge=True))
    assert reached(await walk(graph, use, second)) == {second: 0, house: 1, office: 1, third: 1}
    await applied(use, Replace(second, third))
    found = await walk(graph, use, third)
    assert reached(found) == {third: 0, house: 1, office: 1}
    weights = {(edge.from_id, edge.to_id): edge.weight for edge in found.edges}
    assert weights == {(third, house): pytest.approx(0.5), (office, third): pytest.approx(0.9)}
    assert reached(await walk(graph, use, house)) == {house: 0, third: 1}
    assert house in {item.id for item in (await asked(use, "Porto")).items}


async def test_a_rollback_gives_a_memory_its_edges_again(use: Services, graph: Graph) -> None:
    older, newer = await add(use, "The port is 80."), await add(use, "The port is 81.")
    host = await add(use, "The host.")
    await link(graph, use, older, host)
    done = await applied(use, Replace(older, newer))
    assert reached(await walk(graph, use, newer)) == {newer: 0, host: 1}
    undone = await Rollback(use.database, Hints(use.database)).roll_back(
        done.patch_id, use.user_id, "a mistake"
    )
    assert isinstance(undone, Applied)
    assert reached(await walk(graph, use, newer)) == {newer: 0}
    assert reached(await walk(graph, use, older)) == {older: 0, host: 1}


async def test_memories_that_gave_way_to_each_other_end_no_walk(
    use: Services, graph: Graph
) -> None:
    """A rollback of a rollback can make a circle of them, which nothing stands for."""
    one, other = await add(use, "The port is 80."), await add(use, "The port is 81.")
    host = await add(use, "The host.")
    await link(graph, use, one, host)
    rollback = Rollback(use.database, Hints(use.database))
    first = await applied(use, Replace(one, other))
    undone = await rollback.roll_back(first.patch_id, use.user_id, "a mistake")
    assert isinstance(undone, Applied)
    await applied(use, Replace(other, one))
    again = await rollback.roll_back(undone.patch_id, use.user_id, "no mistake")
    assert isinstance(again, Applied), again
    assert reached(await walk(graph, use, host)) == {host: 0}


async def test_an_edge_that_was_followed_through_is_changed_and_taken_away(
    use: Services, graph: Graph
) -> None:
    older, newer = await add(use, "The port is 80."), await add(use, "The port is 81.")
    host = await add(use, "The host.")
    await link(graph, use, older, host, 0.9)
    await applied(use, Replace(older, newer))
    changed = await graph.link(newer, host, RELATED, 0.1, use.user_id)
    assert not isinstance(changed, Refusal)
    assert changed.was == pytest.approx(0.9)
    [edge] = (await walk(graph, use, newer)).edges
    assert edge.weight == pytest.approx(0.1)
    assert await graph.unlink(newer, host, None, use.user_id) == (RELATED,)
    assert reached(await walk(graph, use, newer)) == {newer: 0}


async def test_recall_brings_neighbours_lower_down_and_says_along_which_edge(
    use: Services, graph: Graph
) -> None:
    storm = await add(use, "A storm hit the coast.", kind="fact")
    outage = await add(use, "Grafana was down.", kind="note")
    far = await add(use, "The pager rang.")
    await link(graph, use, storm, outage, 0.5)
    await link(graph, use, outage, far)
    found = {item.id: item for item in (await asked(use, "storm coast")).items}
    assert set(found) == {storm, outage}
    via = found[outage].via
    assert via is not None
    assert (via.id, via.kind, via.weight) == (storm, RELATED, 0.5)
    assert found[outage].score == pytest.approx(found[storm].score * 0.5 * EDGE_DECAY, abs=1e-3)
    assert found[storm].via is None
    only = await asked(use, "storm coast", narrow=Narrow(("fact",)))
    assert [item.id for item in only.items] == [storm]
    plain = use.recall(embedder=None)
    without = await plain.search(RecallRequest("storm coast", Filters(use.user_id)))
    await plain.close()
    assert [item.id for item in without.items] == [storm]


async def test_an_erased_message_leaves_the_graph(
    use: Services, graph: Graph, owner_database: Database
) -> None:
    said = await use.say("The code of the gate is a secret.")
    memory = await add(use, "The gate has a code.")
    await link(graph, use, memory, said.id)
    assert reached(await walk(graph, use, memory)) == {memory: 0, said.id: 1}
    done = await Redacting(owner_database).erase_message(said.id, run=True)
    assert not isinstance(done, Refusal)
    assert reached(await walk(graph, use, memory)) == {memory: 0}


async def test_edges_are_exported(use: Services, graph: Graph) -> None:
    one, other = await add(use, "One."), await add(use, "Other.")
    await link(graph, use, one, other, 0.5)
    lines: list[str] = []
    done = await export(use.database, lines.append, ["edges"])
    assert done.rows == {"edge": 1}
    assert f'"from_id": {one}, "to_id": {other}, "kind": "related", "weight": 0.5' in "".join(lines)


async def test_no_runtime_role_deletes_an_edge(
    hot_database: Database, cold_database: Database
) -> None:
    for database in (hot_database, cold_database):
        async with database.acquire() as connection:
            allowed = await connection.fetchval("SELECT has_table_privilege('edges', 'DELETE')")
        assert allowed is False
