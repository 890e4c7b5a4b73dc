"""When to look: at once where the system says that something changed, and now and then anyway."""

import asyncio
import errno
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import NoReturn, Protocol, TypeVar

from agents_memory.clock import Clock
from agents_memory.domain.errors import ConfigurationError, MemoryFault
from agents_memory.observe import Action, get_logger
from ingest.following import BEAT_S, Follower
from ingest.records import Record
from ingest.watching import Changes, SystemWatcher, Watcher

T = TypeVar("T")

log = get_logger()

# How often everything is looked through at most where nothing tells of changes, folders for what is
# new in them, and the transcripts of those who speak now.
LOOK_S = 1.0
NEW_S = 0.75
GLANCE_S = 0.2
# The part of the time that looking for new files between may take.
NEW_SHARE = 0.002
# How often at most where changes are told: a hint may be lost.
CALM_S = 5.0
# What is written in one go is read in one go.
GATHER_S = 0.03
SAVE_S = 1.0
# So long after it failed the system's watch is asked for again.
RETRY_S = 600.0
_RECONNECT_S = (1.0, 2.0, 5.0, 10.0, 30.0)

DEAF = "changes are not told of there, as in network file systems"
UNKNOWN = "the system's watch over files cannot be had"
_LIMITS = {
    errno.ENOSPC: "fs.inotify.max_user_watches is reached; raise it with sysctl",
    errno.EMFILE: "fs.inotify.max_user_instances is reached; raise it with sysctl",
}


class Keeper(Protocol):
    """Where what is read goes; see `ingest.keeping.Keeping`."""

    async def keep(self, client: str, records: Sequence[Record]) -> None: ...

    async def beat(self, client: str, sessions: Sequence[str]) -> None: ...


@dataclass(slots=True, eq=False)
class _Place:
    """A follower and how it stands; times are of the monotonic clock."""

    client: str
    follower: Follower
    look_at: float = -inf
    # Until then nothing is told of it, for this reason.
    polled_until: float = -inf
    why: str | None = None
    said: str | None = None


