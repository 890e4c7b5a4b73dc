"""The composition root: a pool that opens in the background, fails, and comes back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agents_memory.domain.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    EmbedderUnavailable,
    SchemaMismatch,
)
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.brief import how_to_use
from agents_memory.storage.connections import Database
from hot import app as app_module
from hot.app import LOCAL_SERVICES, App, compose
from hot.session import Session
from tests.factories import NOON
from tests.fakes import ManualClock
from tests.unit.hot.conftest import Borrowed, settings_for

Opening = Callable[[], Awaitable[Borrowed]]


@pytest.fixture
async def app_over(tmp_path: Path) -> AsyncIterator[Callable[[Opening], App]]:
    made: list[App] = []

    def make(opening: Opening, **changes: Any) -> App:
        settings = settings_for(tmp_path, **changes)
        session = Session.begin(settings, None)
        app = App(
            settings,
            session,
            clock=ManualClock(NOON),
            open_embedder=lambda: None,
            open_pool=opening,
        )
        made.append(app)
        return app

    yield make
    for app in made:
        await app.close()


async def never() -> Borrowed:
    await asyncio.Event().wait()
    raise AssertionError


async def refused() -> Borrowed:
    raise DatabaseUnavailable("nobody listens there; start it")


async def test_a_pool_that_comes_back_is_used(
    app_over: Callable[[Opening], App], hot_database: Database
) -> None:
    attempts = 0

    async def at_the_third() -> Borrowed:
        nonlocal attempts
        attempts += 1
        return Borrowed(hot_database) if attempts == 3 else await refused()

    app = app_over(at_the_third)
    app.start()
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable, match="start it"):
            await app.services()
    services = await app.services()
    assert await app.services() is services
    assert attempts == 3


async def test_whoever_asks_at_once_shares_one_opening(
    app_over: Callable[[Opening], App], hot_database: Database
) -> None:
    attempts = 0

    async def counted() -> Borrowed:
        nonlocal attempts
        attempts += 1
        return Borrowed(hot_database)

    app = app_over(counted)
    app.start()
    await asyncio.gather(*(app.services() for _ in range(5)))
    assert attempts == 1


async def test_a_call_does_not_wait_forever_for_a_start(
    app_over: Callable[[Opening], App], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "OPEN_WITHIN_S", 0.01)
    app = app_over(never)
    with pytest.raises(DatabaseUnavailable, match="still starting"):
        await app.services()


async def test_a_call_after_a_failure_tells_of_it_soon(
    app_over: Callable[[Opening], App], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "OPEN_AGAIN_WITHIN_S", 0.01)
    openings = iter([refused, never])
    app = app_over(lambda: next(openings)())
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable, match="start it"):
            await app.services()


@pytest.mark.parametrize(
    "fault",
    [
        DatabaseUnavailable("away"),
        SchemaMismatch("old"),
        ConfigurationError("wrong"),
        ZeroDivisionError("a bug of ours"),
    ],
)
async def test_the_handshake_has_its_words_without_a_pool(
    app_over: Callable[[Opening], App], fault: Exception
) -> None:
    """F61."""

    async def fails() -> Borrowed:
        raise fault

    assert await app_over(fails).instructions("claude-code") == how_to_use()


async def test_the_handshake_does_not_wait_for_a_slow_pool(
    app_over: Callable[[Opening], App], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F61, E15."""
    monkeypatch.setattr(app_module, "BRIEF_WITHIN_S", 0.01)
    monkeypatch.setattr(app_module, "BRIEF_AGAIN_WITHIN_S", 0.01)
    assert await app_over(never).instructions(None) == how_to_use()


async def test_closing_ends_an_opening(app_over: Callable[[Opening], App]) -> None:
    """E9."""
    ended = asyncio.Event()

    async def slow() -> Borrowed:
        try:
            return await never()
        finally:
            ended.set()

    app = app_over(slow)
    app.start()
    await asyncio.sleep(0)
    await app.close()
    await ended.wait()


async def test_closing_is_not_held_up_by_a_pool_that_hangs(
    app_over: Callable[[Opening], App],
    hot_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """E9."""

    class Hanging(Borrowed):
        async def close(self) -> None:
            await asyncio.Event().wait()

    async def opened() -> Borrowed:
        return Hanging(hot_database)

    monkeypatch.setattr(app_module, "CLOSE_WITHIN_S", 0.01)
    app = app_over(opened)
    await app.services()
    await app.close()


@pytest.mark.parametrize(
    ("changes", "services"),
    [
        ({}, LOCAL_SERVICES),
        ({"local_services": "off"}, ()),
        ({"local_services": "on"}, LOCAL_SERVICES),
        ({"db_host": "db", "db_user": "mara", "db_name": "memory"}, ()),
    ],
)
async def test_local_services_start_with_the_embedded_database_only(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    services: tuple[str, ...],
) -> None:
    """A laptop without a model must not become the leader over the server that has one."""
    asked: list[tuple[str, ...]] = []

    async def open_pool(*_: Any, services: tuple[str, ...], **__: Any) -> Borrowed:
        asked.append(services)
        raise DatabaseUnavailable("not today")

    monkeypatch.setattr(app_module, "open_pool", open_pool)
    app = compose(settings_for(tmp_path, **changes))
    app.start()
    with pytest.raises(DatabaseUnavailable):
        await app.services()
    await app.close()
    assert asked == [services]


def test_an_embedder_that_cannot_be_meant_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        compose(settings_for(tmp_path, embedding_model="gpt-9"))


async def test_the_embedder_is_opened_by_the_first_search_and_closed_with_the_rest(
    tmp_path: Path, hot_database: Database
) -> None:
    opened: list[Embedder] = []

    def open_once() -> Embedder:
        opened.append(open_embedder("hashing", allow_hashing=True))
        return opened[-1]

    async def opening() -> Borrowed:
        return Borrowed(hot_database)

    settings = settings_for(tmp_path)
    session = Session.begin(settings, None)
    clock = ManualClock(NOON)
    app = App(settings, session, clock=clock, open_embedder=open_once, open_pool=opening)
    services = await app.services()
    await app.instructions("claude-code")
    assert opened == []
    assert services.recall is services.recall
    [embedder] = opened
    await app.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await embedder.embed_query("herons")
