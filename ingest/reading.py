"""Reads single files on: what is new in one, as soon as it is finished, from where it was left."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path, PurePath

from agents_memory.clock import Clock
from agents_memory.observe import Action, get_logger
from ingest.batch import Transcript
from ingest.beside import opened
from ingest.cursor import Cursor, Positions, Watch, end_of_lines
from ingest.finding import Found
from ingest.opening import ForeignEncoding, end_of_whole, open_transcript
from ingest.records import Dropped, Record, Tally
from ingest.transcripts.protocol import Client, Shape

log = get_logger()

# So long nothing may be added before an answer that says that it is finished is given out.
REST_S = 0.3
# As long after a file that is read as a whole was read it is read again if something waits in it.
AGAIN_S = 1.0
# The part of the time that reading files as a whole may take.
READING_SHARE = 0.05
# An answer whose end nothing tells of, or a last line without an end, counts as finished then.
QUIET_S = 30.0
_RETRY_S = 30.0
# After so long without a word a file's reader is made anew when it is needed.
_KEEP_S = 600.0

# So many files with damaged lines are named.
MOST_NAMES = 5
DAMAGE = (Dropped.BROKEN, Dropped.TOO_LONG)

Keep = Callable[[Sequence[Record]], Awaitable[object]]


@dataclass(slots=True)
class File:
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

    def due_at(self, found: Found) -> float:
        """When it is to be read, as it was found; infinite as long as nothing changes."""
        if found.signature != self.signature:
            return self.free_at
        if self.tail is None or not self.tail.waiting or self.quiet:
            return inf
        rested_at, quiet_at = self.grown_at + REST_S, self.grown_at + QUIET_S
        if self.read_at < rested_at:
            return max(self.free_at, rested_at)
        # What waits in lines waits for more of them or for their end, elsewhere for time to pass.
        again_at = quiet_at if found.facts.shape is Shape.LINES else self.read_at + AGAIN_S
        return max(self.free_at, min(again_at, quiet_at))


class Reader:
    """Reads the files of one client below `root`; `place` is its name in `positions`."""

    def __init__(
        self, client: Client, root: Path, positions: Positions, clock: Clock, place: str
    ) -> None:
        self._client = client
        self._root = root
        self._positions = positions
        self._clock = clock
        self._place = place
        self._tally = Tally()
        self._damaged: set[str] = set()

    def end_of(self, found: Found) -> Cursor:
        """The cursor that leaves out what is in a file now."""
        if found.facts.shape is not Shape.LINES:
            return end_of_whole(found)
        inode, size, _ = found.signature
        try:
            with opened(self._root / found.path) as file:
                end = end_of_lines(file)
                if found.facts.context:
                    return Cursor.take(file, 0, begun=end)
                return Cursor.take(file, end)
        except OSError:
            # Should it become readable: what is in it now was said before.
            return Cursor(inode, found.device, size)

    def known(self, found: Found) -> File:
        """A file that is met for the first time; one read as a whole may be known as it is."""
        watch = self._positions.watch(self._place)
        cursor = None if watch is None else watch.cursors.get(found.path)
        whole = found.facts.shape is not Shape.LINES
        known = whole and cursor == end_of_whole(found)
        return File(found.signature if known else None)

    async def read(self, file: File, found: Found, keep: Keep) -> None:
        """Reads what is new and moves the position of what `keep` has committed.

        A file that cannot be read is left alone for a while, and its trouble told once. Raises what
        `keep` raises.
        """
        now, changed = self._clock.monotonic(), found.signature != file.signature
        if changed:
            file.quiet = False
        elif now - file.grown_at >= QUIET_S:
            file.quiet = True
        signature, file.signature = found.signature, None
        damage = self._damage
        try:
            grew = await self._read_on(file, found, keep)
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

    def report(self) -> None:
        """Says how much was left out and why; damage more loudly than what is meant to be."""
        if +self._tally:
            say = log.warning if self._damage else log.debug
            counts = {kind.value: count for kind, count in (+self._tally).items()}
            where = sorted(self._damaged)[:MOST_NAMES] or None
            say(Action.CAPTURE_SKIPPED, client=self._client.name, where=where, **counts)
        self._tally.clear()
        self._damaged.clear()

    async def _read_on(self, file: File, found: Found, keep: Keep) -> bool:
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
            self._root,
            found,
            self._client,
            now=self._clock.now,
            cursor=watch.cursors.get(found.path),
            since=watch.since,
            tally=self._tally,
        )

    @property
    def _damage(self) -> int:
        return sum(self._tally[kind] for kind in DAMAGE)
