"""The owner's eraser: words, a message or a memory taken out of everything the pool holds."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agents_memory.domain.errors import Code, ConfigurationError, Refusal, Refused
from agents_memory.domain.lexical import analyse
from agents_memory.domain.phrases import MAX_PHRASE_WORDS, Phrase, phrase_of
from agents_memory.domain.redaction import redact
from agents_memory.domain.tombstones import (
    REPLACEMENT,
    Tombstones,
    phrase_digest,
    statement_digest,
    strike,
    strike_name,
    told_apart,
    turn_digest,
)
from agents_memory.storage import erasing, health, planner, rebuilding, summaries, tombstones
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.erasing import Erased, Way
from agents_memory.storage.faults import translated
from agents_memory.storage.notify import send_hint
from agents_memory.storage.rebuilding import Resting

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


_Ways = Mapping[Way, Callable[[str], str]]


class _Rehearsed(Exception):
    """Takes back what a rehearsal did."""


class Redacting:
    """Erases as the owner of the pool, each call in one transaction.

    Messages are stored meanwhile; patches wait for the end of it, and the daemon begins anew after
    it. Without `run` everything is done and taken back, so the numbers are those of a real run.
    Raises DatabaseUnavailable, and ConfigurationError for anybody but the owner.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def erase_words(self, words: str, *, run: bool) -> Report | Refusal:
        """Strikes a phrase out of every text; it never comes in again."""
        if any(character in "\0\ufffd" or "\ud800" <= character <= "\udfff" for character in words):
            return Refusal(
                Code.INVALID_INPUT,
                "the phrase holds a character that stands for a damaged one, so it would match "
                "nothing; give it as UTF-8 text, without NUL and U+FFFD",
            )
        phrase = phrase_of(words)
        if phrase is not None and phrase.words == ("redacted",):
            return Refusal(
                Code.INVALID_INPUT,
                f"{REPLACEMENT} is what stands in the place of erased words, so this word cannot "
                "be erased itself; give a phrase with another word in it",
            )
        if phrase is None:
            return Refusal(
                Code.INVALID_INPUT,
                f"give one phrase of 1 to {MAX_PHRASE_WORDS} words, letters or digits; longer text "
                "in several goes, or the whole message with --message",
            )

        async def erase(erasure: "_Erasure") -> None:
            await erasure.strike(phrase)

        return await self._within(run, erase)

    async def erase_message(self, message_id: int, *, run: bool) -> Report | Refusal:
        """Leaves nothing of a message but its place, nor of what rests on it alone."""

        async def erase(erasure: "_Erasure") -> None:
            await erasure.bury_message(message_id)

        return await self._within(run, erase)

    async def erase_memory(self, memory_id: int, *, run: bool) -> Report | Refusal:
        """Leaves nothing of any version of a memory, nor of what was told for its sake alone."""

        async def erase(erasure: "_Erasure") -> None:
            await erasure.bury_memory(memory_id)

        return await self._within(run, erase)

    async def erase_secrets(self, *, run: bool) -> Report | Refusal:
        """Takes out what was stored before there was a rule that knows it for a secret."""

        async def erase(erasure: "_Erasure") -> None:
            await erasure.redact()

        return await self._within(run, erase)

    async def _within(self, run: bool, erase: Callable[["_Erasure"], Any]) -> Report | Refusal:
        report: Report | None = None
        try:
            async with self._begun(renew=run) as connection:
                if not (await health.find_role(connection, self._database.schema)).owner:
                    raise ConfigurationError(
                        "only the owner of the pool can erase; set OWNER_DATABASE_URL to sign in "
                        "as whoever ran `mcp-agents-memory migrate`"
                    )
                if run:
                    await rebuilding.begin_term(connection)
                erasure = _Erasure(connection, await tombstones.find_key(connection), run=run)
                await erase(erasure)
                report = await erasure.finish()
                if not run:
                    raise _Rehearsed
                await send_hint(connection, self._database.schema)
        except _Rehearsed:
            pass
        except Refused as refused:
            return refused.refusal
        assert report is not None, "it was finished, or an error left"
        return report

    @asynccontextmanager
    async def _begun(self, *, renew: bool) -> AsyncIterator[Connection]:
        # Every row of the pool is read: as long as it takes.
        connection = await self._database.connect(
            statement_timeout="0", idle_in_transaction_session_timeout="0"
        )
        try:
            with translated():
                async with connection.transaction():
                    yield connection
                if renew:
                    await planner.renew_statistics(connection)
        finally:
            await connection.close(timeout=5)


