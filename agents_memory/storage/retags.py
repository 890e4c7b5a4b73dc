"""Messages that are filed anew by hand: the runs, each change, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.storage import queries, vectors
from agents_memory.storage.connections import Connection

SQL = queries.load("retags")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which messages: of one project, of none, with a free tag; all that is given has to hold."""

    of_tag: int | None = None
    untagged: bool = False
    d_tag: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run: into `target`, by the rules, or back; `reached` is the last message it looked at."""

    id: int
    way: str
    target: int | None
    target_name: str | None
    selection: Selection
    include_pinned: bool
    rollback_of: int | None
    reached: int
    finished: bool
    taken_back_by: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages stand, and all that the rules go by; `kept`: a person chose the project."""

    p_tag: int | None
    project_hint: str | None
    cwd: str | None
    pinned: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Move:
    """A message that comes from one place to another."""

    message_id: int
    before: int | None
    before_kept: bool
    after: int | None
    after_kept: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A change that a run made, and where its message stands now."""

    move: Move
    p_tag: int | None
    kept: bool


async def insert_retag(
    connection: Connection,
    selection: Selection,
    *,
    actor: str,
    device: str,
    way: str,
    target: int | None = None,
    include_pinned: bool = False,
    rollback_of: int | None = None,
) -> int:
    """The id of a run that begins."""
    return int(
        await connection.fetchval(
            SQL["insert_retag"].sql,
            actor, device, way, target, selection.of_tag, selection.untagged, selection.d_tag,
            include_pinned, rollback_of,
        )
    )  # fmt: skip


async def find_retag(connection: Connection, run_id: int) -> Run | None:
    """A run, over or not."""
    row = await connection.fetchrow(SQL["find_retag"].sql, run_id)
    if row is None:
        return None
    fields = dict(row)
    selection = Selection(fields.pop("of_tag"), fields.pop("untagged"), fields.pop("d_tag"))
    return Run(selection=selection, **fields)


async def lock_retag(connection: Connection, run_id: int) -> int | None:
    """How far a run has come, for this transaction alone; None when it is over or taken back."""
    value = await connection.fetchval(SQL["lock_retag"].sql, run_id)
    return None if value is None else int(value)


async def note_reached(
    connection: Connection, run_id: int, reached: int, *, finished: bool
) -> None:
    """Keeps how far a run came."""
    await connection.execute(SQL["note_reached"].sql, run_id, reached, finished)


async def list_groups(connection: Connection, selection: Selection) -> list[tuple[Place, int, int]]:
    """The places of selected messages: how many stand there, and the newest of them."""
    rows = await connection.fetch(
        SQL["list_groups"].sql, selection.of_tag, selection.untagged, selection.d_tag
    )
    return [
        (
            Place(row["p_tag"], row["project_hint"], row["cwd"], row["pinned"], row["kept"]),
            row["messages"],
            row["example"],
        )
        for row in rows
    ]


async def list_batch(
    connection: Connection, selection: Selection, after: int, limit: int
) -> list[tuple[int, Place]]:
    """The next selected messages after an id, held until the transaction ends."""
    rows = await connection.fetch(
        SQL["list_batch"].sql, selection.of_tag, selection.untagged, selection.d_tag, after, limit
    )
    return [
        (
            row["id"],
            Place(row["p_tag"], row["project_hint"], row["cwd"], row["pinned"], row["kept"]),
        )
        for row in rows
    ]


async def list_entries(connection: Connection, run_id: int, after: int, limit: int) -> list[Entry]:
    """The next changes of a run, their messages held until the transaction ends."""
    return [
        Entry(
            Move(row["id"], row["before"], row["before_kept"], row["after"], row["after_kept"]),
            row["p_tag"],
            row["kept"],
        )
        for row in await connection.fetch(SQL["list_entries"].sql, run_id, after, limit)
    ]


async def count_entries(connection: Connection, run_id: int) -> tuple[int, int]:
    """How many messages a run changed, and how many still stand as it left them."""
    row = await connection.fetchrow(SQL["count_entries"].sql, run_id)
    assert row is not None, "an aggregate has a row"
    return row["changed"], row["standing"]


async def move(connection: Connection, run_id: int, moves: Sequence[Move]) -> None:
    """Files messages anew, tells their vectors, and keeps each change."""
    ids = [one.message_id for one in moves]
    after, after_kept = [m.after for m in moves], [m.after_kept for m in moves]
    before, before_kept = [m.before for m in moves], [m.before_kept for m in moves]
    await connection.execute(SQL["write_projects"].sql, ids, after, after_kept)
    await connection.execute(
        SQL["insert_entries"].sql, run_id, ids, before, before_kept, after, after_kept
    )
    await sync_projects(connection, ids)


async def sync_projects(connection: Connection, ids: Sequence[int]) -> None:
    """Tells the vectors of messages, in every model, which projects they came under."""
    for model in await vectors.list_models(connection):
        sql = SQL["sync_projects"].render(table=model.message_table)
        await connection.execute(sql, list(ids))


async def list_samples(
    connection: Connection, ids: Sequence[int], max_chars: int
) -> dict[int, str]:
    """The beginnings of some messages."""
    rows = await connection.fetch(SQL["list_samples"].sql, list(ids), max_chars)
    return {row["id"]: row["text"] for row in rows}
