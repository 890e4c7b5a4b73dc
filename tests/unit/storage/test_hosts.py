"""Several servers behind one URL: each has its own time, and the last good one comes first."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import asyncpg
import pytest

from agents_memory.storage import hosts
from agents_memory.storage.faults import NoHost, reason
from agents_memory.storage.hosts import Hosts

THREE = "postgresql://me@a:1,b:2,c:3/memory"
ONE = "postgresql://me@a:1/memory"


def opener(
    answers: Mapping[str, BaseException | None], asked: list[str]
) -> Callable[[str, int], Awaitable[str]]:
    async def opened(host: str, port: int) -> str:
        asked.append(host)
        answer = answers.get(host)
        if answer is not None:
            raise answer
        return f"{host}:{port}"

    return opened


async def test_the_first_that_can_be_used_is_taken_and_comes_first_from_then_on() -> None:
    asked: list[str] = []
    servers = Hosts(THREE)
    away = {"a": ConnectionRefusedError(), "b": None, "c": None}
    assert await servers.first(opener(away, asked)) == "b:2"
    assert await servers.first(opener({}, asked)) == "b:2"
    assert asked == ["a", "b", "b"]


async def test_a_server_that_hangs_hides_none_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's own limit covers the whole list."""
    monkeypatch.setattr(hosts, "EACH_HOST_S", 0.01)

    async def opened(host: str, port: int) -> str:
        if host == "a":
            await asyncio.Event().wait()
        return host

    assert await Hosts(THREE).first(opened) == "b"


@pytest.mark.parametrize(
    "lost",
    [
        ConnectionRefusedError(),
        OSError("no route"),
        asyncpg.CannotConnectNowError("starting"),
        asyncpg.TooManyConnectionsError("full"),
        asyncpg.TargetServerAttributeNotMatched("a standby"),
        asyncpg.ConnectionDoesNotExistError("hung up"),
    ],
)
async def test_a_server_that_is_away_full_or_a_standby_sends_us_to_the_next(
    lost: BaseException,
) -> None:
    assert await Hosts(THREE).first(opener({"a": lost}, [])) == "b:2"


async def test_what_would_be_wrong_everywhere_ends_the_search() -> None:
    asked: list[str] = []
    with pytest.raises(asyncpg.InvalidPasswordError):
        await Hosts(THREE).first(opener({"a": asyncpg.InvalidPasswordError("x")}, asked))
    assert asked == ["a"]


async def test_of_several_hosts_each_is_said_to_have_failed_and_how() -> None:
    failures = {
        "a": ConnectionRefusedError(),
        "b": TimeoutError(),
        "c": asyncpg.TargetServerAttributeNotMatched("x"),
    }
    with pytest.raises(NoHost) as caught:
        await Hosts(THREE).first(opener(failures, []))
    found = reason(caught.value)
    assert found is not None
    for words in ("a:1: nothing listens", "b:2: no answer", "c:3: the server takes no writes"):
        assert words in found.what
    assert found.passing


async def test_one_host_fails_with_its_own_reason() -> None:
    with pytest.raises(ConnectionRefusedError):
        await Hosts(ONE).first(opener({"a": ConnectionRefusedError()}, []))


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (ONE, None),
        (THREE, "read-write"),
        # The driver reads what the URL says itself.
        (f"{THREE}?target_session_attrs=any", None),
    ],
)
def test_of_several_hosts_the_one_that_takes_writes_is_wanted(url: str, target: str | None) -> None:
    assert Hosts(url).target == target


def test_the_time_grows_with_the_hosts() -> None:
    assert Hosts(ONE).limit_s == hosts.ONLY_HOST_S
    assert Hosts(THREE).limit_s == 3 * hosts.EACH_HOST_S
