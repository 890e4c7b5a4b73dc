"""The owner's eraser: words, a message or a memory taken out of everything the pool holds."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agents_memory.domain.errors import Code, ConfigurationError, Refusal, Refused
from agents_memory.domain.phrases import MAX_PHRASE_WORDS, phrase_of
from agents_memory.domain.tombstones import REPLACEMENT
from agents_memory.services.burying import bury_memory, bury_message
from agents_memory.services.erasure import Erasure, Report
from agents_memory.services.striking import redact_secrets, strike_phrase
from agents_memory.storage import health, planner, rebuilding, tombstones
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.faults import translated
from agents_memory.storage.notify import send_hint


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
        return await self._within(run, lambda erasure: strike_phrase(erasure, phrase))

    async def erase_message(self, message_id: int, *, run: bool) -> Report | Refusal:
        """Leaves nothing of a message but its place, nor of what rests on it alone."""
        return await self._within(run, lambda erasure: bury_message(erasure, message_id))

    async def erase_memory(self, memory_id: int, *, run: bool) -> Report | Refusal:
        """Leaves nothing of any version of a memory, nor of what was told for its sake alone."""
        return await self._within(run, lambda erasure: bury_memory(erasure, memory_id))

    async def erase_secrets(self, *, run: bool) -> Report | Refusal:
        """Takes out what was stored before there was a rule that knows it for a secret."""
        return await self._within(run, redact_secrets)

    async def _within(
        self, run: bool, erase: Callable[[Erasure], Awaitable[None]]
    ) -> Report | Refusal:
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
                erasure = Erasure(connection, await tombstones.find_key(connection), run=run)
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
