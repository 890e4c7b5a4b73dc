"""What is looked at, and how a check asks its server."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agents_memory.domain.errors import DatabaseUnavailable, MemoryFault
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.diagnosis.check import MIGRATE, Check, failed
from agents_memory.settings import Settings
from agents_memory.storage.connections import Connection, Database


@dataclass(slots=True)
class Subject:
    """The pool that the settings name; its database is there once the server answered.

    What is opened is closed with `stack`.
    """

    settings: Settings
    embedder: Embedder
    stack: AsyncExitStack
    database: Database | None = None


Look = Callable[[Subject], Awaitable[Check]]


def asked(look: Callable[[Connection, Subject], Awaitable[Check]]) -> Look:
    """A check that asks the server; losing the server in the middle fails it."""

    async def ask(subject: Subject) -> Check:
        assert subject.database is not None, "asked only after the server answered"
        name = look.__name__
        try:
            async with subject.database.acquire() as connection:
                return await look(connection, subject)
        except DatabaseUnavailable as fault:
            return failed(name, str(fault), "look into the server's log, then try again")
        except MemoryFault as fault:
            return failed(name, str(fault), MIGRATE)

    return ask
