"""Whether the pool is what its history says: everything recomputed, nothing changed.

What the schema itself forbids is looked at as well: a restored or repaired pool may hold it.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from agents_memory.domain.diffs import DiffMismatch, apply_diff, shown, shown_profile
from agents_memory.domain.memories import same_key
from agents_memory.domain.text import has_word
from agents_memory.embedding.chunking import chunk
from agents_memory.embedding.profiles import Profile
from agents_memory.storage import consistency, exporting, vectors
from agents_memory.storage.connections import Connection
from agents_memory.storage.vectors import Model, digest

IDS_SHOWN = 5
HISTORY = (
    "look at each with `mcp-agents-memory memory history ID`; something else than this program "
    "wrote there, so bring it back from a backup"
)
BACKUP = "bring these rows back from a backup; something else than this program wrote there"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check: `detail` in words, `fix` when something is wrong."""

    name: str
    detail: str
    fix: str | None = None


@dataclass(slots=True)
class _Faulty:
    """Items with one fault: how many, and the first ids."""

    what: str
    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, item_id: int) -> None:
        self.count += 1
        if len(self.first) < IDS_SHOWN:
            self.first.append(item_id)

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.first) else ""
        return f"{self.count} {self.what}: {', '.join(map(str, self.first))}{more}"


async def examine(
    connection: Connection, profiles: Mapping[str, Profile]
) -> AsyncIterator[Finding]:
    """All checks, in a transaction that sees one moment of the pool and holds a batch of it.

    `profiles` are the embedding models of this machine by id: how another one cuts a text into
    chunks is not known here.
    """
    await exporting.begin_long_read(connection)
    counts = await consistency.count_everything(connection)
    yield _finding(
        "message_state",
        f"{counts['messages']} messages",
        "as the owner, add their ids to message_state, and (ID, 'screen') to work: the daemon does "
        "the rest",
        await _faulty(connection, "list_messages_without_state", "messages have no state"),
    )
    yield _finding(
        "versions",
        f"{counts['memories']} memories, {counts['patches']} patches, "
        f"{counts['operations']} operations",
        HISTORY,
        await _faulty(connection, "list_memories_with_gaps", "memories lack versions"),
        await _faulty(
            connection,
            "list_memories_unlike_their_version",
            "memories differ from their last version",
        ),
        await _faulty(
            connection, "list_versions_without_operation", "items have a version that no patch made"
        ),
        await _faulty(
            connection, "list_operations_without_version", "patches say they made a version that "
            "is missing or follows no other",
        ),
        await _faulty(connection, "list_patches_without_operation", "patches did nothing"),
    )  # fmt: skip
    yield await _diffs(connection)
    yield await _profiles(connection)
    yield _finding(
        "evidence",
        f"{counts['operations']} operations, {counts['sources']} sources",
        BACKUP,
        await _faulty(
            connection, "list_patches_with_lost_evidence", "patches cite a message that is not "
            "there or another user's",
        ),
        await _faulty(
            connection, "list_items_with_lost_sources", "items rest on a message that is not "
            "there or another user's",
        ),
    )  # fmt: skip
    yield _finding(
        "superseded",
        f"{counts['superseded']} memories that gave way",
        HISTORY,
        await _faulty(
            connection, "list_memories_superseded_by_nothing", "memories gave way to none"
        ),
        await _faulty(
            connection, "list_memories_superseded_in_circles", "memories gave way to themselves"
        ),
    )
    yield _finding(
        "contexts",
        f"{counts['contexts']} contexts",
        "as the owner, take these rows out of message_context, and add (ID, 'context') to work "
        "where the message exists: the daemon makes them anew",
        await _faulty(connection, "list_contexts_without_message", "contexts belong to nothing"),
    )
    yield _finding(
        "archive",
        f"{counts['summaries']} summaries",
        "as the owner, set archived_at of these messages to NULL in message_state, and archived to "
        "false in the tables of their vectors: the daemon summarises them anew",
        await _faulty(
            connection, "list_archived_without_summary", "archived messages have no summary"
        ),
    )
    yield _finding(
        "edges",
        f"{counts['edges']} edges",
        BACKUP,
        await _faulty(
            connection, "list_edges_of_nothing", "items are linked with one that is not there or "
            "another user's",
        ),
    )  # fmt: skip
    for model in await vectors.list_models(connection):
        yield await _vectors(connection, model, profiles.get(model.profile))


