"""Pages overlap, or the run ends (F82)."""

from collections.abc import Callable
from typing import Any

import pytest

from agents_memory.domain.errors import MemoryFault
from ingest.buzz.cli import Buzz
from ingest.buzz.pages import list_events

Answer = Callable[[int | None], list[dict[str, Any]]]


class Scripted(Buzz):
    """Answers by the bound it is given."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("buzz", {})
        self._answer = answer
        self.asked = 0

    async def ask(self, *words: str) -> list[dict[str, Any]]:
        self.asked += 1
        return self._answer(int(words[-1]) if words[-2] == "--before" else None)


def event(number: int, at: int, **changes: Any) -> dict[str, Any]:
    made = {"id": f"{number:064x}", "pubkey": "a" * 64, "kind": 9, "content": "x", "created_at": at}
    return {**made, "tags": [], **changes}


def relay(events: list[dict[str, Any]], *, ascending: bool = True) -> Answer:
    def answer(before: int | None) -> list[dict[str, Any]]:
        young = [e for e in events if before is None or e["created_at"] <= before]
        page = sorted(young, key=lambda e: e["created_at"])[-200:]
        return page if ascending else page[::-1]

    return answer


@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 400, 1000])
@pytest.mark.parametrize("ascending", [True, False])
async def test_every_event_is_found_once_in_any_order_of_a_page(
    count: int, ascending: bool
) -> None:
    events = [event(n, n // 7) for n in range(count)]
    buzz = Scripted(relay(events, ascending=ascending))
    found = await list_events(buzz, "room", (9,), 0)
    assert [e.id for e in found] == [e["id"] for e in events]


async def test_it_stops_where_everything_is_known() -> None:
    buzz = Scripted(relay([event(n, n) for n in range(10_000)]))
    found = await list_events(buzz, "room", (9,), 9_700)
    assert [e.at for e in found] == list(range(9_700, 10_000))
    assert buzz.asked == 2


async def test_two_full_seconds_beside_each_other_are_read() -> None:
    """The bound takes its own second in, and each alone is not a whole page."""
    events = [event(n, 1000 + n // 150) for n in range(450)]
    found = await list_events(Scripted(relay(events)), "room", (9,), 0)
    assert [e.id for e in found] == [e["id"] for e in events]


async def test_a_second_that_no_page_holds_is_read_kind_by_kind() -> None:
    events = [event(n, 1000, kind=5 if n % 2 else 40003) for n in range(300)]

    class ByKind(Scripted):
        async def ask(self, *words: str) -> list[dict[str, Any]]:
            kinds = words[words.index("--kinds") + 1].split(",")
            self._answer = relay([e for e in events if str(e["kind"]) in kinds])
            return await super().ask(*words)

    found = await list_events(ByKind(relay(events)), "room", (40003, 5), 0)
    assert {e.id for e in found} == {e["id"] for e in events}


async def test_a_second_of_two_hundred_events_and_more_is_named() -> None:
    events = [event(n, 1_790_000_000) for n in range(200)]
    with pytest.raises(MemoryFault, match=r"one second \(2026-09-21 14:13:20 UTC\).*moderator"):
        await list_events(Scripted(relay(events)), "room", (9,), 0)


FULL = [event(n, 1000 + n) for n in range(200)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda before: FULL if before is None else [], "does not go on"),
        (lambda before: FULL if before is None else [event(999, 5)], "does not go on"),
        (lambda before: FULL, "more than was asked for"),
        (lambda before: [*FULL, event(300, 5)], "more than was asked for"),
        (lambda before: [event(n, 1000) for n in range(200)], "of one second"),
        (lambda before: [event(1, 5), event(1, 6)], "has changed"),
        (lambda before: [event(1, 5, kind=7)], "not asked for"),
        (lambda before: [event(1, 5, kind=True)], "not asked for"),
        (lambda before: [event(1, 5, content=None)], "no text"),
        (lambda before: [event(1, 5, created_at=5.5)], "no time"),
        (lambda before: [event(1, 5, pubkey="npub")], "no author"),
        (lambda before: [event(1, 5, tags={})], "no tags"),
        (
            lambda before: [
                event(10_000_000 - (before or 10_000_000) + n, (before or 10_000_000) - n)
                for n in range(200)
            ],
            "more than 500 pages",
        ),
    ],
)
async def test_anything_else_ends_the_run(answer: Answer, expected: str) -> None:
    with pytest.raises(MemoryFault, match=expected):
        await list_events(Scripted(answer), "room", (9,), 0)


async def test_what_tags_hold_is_no_matter_of_shape() -> None:
    odd = event(1, 5, tags=[[], ["e"], ["e", 7], ["e", "short"], ["e", "f" * 64, "x"], [None]])
    [found] = await list_events(Scripted(relay([odd])), "room", (9,), 0)
    assert found.targets == ("f" * 64,)
