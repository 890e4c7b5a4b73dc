"""Follows the transcripts of one client: looks, reads what is new, has it stored, moves on."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from ingest.cursor import Positions, Watch
from ingest.finding import Finder, Found
from ingest.reading import File, Keep, Reader
from ingest.transcripts.protocol import Client, Shape

log = get_logger()

# The part of the time that looking for files may take.
FINDING_SHARE = 0.0045
# A session that says nothing for so long is over, as far as anybody can tell.
LIVE_S = 900.0
# So many are glanced at, those that changed last: copying a folder makes all its files new.
MOST_LIVE = 100
BEAT_S = 10.0

Beat = Callable[[Sequence[str]], Awaitable[None]]


class Follower:
    """One client, from `begin` on; `look` is one round over all its files.

    Between two rounds, `rest_s` or longer apart, `glance` follows single files: what the system
    tells of, what is `due_at` a time, and where the system tells nothing those that were spoken in
    lately and, where it `has_new`, those. `place` tells several folders of one client apart in
    `positions`.
    """

    def __init__(
        self,
        client: Client,
        root: Path,
        positions: Positions,
        clock: Clock,
        place: str | None = None,
    ) -> None:
        self.rest_s = 0.0
        self._place = place or client.name
        self._client = client
        self._finder = Finder(root, client)
        self._reader = Reader(client, self._finder.root, positions, clock, self._place)
        self._positions = positions
        self._clock = clock
        self._files: dict[str, File] = {}
        self._live: list[Found] = []
        # What is to be read again though nothing tells of it, and what changed and nobody told.
        self._pending: dict[str, Found] = {}
        self._untold: set[str] = set()
        self._signed: set[str] = set()
        self._signed_at = float("-inf")
        self._unreadable: set[str] = set()

    def begin(self) -> None:
        """Where nothing is known of this client here: what is there now was said before.

        Touches no file but to read, and asks no database.
        """
        watch, root = self._positions.watch(self._place), str(self._finder.root)
        if watch is not None and watch.root == root:
            return
        watch = Watch(root, self._clock.now())
        for found in self._finder.find():
            watch.cursors[found.path] = self._reader.end_of(found)
        self._positions.begin(self._place, watch)
        log.info(Action.CAPTURE_BEGUN, client=self._client.name, files=len(watch.cursors))

    @property
    def root(self) -> Path:
        """The folder that is followed."""
        return self._finder.root

    @property
    def due_at(self) -> float:
        """When `glance` has something to do, on the monotonic clock; infinite: nothing waits."""
        waiting = self._pending.items()
        return min((self._files[path].due_at(one) for path, one in waiting), default=inf)

    def has_new(self) -> bool:
        """Whether something came or went in a folder since it was looked into; touches nothing."""
        return self._finder.has_new()

    def take_entered(self) -> set[str]:
        """The folders that were looked into since the last time, by their paths below the root."""
        return self._finder.take_entered()

    def below(self, told: Collection[str]) -> set[str]:
        """What these absolute paths tell of, by its path below the root; empty: of the root itself.

        The log of a database tells of the database.
        """
        inside = f"{self.root}/"
        at = {path.removeprefix(inside) for path in told if path.startswith(inside)}
        above = any(inside.startswith(f"{path.rstrip('/')}/") for path in told)
        return {path.removesuffix("-wal") for path in at} | ({""} if above else set())

    async def look(self, keep: Keep, beat: Beat, told: Collection[str] = ()) -> bool:
        """Reads what is new and moves the positions of what `keep` has committed.

        False when something changed before the last look that nobody told of until now; `told`:
        the paths `below` the root that were. Raises what `keep` and `beat` raise; what was not
        kept is then read again the next time.
        """
        found, took_s = await asyncio.to_thread(self._find)
        self.rest_s = min(took_s / FINDING_SHARE, BEAT_S)
        self._forget_missing(found)
        heard = not self._heard(told)
        self._untold = {one.path for one in found if self._is_untold(one)}
        self._heard(told)
        await self._follow_all(found, keep)
        self._live = self._lively(found)
        self._reader.report()
        await self._sign(found, beat)
        return heard

    async def glance(
        self,
        keep: Keep,
        beat: Beat,
        told: Collection[str] = (),
        *,
        live: bool = True,
        new: bool = False,
    ) -> None:
        """As `look`, at what lies at or below the paths that were `told`, and at what is due.

        With `live` also at transcripts of lines that changed not long before the last look, and
        with `new` in folders where something came or went since.
        """
        now = self._clock.monotonic()
        due = [one for path, one in self._pending.items() if self._files[path].due_at(one) <= now]
        if not (told or due or new or (live and self._live)):
            return
        known = [*due, *(self._live if live else ())]
        found = await asyncio.to_thread(self._seen, told, known, new)
        for path in {one.path for one in due} - {one.path for one in found}:
            del self._pending[path]
        self._heard(told)
        await self._follow_all(found, keep)
        if new:
            self._live = self._lively({one.path: one for one in [*self._live, *found]}.values())
        await self._sign_new(found, beat)

    def _seen(self, told: Collection[str], known: Collection[Found], new: bool) -> list[Found]:
        seen = {one.path: one for one in self._finder.find_again(known)}
        seen |= {one.path: one for one in self._finder.find_at(told)}
        if new:
            seen |= {one.path: one for one in self._finder.find_new()}
        return list(seen.values())

    def _lively(self, found: Iterable[Found]) -> list[Found]:
        """Those of lines that may be spoken in now, the one that changed last at the end."""
        oldest = self._clock.now().timestamp() - LIVE_S
        lines = [one for one in found if one.facts.shape is Shape.LINES]
        lively = [one for one in lines if one.changed_at >= oldest]
        return sorted(lively, key=lambda one: one.changed_at)[-MOST_LIVE:]

    def _find(self) -> tuple[list[Found], float]:
        """All files, and the seconds of CPU time that finding them took."""
        began = time.thread_time()
        return self._finder.find(), time.thread_time() - began

    def _heard(self, told: Collection[str]) -> set[str]:
        """What is left of what nobody told, after this was."""
        self._untold = set() if "" in told else self._untold - set(told)
        return self._untold

    def _is_untold(self, found: Found) -> bool:
        file = self._files.get(found.path)
        if file is None or file.signature is None or found.path in self._pending:
            return False
        return found.signature != file.signature

    async def _follow_all(self, found: Sequence[Found], keep: Keep) -> None:
        for one in found:
            file = self._files.get(one.path)
            if file is None:
                file = self._files[one.path] = self._reader.known(one)
            if file.due_at(one) <= self._clock.monotonic():
                await self._reader.read(file, one, keep)
            if file.due_at(one) < inf:
                self._pending[one.path] = one
            else:
                self._pending.pop(one.path, None)

    def _forget_missing(self, found: list[Found]) -> None:
        """Drops what is gone, unless it may only be out of sight."""
        if self._finder.unreadable != self._unreadable:
            self._unreadable = self._finder.unreadable
            log.warning(
                Action.CAPTURE_SKIPPED, client=self._client.name, folders=len(self._unreadable)
            )
        if self._unreadable or not found:
            return
        watch = self._positions.watch(self._place)
        known = set() if watch is None else set(watch.cursors)
        gone = (known | set(self._files)) - {one.path for one in found}
        for path in gone:
            self._files.pop(path, None)
            self._pending.pop(path, None)
        self._positions.drop(self._place, gone)

    async def _sign(self, found: Sequence[Found], beat: Beat) -> None:
        """Says which sessions are stored as far as they are written."""
        clock, live = self._clock.monotonic(), set(self._speaking(found))
        if live and (live - self._signed or clock - self._signed_at >= BEAT_S):
            await beat(sorted(live))
            self._signed, self._signed_at = live, clock

    async def _sign_new(self, found: Sequence[Found], beat: Beat) -> None:
        """Says so of sessions that were silent at the last look."""
        if new := set(self._speaking(found)) - self._signed:
            await beat(sorted(new))
            self._signed |= new

    def _speaking(self, found: Sequence[Found]) -> Iterator[str]:
        oldest = self._clock.now().timestamp() - LIVE_S
        for one in found:
            stored = self._files[one.path].signature is not None
            if one.facts.session and one.changed_at >= oldest and stored:
                yield one.facts.session