async def _faulty(connection: Connection, statement: str, what: str) -> _Faulty:
    faulty = _Faulty(what)
    async for item_id in consistency.list_faulty(connection, statement):
        faulty.add(item_id)
    return faulty


@dataclass(slots=True)
class _Trail:
    """Follows the versions of one item after the other, and finds the diffs that do not fit."""

    unfit: _Faulty
    versions: int = 0
    without: int = 0
    _item_id: int = 0
    _before: str | None = None
    _lost: bool = False

    def follow(self, item_id: int, diff: str | None, after: str | None) -> None:
        if item_id != self._item_id:
            self._item_id, self._before, self._lost = item_id, None, False
        self.versions += 1
        self.without += diff is None
        if not self._lost and not _leads(self._before, diff, after):
            self._lost = True
            self.unfit.add(item_id)
        self._before = after

    def __str__(self) -> str:
        older = "without a diff (older programs kept none)"
        return f"{self.versions} versions" + (f", {self.without} {older}" if self.without else "")


async def _diffs(connection: Connection) -> Finding:
    trail = _Trail(_Faulty("memories have a diff that does not lead from a version to the next"))
    astray = _Faulty("memories are known by the key of other words")
    async for version in consistency.read_memory_versions(connection):
        state, key = version.state, version.content_key
        trail.follow(state.id, version.diff, shown(state))
        if key is not None and key != same_key(state.subject, state.content):
            astray.add(state.id)
    return _finding("diffs", f"{trail} of memories", HISTORY, trail.unfit, astray)


async def _profiles(connection: Connection) -> Finding:
    trail = _Trail(_Faulty("profiles have a diff that does not lead from a version to the next"))
    async for version in consistency.read_profile_versions(connection):
        trail.follow(version.id, version.diff, shown_profile(version.content))
    gaps = await _faulty(
        connection, "list_profiles_with_gaps", "profiles lack versions or differ from the last"
    )
    return _finding("profiles", f"{trail} of profiles", BACKUP, gaps, trail.unfit)


def _leads(before: str | None, diff: str | None, after: str | None) -> bool:
    if diff is None:
        return True
    try:
        return apply_diff(before, diff) == after
    except DiffMismatch:
        return False


async def _vectors(connection: Connection, model: Model, profile: Profile | None) -> Finding:
    faults = []
    for statement, table, what in (
        ("list_hidden_message_vectors", model.message_table, "quarantined messages can be found"),
        ("list_hidden_memory_vectors", model.memory_table, "memories that hold no more are found"),
        ("list_hidden_summary_vectors", model.summary_table, "withdrawn summaries have vectors"),
    ):
        hidden = _Faulty(what)
        async for item_id in consistency.list_faulty_in(connection, statement, table):
            hidden.add(item_id)
        faults.append(hidden)
        if await consistency.find_column_dims(connection, table) != model.dims:
            faults.append(_Faulty(f"model has other dimensions than {table}", 1, [model.id]))
    detail = f"{model.profile}, its texts not compared: this machine does not have the model"
    if profile is not None:
        looked = 0
        for read, what in (
            (consistency.read_message_chunks, "messages have vectors of other words"),
            (consistency.read_memory_chunks, "memories have vectors of other words"),
            (consistency.read_summary_chunks, "summaries have vectors of other words"),
        ):
            stale = _Faulty(what)
            async for item in read(connection, model):
                looked += 1
                if list(item.digests) != digests(item.text, profile):
                    stale.add(item.id)
            faults.append(stale)
        detail = f"{model.profile}, {looked} texts compared"
    return _finding(
        "vectors",
        detail,
        "as the owner, add (ID, 'embed') for a message, (ID, 'embed_memory') for a memory or (ID, "
        "'embed_summary') for a summary to work: the daemon makes them anew. Quarantined ones: "
        f"make searchable false in {model.message_table}. Where dimensions differ, drop the model "
        "and add it again: see docs/embedding.md",
        *faults,
    )


def digests(text: str, profile: Profile) -> list[bytes]:
    """The digests that the vectors of a text have when they are of its present words."""
    cut = chunk(text, profile.chunk_tokens)
    return [digest(part) for part in cut.texts if has_word(part)]


def _finding(name: str, looked_at: str, fix: str, *faults: _Faulty) -> Finding:
    wrong = [str(faulty) for faulty in faults if faulty.count]
    return Finding(name, "\n".join([looked_at, *wrong]), fix if wrong else None)
