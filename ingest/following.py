"""Follows the transcripts of one client: looks, reads what is new, has it stored, moves on."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path, PurePath

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from ingest.batch import Transcript
from ingest.beside import opened
from ingest.cursor import Cursor, Positions, Watch, end_of_lines
from ingest.finding import Finder, Found
from ingest.opening import ForeignEncoding, end_of_whole, open_transcript
from ingest.records import Dropped, Record, Tally
from ingest.transcripts.protocol import Client, Shape

log = get_logger()

# So long nothing may be added before an answer that says that it is finished is given out.
REST_S = 0.3
# As long after a file that is read as a whole was read it is read again if something waits in it.
AGAIN_S = 1.0
# The parts of the time that looking for files, and reading files as a whole, may take.
FINDING_SHARE = 0.0045
READING_SHARE = 0.05
# An answer whose end nothing tells of, or a last line without an end, counts as finished then.
QUIET_S = 30.0
# A session that says nothing for so long is over, as far as anybody can tell.
LIVE_S = 900.0
# So many are glanced at, those that changed last: copying a folder makes all its files new.
MOST_LIVE = 100
BEAT_S = 10.0
_RETRY_S = 30.0
# After so long without a word a file's reader is made anew when it is needed.
_KEEP_S = 600.0

# So many files with damaged lines are named.
MOST_NAMES = 5
DAMAGE = (Dropped.BROKEN, Dropped.TOO_LONG)

Keep = Callable[[Sequence[Record]], Awaitable[object]]
Beat = Callable[[Sequence[str]], Awaitable[None]]


@dataclass(slots=True)
class _File:
    """What is known of a file; times are of the monotonic clock."""

    signature: tuple[int, int, int] | None = None
    tail: Transcript | None = None
    grown_at: float = -inf
    read_at: float = -inf
    quiet: bool = False
    # The last trouble with it, which is told once.
    trouble: str = ""
    # Before this it is left alone: it could not be read, or reading it takes long.
    free_at: float = -inf


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
        self._positions = positions
        self._clock = clock
        self._files: dict[str, _File] = {}
        self._live: list[Found] = []
        # What is to be read again though nothing tells of it, and what changed and nobody told.
        self._pending: dict[str, Found] = {}
        self._untold: set[str] = set()
        self._tally = Tally()
        self._damaged: set[str] = set()
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
            watch.cursors[found.path] = self._end_of(found)
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
        return min((self._due_at(self._files[path], one) for path, one in waiting), default=inf)

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
        self._report()
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
        due = [
            one
            for path, one in self._pending.items()
            if self._due_at(self._files[path], one) <= now
        ]
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
            file = self._files.get(one.path) or self._files.setdefault(one.path, self._known(one))
            if self._due_at(file, one) <= self._clock.monotonic():
                await self._follow(file, one, keep)
            if self._due_at(file, one) < inf:
                self._pending[one.path] = one
            else:
                self._pending.pop(one.path, None)

    def _known(self, found: Found) -> _File:
        """A file that is met for the first time; one read as a whole may be known as it is."""
        watch = self._positions.watch(self._place)
        cursor = None if watch is None else watch.cursors.get(found.path)
        whole = found.facts.shape is not Shape.LINES
        known = whole and cursor == end_of_whole(found)
        return _File(found.signature if known else None)

    def _due_at(self, file: _File, found: Found) -> float:
        """When a file is to be read; never, as long as nothing changes."""
        if found.signature != file.signature:
            return file.free_at
        if file.tail is None or not file.tail.waiting or file.quiet:
            return inf
        rested_at, quiet_at = file.grown_at + REST_S, file.grown_at + QUIET_S
        if file.read_at < rested_at:
            return max(file.free_at, rested_at)
        # What waits in lines waits for more of them or for their end, elsewhere for time to pass.
        again_at = quiet_at if found.facts.shape is Shape.LINES else file.read_at + AGAIN_S
        return max(file.free_at, min(again_at, quiet_at))

    async def _follow(self, file: _File, found: Found, keep: Keep) -> None:
        now, changed = self._clock.monotonic(), found.signature != file.signature
        if changed:
            file.quiet = False
        elif now - file.grown_at >= QUIET_S:
            file.quiet = True
        signature, file.signature = found.signature, None
        damage = self._damage
        try:
            grew = await self._read(file, found, keep)
        except FileNotFoundError:
            file.tail, file.free_at = None, now + AGAIN_S
            return
        except OSError as error:
            # One bad file stops no other; it is tried again now and then.
            file.tail, file.free_at = None, now + _RETRY_S
            say = log.debug if file.trouble == str(error) else log.warning
            name = PurePath(found.path).name
            # What we say of it ourselves holds nothing of it.
            why = {"reason": str(error)} if isinstance(error, ForeignEncoding) else {}
            say(Action.CAPTURE_SKIPPED, client=self._client.name, path=name, error=error, **why)
            file.trouble = str(error)
            return
        except BaseException:
            file.tail = None
            raise
        if self._damage > damage:
            self._damaged.add(PurePath(found.path).name)
        file.signature, file.read_at, file.trouble = signature, now, ""
        if grew or (changed and file.tail is not None and file.tail.waiting):
            file.grown_at = now
        if file.tail is not None and not file.tail.waiting and now - file.grown_at > _KEEP_S:
            file.tail = None

    async def _read(self, file: _File, found: Found, keep: Keep) -> bool:
        """Whether there was anything new; all of it is committed then."""
        grew, more, took_s = False, True, 0.0
        watch = self._positions.watch(self._place)
        assert watch is not None, "begin() comes first"
        while more:
            began = self._clock.monotonic()
            if file.tail is None:
                file.tail = await asyncio.to_thread(self._open, found, watch)
            batch = await asyncio.to_thread(file.tail.read, quiet=file.quiet)
            took_s += self._clock.monotonic() - began
            if batch.records:
                await keep(batch.records)
            self._positions.move(self._place, found.path, batch.cursor)
            grew, more = grew or batch.grew, batch.more
        if found.facts.shape is not Shape.LINES:
            file.free_at = self._clock.monotonic() + took_s / READING_SHARE
        return grew

    def _open(self, found: Found, watch: Watch) -> Transcript:
        return open_transcript(
            self._finder.root,
            found,
            self._client,
            now=self._clock.now,
            cursor=watch.cursors.get(found.path),
            since=watch.since,
            tally=self._tally,
        )

    def _end_of(self, found: Found) -> Cursor:
        if found.facts.shape is not Shape.LINES:
            return end_of_whole(found)
        inode, size, _ = found.signature
        try:
            with opened(self._finder.root / found.path) as file:
                end = end_of_lines(file)
                if found.facts.context:
                    return Cursor.take(file, 0, begun=end)
                return Cursor.take(file, end)
        except OSError:
            # Should it become readable: what is in it now was said before.
            return Cursor(inode, found.device, size)

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

    def _report(self) -> None:
        """Says how much was left out and why; damage more loudly than what is meant to be."""
        if +self._tally:
            say = log.warning if self._damage else log.debug
            counts = {kind.value: count for kind, count in (+self._tally).items()}
            where = sorted(self._damaged)[:MOST_NAMES] or None
            say(Action.CAPTURE_SKIPPED, client=self._client.name, where=where, **counts)
        self._tally.clear()
        self._damaged.clear()

    @property
    def _damage(self) -> int:
        return sum(self._tally[kind] for kind in DAMAGE)

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