class _Erasure:
    """One transaction: what was struck out, and what has to be made anew for it."""

    def __init__(self, connection: Connection, key: bytes, *, run: bool) -> None:
        self._connection = connection
        self._key = key
        self._run = run
        self._changed: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._texts: set[int] = set()
        self._vectors: set[int] = set()
        self._memories: set[int] = set()
        self._histories: set[int] = set()
        self._summaries: set[int] = set()
        self._lost: set[str] = set()
        self._documents: list[tuple[int, int]] = []
        self._messages: list[int] = []
        self._reasons: set[int] = set()
        self._words = ""
        self._kinds: Counter[str] = Counter()
        self._kept_out = True
        self._already = False

    async def strike(self, phrase: Phrase) -> None:
        """Strikes a phrase out of every column that is registered for it."""
        connection = self._connection
        await tombstones.insert_phrase(
            connection, phrase_digest(self._key, phrase.words), len(phrase.words)
        )

        def hit(value: str) -> bool:
            return bool(phrase.spans(value))

        ways: _Ways = {
            Way.WORDS: lambda value: strike(value, phrase),
            Way.NAME: lambda value: strike_name(value, phrase, self._key),
        }
        await self._change(ways, hit)
        self._words = " ".join(phrase.words)

    async def redact(self) -> None:
        """Puts the marks of redaction over every secret; counts them."""

        def words(value: str) -> str:
            redacted = redact(value)
            self._kinds.update(redacted.counts)
            return redacted.text

        def name(value: str) -> str:
            redacted = words(value)
            return value if redacted == value else told_apart(redacted, value, self._key)

        def hit(value: str) -> bool:
            return bool(redact(value).counts)

        await self._change({Way.WORDS: words, Way.NAME: name}, hit)

    async def _change(self, ways: _Ways, hit: Callable[[str], bool]) -> None:
        await self._change_table("messages", ways, hit)
        await self._lock()
        for name in erasing.TABLES:
            if name != "messages":
                await self._change_table(name, ways, hit)

    async def _change_table(self, name: str, ways: _Ways, hit: Callable[[str], bool]) -> None:
        connection, table = self._connection, erasing.TABLES[name]
        for column, known in table.columns.items():
            if known.way in ways:
                erase = partial(_struck, erase=ways[known.way])
                self._note(
                    name, column, await erasing.erase_column(connection, name, column, erase)
                )
            elif known.way is Way.REPORTED:
                left = await erasing.count_hits(connection, name, column, hit)
                self._left[f"{name}.{column}"] += left
            elif name == "captures":
                gone = await erasing.drop_rows(connection, name, column, hit)
                self._changed[f"{name}.{column}"] += gone

    async def bury_message(self, message_id: int) -> None:
        """Takes a whole message out, and what rests on it alone."""
        connection = self._connection
        text = None
        if 0 < message_id < 2**63:
            text = await rebuilding.find_message(connection, message_id)
        if text is None:
            raise Refused(
                Refusal(
                    Code.UNKNOWN_ITEM,
                    f"{message_id} names no message; `mcp-agents-memory search` shows ids",
                    {"unknown": [message_id]},
                )
            )
        await self._lock()
        self._already = text == REPLACEMENT
        if not self._already:
            self._messages += await rebuilding.list_same_text(connection, message_id)
            await self._keep_out(turn_digest(self._key, text))
            self._lost.update(analyse(text).terms)
            self._texts.add(message_id)
            self._changed["messages.message"] += 1
        resting = await rebuilding.list_resting(connection, message_id)
        await rebuilding.bury_message(connection, message_id)
        await self._bury_proposals([message_id])
        self._reasons.update(await rebuilding.list_reasons_beside(connection, message_id))
        self._note_documents(resting)
        await self._bury([(r.item_id, r.version) for r in resting if r.memory and r.alone])

    async def bury_memory(self, memory_id: int) -> None:
        """Takes every version of a memory out, and the messages told for it alone."""
        connection = self._connection
        await self._lock()
        versions = []
        if 0 < memory_id < 2**63:
            versions = await rebuilding.list_versions(connection, memory_id)
        if not versions:
            raise Refused(
                Refusal(
                    Code.UNKNOWN_MEMORY,
                    f"{memory_id} names no memory; for a message say --message",
                    {"memory_id": memory_id},
                )
            )
        told, others = await rebuilding.list_told_for(connection, memory_id)
        already = not await rebuilding.list_statements(connection, versions)
        await self._bury(versions)
        await rebuilding.bury_reasons_for(connection, memory_id)
        # They may repeat its words.
        await self._bury_proposals([*told, *others])
        for message_id in others:
            self._note_documents(await rebuilding.list_resting(connection, message_id))
        self._reasons.update(await rebuilding.list_reasons_beside(connection, memory_id))
        for message_id in told:
            await self.bury_message(message_id)
        self._already = already
        self._messages += others

    async def finish(self) -> Report:
        """Makes anew what was made from the erased words."""
        connection = self._connection
        self._texts.update(await rebuilding.rebuild_lexemes(connection, self._texts))
        await self._withdraw_summaries()
        contexts = await rebuilding.drop_contexts(connection, self._texts)
        await rebuilding.drop_message_vectors(connection, self._texts | self._vectors)
        removed = await rebuilding.rebuild_memories(connection, self._memories)
        await rebuilding.drop_memory_vectors(connection, self._memories)
        histories = self._memories | self._histories
        self._changed["patch_operations.diff"] = await rebuilding.rebuild_diffs(
            connection, histories
        )
        self._changed["message_context.lexemes"] = contexts
        self._changed["lexeme_stats.lexeme"] = await rebuilding.drop_lexemes(connection, self._lost)
        changed = {name: rows for name, rows in sorted(self._changed.items()) if rows}
        return Report(
            ran=self._run,
            changed=changed,
            left={name: rows for name, rows in sorted(self._left.items()) if rows},
            removed=removed,
            documents=tuple(self._documents),
            messages=tuple(sorted(set(self._messages) - self._texts)),
            kin=await rebuilding.list_kin(connection, self._words),
            reasons=tuple(sorted(self._reasons)),
            kept_out=self._kept_out,
            already=self._already and not changed,
            kinds=dict(sorted(self._kinds.items())),
        )

    def _note_documents(self, resting: Sequence[Resting]) -> None:
        found = [(one.item_id, one.version) for one in resting if not one.memory]
        self._documents += [one for one in found if one not in self._documents]

    async def _bury_proposals(self, message_ids: Sequence[int]) -> None:
        gone = await rebuilding.bury_proposals(self._connection, message_ids)
        self._changed["persona_proposals.content"] += len(gone)

    async def _withdraw_summaries(self) -> None:
        # The daemon makes new ones of what is left.
        changed = sorted(self._texts | self._vectors)
        self._summaries.update(await summaries.list_resting(self._connection, changed))
        await summaries.withdraw(self._connection, sorted(self._summaries))
        self._changed["tag_summaries.content"] = len(self._summaries)

    async def _lock(self) -> None:
        # A rehearsal lets nobody wait.
        if self._run:
            await rebuilding.lock_changing(self._connection)

    async def _bury(self, versions: list[tuple[int, int]]) -> None:
        said = await rebuilding.list_statements(self._connection, versions)
        for subject, content in said:
            await self._keep_out(turn_digest(self._key, content))
            digest = statement_digest(self._key, subject, content)
            await tombstones.insert_turn(self._connection, digest)
        await rebuilding.bury_versions(self._connection, versions)
        self._memories.update(memory_id for memory_id, _ in versions)
        self._changed["memory_versions.content"] += len(said)

    async def _keep_out(self, digest: bytes | None) -> None:
        """What is told by this digest comes in no more, neither as text nor as a key."""
        if digest is None:
            self._kept_out = False
            return
        await tombstones.insert_turn(self._connection, digest)
        turn = Tombstones(self._key, (), frozenset((digest,)))
        done = await erasing.erase_column(
            self._connection, "patches", "idempotency_key", turn.strike_name
        )
        self._note("patches", "idempotency_key", done)

    def _note(self, table: str, column: str, done: list[Erased]) -> None:
        self._changed[f"{table}.{column}"] += len(done)
        items = {one.item for one in done}
        match table, column:
            case "messages", "message":
                self._texts |= items
                for one in done:
                    self._lost |= analyse(one.before).terms.keys() - analyse(one.after).terms.keys()
            case "messages", _ if column in _COPIED_TO_VECTORS:
                self._vectors |= items
            case "memories", _ if column in _MEMORY_TEXT or column in _COPIED_TO_VECTORS:
                self._memories |= items
            case "tag_summaries", _:
                self._summaries |= items
            case "memory_versions" | "profile_versions", _:
                self._histories |= items


def _struck(value: Any, erase: Callable[[str], str]) -> Any:
    """The value of a column with every string in it struck; equal elements become one."""
    match value:
        case str():
            return erase(value)
        case list():
            struck = [_struck(one, erase) for one in value]
            return value if struck == value else _distinct(struck)
        case dict():
            # Its keys are ours.
            return {name: _struck(one, erase) for name, one in value.items()}
        case _:
            return value


def _distinct(values: list[Any]) -> list[Any]:
    return [value for at, value in enumerate(values) if value not in values[:at]]
