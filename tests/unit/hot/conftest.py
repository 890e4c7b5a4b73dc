"""The server in this process over a fresh pool, with a client of either era of the protocol."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from mcp import Client
from mcp.types import CallToolResult, Implementation, TextContent

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.domain.fencing import fence
from agents_memory.embedding.opening import open_embedder
from agents_memory.settings import Settings
from agents_memory.storage import tags
from agents_memory.storage.connections import Database
from hot.app import App
from hot.server import build_server
from hot.session import Session
from tests.factories import NOON
from tests.fakes import ManualClock

CLIENT = "claude-code"
# The first and the last line of what is fenced.
OPENING, *_, CLOSING = fence("", "recall").splitlines()
BERLIN = ZoneInfo("Europe/Berlin")


def settings_for(tmp_path: Path, **changes: Any) -> Settings:
    """Settings of Mara's laptop, unless changed."""
    loaded = Settings.load({"HOME": str(tmp_path)})
    return replace(loaded, user_name="mara", device_name="laptop", time_zone=BERLIN, **changes)


@dataclass
class Borrowed:
    """A pool that somebody else closes."""

    database: Database

    async def close(self) -> None:
        return None


@dataclass
class Talk:
    """A connected client."""

    client: Client
    app: App
    clock: ManualClock

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must be carried out."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        structure: dict[str, Any] | None = result.structured_content
        assert structure is not None
        assert structure["ok"] is True, structure
        return structure

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must be refused."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        assert result.structured_content["ok"] is False
        error: dict[str, Any] = result.structured_content["error"]
        assert error["code"] in text_of(result)
        assert error["message"] in text_of(result)
        return error

    async def malformed(self, tool: str, **arguments: Any) -> str:
        """The text of a call that must be a tool error."""
        result = await self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    """The one text block of a result."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@dataclass
class House:
    """Makes apps over one pool, each with its own session, and connects clients to them."""

    database: Database | None
    tmp_path: Path
    era: str
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))

    def app(self, **changes: Any) -> App:
        settings = settings_for(self.tmp_path, **changes)

        async def open_pool() -> Borrowed:
            if self.database is None:
                raise DatabaseUnavailable("there is no database in this test")
            return Borrowed(self.database)

        session = Session.begin(settings, "/home/mara/code/harbor")
        return App(
            settings,
            session,
            clock=self.clock,
            open_embedder=lambda: open_embedder("hashing", allow_hashing=True),
            open_pool=open_pool,
        )

    @asynccontextmanager
    async def talk(self, client: str = CLIENT, **changes: Any) -> AsyncIterator[Talk]:
        app = self.app(**changes)
        info = Implementation(name=client, version="1.0")
        try:
            async with Client(build_server(app), mode=self.era, client_info=info) as connected:
                yield Talk(connected, app, self.clock)
        finally:
            await app.close()


async def know_project(cold: Database, name: str) -> None:
    """Makes a project known, as the daemon does when it tags messages."""
    async with cold.transaction() as connection:
        await tags.find_or_add_project(connection, name, "directory")


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol: 2026-07-28 and the handshake of 2025-11-25 and before."""
    return str(request.param)


@pytest.fixture
def house(hot_database: Database, tmp_path: Path, era: str) -> House:
    return House(hot_database, tmp_path, era)


@pytest.fixture
async def talk(house: House) -> AsyncIterator[Talk]:
    """Mara's Claude Code on her laptop, in ~/code/harbor."""
    async with held(house) as talk:
        yield talk


@pytest.fixture
async def alone(tmp_path: Path, era: str) -> AsyncIterator[Talk]:
    """The same without a database: enough for what is answered before one is needed."""
    async with held(House(None, tmp_path, era)) as talk:
        yield talk


@asynccontextmanager
async def held(house: House, **changes: Any) -> AsyncIterator[Talk]:
    """A talk held by a task of its own: a client's cancel scopes must be left by the task that
    entered them, which the two halves of a fixture are not."""
    connected = asyncio.Event()
    over = asyncio.Event()
    talks: list[Talk] = []

    async def hold() -> None:
        try:
            async with house.talk(**changes) as talk:
                talks.append(talk)
                connected.set()
                await over.wait()
        finally:
            connected.set()

    holding = asyncio.create_task(hold())
    await connected.wait()
    if not talks:
        await holding
    yield talks[0]
    over.set()
    await holding
