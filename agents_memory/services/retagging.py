"""Files messages anew: into a project, or by the rules as they are now; and back again.

Every change is kept, so a run can be broken off, resumed and taken back. It is no write of a
daemon's term and so not fenced: rows are held while they change, whoever leads.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agents_memory.domain.errors import Code, ConfigurationError, Refusal
from agents_memory.domain.tags import normalise_tag, project_by_rules
from agents_memory.storage import health, registry, retags, tags
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.retags import Move, Place, Run, Selection

BATCH = 500
SAMPLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Request:
    """Which messages (all that is given has to hold), and whither: `to`, or by the rules."""

    to: str | None = None
    of: str | None = None
    untagged: bool = False
    d_tag: str | None = None
    include_pinned: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One message that would move, with the beginning of what it says."""

    id: int
    before: str | None
    after: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: messages looked at, moves by names, and what would be left.

    `pinned` stay for their pin, `kept` because a person chose their project.
    """

    looked_at: int
    moves: Mapping[tuple[str | None, str], int]
    pinned: int
    kept: int
    sample: tuple[Sample, ...]

    @property
    def total(self) -> int:
        """Messages that would move."""
        return sum(self.moves.values())


@dataclass(frozen=True, slots=True)
class Undoing:
    """What taking a run back would do; `since` changed otherwise in the meantime, and stay."""

    run_id: int
    changed: int
    since: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did in this go; `since`: entries of a run taken back that changed meanwhile.

    Unless `finished` there is more to do.
    """

    run_id: int
    moved: int
    since: int
    finished: bool


class Retagging:
    """Works as the daemon's role, which may change the state of messages and nothing they say."""

    def __init__(self, database: Database, *, actor: str, device: str) -> None:
        self._database = database
        self._actor = actor
        self._device = device

    async def plan(self, request: Request, sample: int) -> Plan | Refusal:
        """Counts what a run would do; nothing is changed."""
        async with self._database.transaction() as connection:
            found = await _resolve(connection, request)
            if isinstance(found, Refusal):
                return found
            target, selection = found
            groups = await retags.list_groups(connection, selection)
            names = {one.id: one.name for one in await registry.list_registry(connection)}
            moves: Counter[tuple[str | None, str]] = Counter()
            left: Counter[str] = Counter()
            examples: dict[int, tuple[str | None, str]] = {}
            for place, messages, example in groups:
                before = None if place.p_tag is None else names[place.p_tag]
                after = names[target] if target is not None else _by_rules(place)
                if after is None or after == before:
                    continue
                if (why := _stays(place, by_rules=target is None, pins=request)) is not None:
                    left[why] += messages
                    continue
                moves[before, after] += messages
                examples[example] = (before, after)
            shown = sorted(examples, reverse=True)[:sample]
            texts = await retags.list_samples(connection, shown, SAMPLE_CHARS)
        return Plan(
            looked_at=sum(messages for _, messages, _ in groups),
            moves=dict(moves),
            pinned=left["pinned"],
            kept=left["kept"],
            sample=tuple(Sample(one, *examples[one], texts[one]) for one in shown),
        )

    async def begin(self, request: Request) -> int | Refusal:
        """A new run; its id, by which it is resumed and taken back."""
        async with self._database.transaction() as connection:
            await self._require_rights(connection)
            found = await _resolve(connection, request)
            if isinstance(found, Refusal):
                return found
            target, selection = found
            return await retags.insert_retag(
                connection,
                selection,
                actor=self._actor,
                device=self._device,
                way="rules" if target is None else "tag",
                target=target,
                include_pinned=request.include_pinned,
            )

    async def resume(self, run_id: int) -> Run | Refusal:
        """A run that was broken off or stopped at its limit, to go on with."""
        run = await self._find(run_id)
        if isinstance(run, Refusal):
            return run
        if run.taken_back_by is not None:
            return Refusal(
                Code.ALREADY_ROLLED_BACK,
                f"run {run_id} was taken back by {run.taken_back_by}; begin a new one",
                {"id": run_id},
            )
        if run.finished:
            return Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"run {run_id} is through; begin a new one, or take it back with --rollback",
                {"id": run_id},
            )
        return run

    async def undoing(self, run_id: int) -> Undoing | Refusal:
        """Counts what taking a run back would do; nothing is changed."""
        run = await self._undoable(run_id)
        if isinstance(run, Refusal):
            return run
        changed, standing = await self._database.run(
            lambda connection: retags.count_entries(connection, run_id)
        )
        return Undoing(run_id, changed, changed - standing)

    async def begin_rollback(self, run_id: int) -> int | Refusal:
        """The id of the run that takes another back: a new one, or the one that was broken off."""
        run = await self._undoable(run_id)
        if isinstance(run, Refusal):
            return run
        if run.taken_back_by is not None:
            return run.taken_back_by
        async with self._database.transaction() as connection:
            await self._require_rights(connection)
            reached = await retags.lock_retag(connection, run_id)
            if reached is not None:
                # Whoever is at it ends with the batch it has in hand.
                await retags.note_reached(connection, run_id, reached, finished=True)
            return await retags.insert_retag(
                connection,
                Selection(),
                actor=self._actor,
                device=self._device,
                way="rollback",
                rollback_of=run_id,
            )

    async def work(
        self, run_id: int, *, limit: int | None = None, advance: Callable[[int], None]
    ) -> Outcome:
        """Goes on with a run to its end or until `limit` messages moved, a batch a transaction.

        `advance` is told of each batch. May be cancelled at any time: whole batches stay.
        """
        moved = since = 0
        while True:
            more = BATCH if limit is None else min(BATCH, limit - moved)
            if more <= 0:
                return Outcome(run_id, moved, since, finished=False)
            async with self._database.transaction() as connection:
                reached = await retags.lock_retag(connection, run_id)
                run = await retags.find_retag(connection, run_id)
                if reached is None or run is None:
                    # Somebody else ended it.
                    return Outcome(run_id, moved, since, finished=True)
                step = _go_back if run.way == "rollback" else _go_on
                moves, skipped, seen, last = await step(connection, run, reached, more)
                if moves:
                    await retags.move(connection, run_id, moves)
                await retags.note_reached(connection, run_id, seen, finished=last)
            moved, since = moved + len(moves), since + skipped
            advance(len(moves))
            if last:
                return Outcome(run_id, moved, since, finished=True)

    async def _find(self, run_id: int) -> Run | Refusal:
        run = None
        if 0 < run_id < 2**63:
            run = await self._database.run(lambda c: retags.find_retag(c, run_id))
        if run is None:
            return Refusal(
                Code.UNKNOWN_ITEM,
                f"{run_id} names no run; a run says its number when it begins",
                {"id": run_id},
            )
        return run

    async def _undoable(self, run_id: int) -> Run | Refusal:
        run = await self._find(run_id)
        if isinstance(run, Refusal):
            return run
        if run.rollback_of is not None:
            return Refusal(
                Code.OPERATION_NOT_ALLOWED,
                f"run {run_id} took {run.rollback_of} back; to have that again, begin a new run",
                {"id": run_id},
            )
        if run.taken_back_by is not None:
            back = await self._find(run.taken_back_by)
            if isinstance(back, Run) and back.finished:
                return Refusal(
                    Code.ALREADY_ROLLED_BACK,
                    f"run {run_id} was taken back by {run.taken_back_by}; nothing is left to do",
                    {"id": run_id},
                )
        return run

    async def _require_rights(self, connection: Connection) -> None:
        wanted = [("message_state", "UPDATE"), ("retag_entries", "INSERT")]
        if await health.list_missing_rights(connection, self._database.schema, wanted):
            raise ConfigurationError(
                "this user of the database may not file messages; set COLD_DATABASE_URL to sign in "
                "as the daemon does"
            )


