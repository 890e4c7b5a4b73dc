"""One erasure: what was taken out, what has to be made anew for it, and the report of both."""

from collections import Counter
from dataclasses import dataclass, field

from agents_memory.domain.lexical import analyse
from agents_memory.storage import rebuilding, summaries
from agents_memory.storage.connections import Connection
from agents_memory.storage.erasing import Erased

_MEMORY_TEXT = frozenset(("subject", "attribute", "content", "tags"))
_COPIED_TO_VECTORS = frozenset(("platform", "device", "venue"))


@dataclass(frozen=True, slots=True)
class Report:
    """What was erased, or would be; ids and numbers, never words.

    `changed` are rows by `table.column`; `left` are those that hold the words still and that only
    their owner can rename. `removed` are memories of which nothing remained, or that another one
    repeats now. `documents` are (id, version) of profiles that rest on what was erased, `messages`
    others that say the same or that it was made from: both are for the owner to look at. `kin` are
    messages and memories with other forms of the erased words (the newest 50), which are left.
    `reasons` are patches whose reason stays, since they did something else too. `kept_out` is false
    when the erased turn or statement is too short to be known again in whatever place. `already`:
    it had been erased before. `kinds` are the secrets that a scan found, by kind, in all columns
    together: one that stands in two versions of a memory counts twice.
    """

    ran: bool
    changed: dict[str, int]
    left: dict[str, int]
    removed: tuple[int, ...] = ()
    documents: tuple[tuple[int, int], ...] = ()
    messages: tuple[int, ...] = ()
    kin: tuple[int, ...] = ()
    reasons: tuple[int, ...] = ()
    kept_out: bool = True
    already: bool = False
    kinds: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Erasure:
    """One transaction: words are struck out and items buried in it (`striking`, `burying`).

    `key` is the secret of the pool; without `run` it is a rehearsal. To be made anew are the
    `texts` (messages with other words), the `vectors` of messages, the `memories`, the `histories`
    of items and the `summaries`, each by id; `lost` are lexemes that may occur nowhere any more,
    `words` those that were struck out. The rest is as in the report.
    """

    connection: Connection
    key: bytes
    run: bool
    changed: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    texts: set[int] = field(default_factory=set)
    vectors: set[int] = field(default_factory=set)
    memories: set[int] = field(default_factory=set)
    histories: set[int] = field(default_factory=set)
    summaries: set[int] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    documents: list[tuple[int, int]] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    reasons: set[int] = field(default_factory=set)
    words: str = ""
    kinds: Counter[str] = field(default_factory=Counter)
    kept_out: bool = True
    already: bool = False

    async def lock(self) -> None:
        """Lets everybody wait who would change a memory or a profile; a rehearsal nobody."""
        if self.run:
            await rebuilding.lock_changing(self.connection)

    def note(self, table: str, column: str, done: list[Erased]) -> None:
        """Notes what was changed in a column, and what has to be made anew for it."""
        self.changed[f"{table}.{column}"] += len(done)
        items = {one.item for one in done}
        match table, column:
            case "messages", "message":
                self.texts |= items
                for one in done:
                    self.lost |= analyse(one.before).terms.keys() - analyse(one.after).terms.keys()
            case "messages", _ if column in _COPIED_TO_VECTORS:
                self.vectors |= items
            case "memories", _ if column in _MEMORY_TEXT or column in _COPIED_TO_VECTORS:
                self.memories |= items
            case "tag_summaries", _:
                self.summaries |= items
            case "memory_versions" | "profile_versions", _:
                self.histories |= items

    async def finish(self) -> Report:
        """Makes anew what was made from the erased words."""
        connection = self.connection
        self.texts.update(await rebuilding.rebuild_lexemes(connection, self.texts))
        await self._withdraw_summaries()
        contexts = await rebuilding.drop_contexts(connection, self.texts)
        await rebuilding.drop_message_vectors(connection, self.texts | self.vectors)
        removed = await rebuilding.rebuild_memories(connection, self.memories)
        await rebuilding.drop_memory_vectors(connection, self.memories)
        histories = self.memories | self.histories
        self.changed["patch_operations.diff"] = await rebuilding.rebuild_diffs(
            connection, histories
        )
        self.changed["message_context.lexemes"] = contexts
        self.changed["lexeme_stats.lexeme"] = await rebuilding.drop_lexemes(connection, self.lost)
        changed = {name: rows for name, rows in sorted(self.changed.items()) if rows}
        return Report(
            ran=self.run,
            changed=changed,
            left={name: rows for name, rows in sorted(self.left.items()) if rows},
            removed=removed,
            documents=tuple(self.documents),
            messages=tuple(sorted(set(self.messages) - self.texts)),
            kin=await rebuilding.list_kin(connection, self.words),
            reasons=tuple(sorted(self.reasons)),
            kept_out=self.kept_out,
            already=self.already and not changed,
            kinds=dict(sorted(self.kinds.items())),
        )

    async def _withdraw_summaries(self) -> None:
        # The daemon makes new ones of what is left.
        changed = sorted(self.texts | self.vectors)
        self.summaries.update(await summaries.list_resting(self.connection, changed))
        await summaries.withdraw(self.connection, sorted(self.summaries))
        self.changed["tag_summaries.content"] = len(self.summaries)