class Looker:
    """Looks at all places again and again; cancel `run` to end.

    What the system's watch tells is a hint, and decides only when a file is looked at. `save` keeps
    the positions; `say` is told whenever that changes which clients nothing is told of, and why.
    """

    def __init__(
        self,
        followers: Mapping[str, Sequence[Follower]],
        keeper: Keeper,
        clock: Clock,
        *,
        save: Callable[[], None],
        say: Callable[[Mapping[str, str]], None],
        listen: Callable[[Changes], Watcher] = SystemWatcher,
        calm_s: float = CALM_S,
    ) -> None:
        self._places = [
            _Place(name, follower) for name, places in followers.items() for follower in places
        ]
        self._keeper = keeper
        self._clock = clock
        self._save = save
        self._say = say
        self._listen = listen
        self._calm_s = calm_s
        self._changes = Changes()
        self._watcher: Watcher | None = None
        self._save_at = -inf
        self._new_at = -inf
        self._unsaved = False

    async def run(self) -> NoReturn:
        """Looks until it is cancelled."""
        try:
            while True:
                await self._round()
                await self._rest()
        finally:
            if self._watcher is not None:
                self._watcher.close()

    async def _round(self) -> None:
        told = self._changes.take()
        renewed = await self._renewed()
        for place in self._places:
            now = self._clock.monotonic()
            concerns = {""} if told is None else place.follower.below(told)
            if told is None or now >= place.look_at:
                await self._look(place, concerns)
                if self._clock.monotonic() >= place.polled_until:
                    await self._watch(place)
            elif concerns or place.why is not None or now >= place.follower.due_at:
                await self._glance(place, concerns, new=place in renewed)
                if place.why is None:
                    await self._watch(place)
            else:
                continue
            self._unsaved = True
        if self._unsaved and self._clock.monotonic() >= self._save_at:
            self._save()
            self._save_at = self._clock.monotonic() + SAVE_S
            self._unsaved = False

    async def _look(self, place: _Place, told: Collection[str]) -> None:
        keep, beat = self._ways(place)
        told = told if place.why is None else {""}
        heard = await patiently(lambda: place.follower.look(keep, beat, told))
        if not heard:
            self._poll(place, DEAF)
        pause_s = LOOK_S if place.why is not None else self._calm_s
        rest_s = min(sum(one.follower.rest_s for one in self._places), BEAT_S)
        place.look_at = self._clock.monotonic() + max(pause_s, rest_s)

    async def _renewed(self) -> Sequence[_Place]:
        """Of the places that nothing is told of those where files came or went."""
        polled = [place for place in self._places if place.why is not None]
        if not polled or self._clock.monotonic() < self._new_at:
            return ()

        def look() -> tuple[list[_Place], float]:
            began = time.thread_time()
            renewed = [place for place in polled if place.follower.has_new()]
            return renewed, time.thread_time() - began

        # All in one go: to change threads takes as long as to look at a hundred folders.
        renewed, took_s = await asyncio.to_thread(look)
        rest_s = min(max(NEW_S, took_s / NEW_SHARE), BEAT_S)
        self._new_at = self._clock.monotonic() + rest_s
        return renewed

    async def _glance(self, place: _Place, told: Collection[str], *, new: bool) -> None:
        keep, beat = self._ways(place)
        live = place.why is not None
        await patiently(lambda: place.follower.glance(keep, beat, told, live=live, new=new))

    def _ways(
        self, place: _Place
    ) -> tuple[
        Callable[[Sequence[Record]], Awaitable[None]], Callable[[Sequence[str]], Awaitable[None]]
    ]:
        return partial(self._keeper.keep, place.client), partial(self._keeper.beat, place.client)

    async def _watch(self, place: _Place) -> None:
        """Has the folders watched that are known by now; what is new there is looked at again."""
        entered = place.follower.take_entered()
        try:
            if self._watcher is None:
                self._watcher = self._listen(self._changes)
            new = await asyncio.to_thread(self._watcher.watch, place.follower.root, entered)
        except (OSError, RuntimeError) as error:
            number = error.errno or 0 if isinstance(error, OSError) else 0
            self._poll(place, _LIMITS.get(number) or os.strerror(number) if number else UNKNOWN)
            return
        for path in new:
            self._changes.tell(path)
        if place.why is not None:
            place.why = None
            self._told()

    def _poll(self, place: _Place, why: str) -> None:
        """Looks at a place as often as where there is no watch, until that is tried again."""
        place.polled_until = self._clock.monotonic() + RETRY_S
        place.look_at = min(place.look_at, self._clock.monotonic() + LOOK_S)
        place.why = why
        if place.said != why:
            place.said = why
            log.warning(Action.CAPTURE_POLLING, client=place.client, reason=why)
        self._told()

    def _told(self) -> None:
        self._say({place.client: place.why for place in self._places if place.why is not None})

    async def _rest(self) -> None:
        """Until something is told, or due."""
        now = self._clock.monotonic()
        times = [min(place.look_at, place.follower.due_at) for place in self._places]
        times += [now + GLANCE_S for place in self._places if place.why is not None]
        times += [self._save_at] if self._unsaved else []
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(times) - now)):
                await self._changes.told.wait()
            await asyncio.sleep(GATHER_S)


async def patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of the first attempt that the database lets succeed, however long that takes."""
    failures = 0
    while True:
        try:
            result = await attempt()
        except ConfigurationError:
            raise
        except MemoryFault as fault:
            log.warning(Action.DATABASE_LOST, error=fault)
            await asyncio.sleep(_RECONNECT_S[min(failures, len(_RECONNECT_S) - 1)])
            failures += 1
            continue
        if failures:
            log.info(Action.DATABASE_BACK)
        return result