Step = tuple[list[Move], int, int, bool]


async def _go_on(connection: Connection, run: Run, reached: int, more: int) -> Step:
    """The next moves of a run, how many were left, the last message seen, and whether it ends."""
    batch = await retags.list_batch(connection, run.selection, reached, BATCH)
    moves: list[Move] = []
    known: dict[str, int] = {}
    for message_id, place in batch:
        if len(moves) == more:
            return moves, 0, moves[-1].message_id, False
        if _stays(place, by_rules=run.way == "rules", pins=run) is not None:
            continue
        after = run.target
        if after is None and (name := _by_rules(place)) is not None:
            if name not in known:
                known[name] = await tags.find_or_add_project(connection, name, "directory")
            after = known[name]
        if after is not None and after != place.p_tag:
            # What a person files stays where it is when the daemon comes by again.
            chosen = run.way == "tag"
            moves.append(Move(message_id, place.p_tag, place.kept, after, chosen))
    return moves, 0, batch[-1][0] if batch else reached, len(batch) < BATCH


async def _go_back(connection: Connection, run: Run, reached: int, more: int) -> Step:
    assert run.rollback_of is not None
    entries = await retags.list_entries(connection, run.rollback_of, reached, more)
    moves = [
        Move(e.move.message_id, e.p_tag, e.kept, e.move.before, e.move.before_kept)
        for e in entries
        if (e.p_tag, e.kept) == (e.move.after, e.move.after_kept)
    ]
    seen = entries[-1].move.message_id if entries else reached
    return moves, len(entries) - len(moves), seen, len(entries) < more


def _stays(place: Place, *, by_rules: bool, pins: Request | Run) -> str | None:
    if place.pinned and not pins.include_pinned:
        return "pinned"
    return "kept" if by_rules and place.kept else None


def _by_rules(place: Place) -> str | None:
    """None where the rules know nothing: what is there then stays."""
    return project_by_rules(place.project_hint, place.cwd)


async def _resolve(
    connection: Connection, request: Request
) -> tuple[int | None, Selection] | Refusal:
    ids: list[int | None] = []
    for name in (request.to, request.of):
        tag = None if name is None else normalise_tag(name)
        found = None if tag is None else await tags.find_project(connection, tag)
        if name is not None and found is None:
            return Refusal(
                Code.UNKNOWN_ITEM,
                f"no project is called {tag or 'that'}; `mcp-agents-memory tags list` shows all, "
                "`tags add` makes a new one",
            )
        ids.append(found)
    d_tag = None if request.d_tag is None else normalise_tag(request.d_tag)
    if request.d_tag is not None and d_tag is None:
        return Refusal(Code.INVALID_INPUT, "a tag needs a letter or a digit; give its name")
    return ids[0], Selection(ids[1], request.untagged, d_tag)
