"""The Markdown mirror: pages of what is remembered, for people and for git."""

import asyncio
from collections.abc import Callable, Set
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import ParamSpec, TypeVar

from agents_memory.clock import Clock
from agents_memory.domain.errors import Code, MirrorUnavailable, Refusal
from agents_memory.domain.mirror import Owner, Page
from agents_memory.domain.mirror_months import MONTHS, Month, month_page
from agents_memory.domain.mirror_tags import PROJECTS, TAGS, Entry, tag_pages
from agents_memory.services.mirror_folder import Done, MirrorFolder, open_folder
from agents_memory.storage import mirror
from agents_memory.storage.connections import Database

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MonthMirrored:
    """The page of a month, None when nothing is known of it; `done` when there is a folder."""

    month: Month
    page: Page | None
    done: Done | None


@dataclass(frozen=True, slots=True)
class TagsMirrored:
    """The index, its lines, and what became of the pages when there is a folder."""

    index: Page
    entries: tuple[Entry, ...]
    done: Done | None


class Mirror:
    """Pages of one user's memory; written below `directory`, where there is one."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        user_id: int,
        user: str,
        zone: tzinfo,
        directory: Path | None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._user_id = user_id
        self._owner = Owner(database.schema, user)
        self._zone = zone
        self._directory = None if directory is None else directory.expanduser()

    @property
    def directory(self) -> Path | None:
        """Where the pages are written."""
        return self._directory

    async def everything(
        self, asked: str | None, *, private: bool = False
    ) -> tuple[MonthMirrored, TagsMirrored] | Refusal:
        """What `month` and `tags` write, in the order in which links lead to what is there."""
        month = self._read(asked)
        if isinstance(month, Refusal):
            return month
        tags = await self.tags(private=private)
        if isinstance(tags, Refusal):
            return tags
        made = await self._mirror_month(month, private)
        return made if isinstance(made, Refusal) else (made, tags)

    async def month(self, asked: str | None, *, private: bool = False) -> MonthMirrored | Refusal:
        """The page of a month 'YYYY-MM', the last one unless told otherwise.

        The pages of other months that are there are made anew as well: what was erased since
        leaves them. Links lead to pages of projects that are there. Raises DatabaseUnavailable.
        """
        month = self._read(asked)
        return month if isinstance(month, Refusal) else await self._mirror_month(month, private)

    def _read(self, asked: str | None) -> Month | Refusal:
        month = Month.before(self._clock.now(), self._zone) if asked is None else Month.read(asked)
        return month or Refusal(
            Code.INVALID_INPUT,
            "month is a year and a month, such as 2026-10; pass one of these",
        )

    async def _mirror_month(self, month: Month, private: bool) -> MonthMirrored | Refusal:
        if self._directory is None:
            return MonthMirrored(month, await self._month_page(month, private), None)
        try:
            async with open_folder(self._directory, self._owner) as folder:
                there = await _to_its_end(folder.list_ours, MONTHS)
                months = {month, *filter(None, map(Month.read, map(_stem, there)))}
                projects = await _to_its_end(folder.list_ours, PROJECTS)
                linked = {f"{PROJECTS}/{name}" for name in projects}
                pages = {
                    one: await self._month_page(one, private, linked) for one in sorted(months)
                }
                kept = [page for page in pages.values() if page is not None]
                done = await _to_its_end(_replace, folder, kept, (MONTHS,))
        except MirrorUnavailable as fault:
            return _unwritten(fault)
        return MonthMirrored(month, pages[month], done)

    async def tags(self, *, private: bool = False) -> TagsMirrored | Refusal:
        """A page for each project and free tag, and their index. Raises DatabaseUnavailable."""
        if self._directory is None:
            pages, entries = await self._tag_pages(private)
            return TagsMirrored(pages[0], tuple(entries), None)
        try:
            async with open_folder(self._directory, self._owner) as folder:
                pages, entries = await self._tag_pages(private)
                done = await _to_its_end(_replace, folder, pages, (PROJECTS, TAGS))
        except MirrorUnavailable as fault:
            return _unwritten(fault)
        return TagsMirrored(pages[0], tuple(entries), done)

    async def _month_page(
        self, month: Month, private: bool, linked: Set[str] = frozenset()
    ) -> Page | None:
        since, until = month.bounds(self._zone)
        async with self._database.snapshot() as connection:
            told = await mirror.find_told(connection, self._user_id, since, until, private=private)
        if not told:
            return None
        return await asyncio.to_thread(month_page, self._owner, month, told, self._zone, linked)

    async def _tag_pages(self, private: bool) -> tuple[list[Page], list[Entry]]:
        async with self._database.snapshot() as connection:
            projects = await mirror.list_projects(connection, self._user_id, private=private)
            memories = await mirror.list_active(connection, self._user_id, private=private)
        return await asyncio.to_thread(tag_pages, self._owner, projects, memories, self._zone)


async def _to_its_end(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Work in a thread, which is waited for even when nobody wants it: it uses an open folder."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    finally:
        await asyncio.wait({working})


def _replace(folder: MirrorFolder, pages: list[Page], folders: tuple[str, ...]) -> Done:
    """Writes the pages, and removes ours of these folders that are not among them."""
    done = folder.write(pages)
    for name in folders:
        done += folder.remove_others(name, [page.name for page in pages if page.folder == name])
    return done


def _stem(name: str) -> str:
    return name.removesuffix(".md")


def _unwritten(fault: MirrorUnavailable) -> Refusal:
    return Refusal(Code.OPERATION_NOT_ALLOWED, str(fault))
