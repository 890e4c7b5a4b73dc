"""PostgreSQL servers of somebody else: TCP, passwords, an administrator, and nothing of ours.

They are plain clusters made with the installed binaries; those know no TLS, which `tls_front` adds.
"""

import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg

from agents_memory.embedding.profiles import HASHING
from agents_memory.storage import migrate
from agents_memory.storage.connections import Database
from agents_memory.storage.embedded.account import make_server_account
from agents_memory.storage.embedded.binaries import locate_binaries
from agents_memory.storage.embedded.processes import leash, signal_if_alive
from agents_memory.storage.embedded.programs import Programs
from agents_memory.storage.embedded.runtime import usable_binaries
from tests import memory_disk
from tests.conftest import SCHEMA

PASSWORDS = {
    "boss": "boss's own",
    "memory_owner": "o:w/n@er",
    "memory_cold": "cold",
    "memory_hot": "h%t",
}
RUNTIME_ROLES = ("memory_owner", "memory_cold", "memory_hot")
HOST = "127.0.0.1"
START_WITHIN_S = 60.0
_GLANCE_S = 0.02
_PROTOCOL_3 = 3 << 16
_SETTINGS = {
    "listen_addresses": HOST,
    "password_encryption": "scram-sha-256",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "40",
    "autovacuum": "off",
    "logging_collector": "off",
}


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server((HOST, 0)) as taken:
        return int(taken.getsockname()[1])


class ForeignServer:
    """One cluster, which starts and stops with the test that uses it."""

    def __init__(self) -> None:
        account = make_server_account()
        self._programs = Programs(usable_binaries(locate_binaries(), account), account)
        self._lock = os.open(os.devnull, os.O_RDONLY)
        # Short, since the path of a socket has room for about 100 bytes.
        self.base = memory_disk.make_folder() or Path(
            tempfile.mkdtemp(prefix="foreign-", dir="/tmp")
        )
        if not account.is_us:
            os.chown(self.base, account.uid, account.gid)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        password = self.base / "password"
        password.write_text(PASSWORDS["boss"])
        self._programs.run(
            self._lock, "initdb", "-U", "boss", f"--pwfile={password}", "--auth-local=trust",
            "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
            "--no-instructions", "-D", self.base / "data",
        )  # fmt: skip

    @property
    def bin(self) -> Path:
        """The folder of the client programs."""
        return self._programs.binaries.bin

    def url(self, role: str, database: str = "memory", *, host: str = HOST) -> str:
        """Over TCP, with the role's password."""
        password = quote(PASSWORDS[role], safe="")
        return f"postgresql://{role}:{password}@{host}:{self.port}/{database}"

    def database(self, role: str, database: str = "memory", **options: Any) -> Database:
        return Database(self.url(role, database), schema=SCHEMA, application="test", **options)

    def start(self, *, ready: bool = True, **settings: str) -> None:
        """Returns when the server answers; if not `ready`, be it that it turns everybody away."""
        wanted = {**_SETTINGS, "port": str(self.port), **settings}
        wanted["unix_socket_directories"] = str(self.base)
        with (self.base / "log").open("ab") as log:
            self._process = self._programs.start(
                self._lock, "postgres", "-D", self.base / "data",
                *(word for name, value in wanted.items() for word in ("-c", f"{name}={value}")),
                log=log, before=leash(signal.SIGINT),
            )  # fmt: skip
        end = time.monotonic() + START_WITHIN_S
        while self._answer() not in ((b"R",) if ready else (b"R", b"E")):
            assert self._process.poll() is None, (self.base / "log").read_text()
            assert time.monotonic() < end, "the server did not start"
            time.sleep(_GLANCE_S)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Ends the server: SIGINT in order, SIGQUIT as a crash."""
        if self._process is not None:
            self.thaw()
            signal_if_alive(self._process.pid, how)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Ends all its processes at once with SIGKILL, as when memory has run out."""
        for pid in self._family():
            signal_if_alive(pid, signal.SIGKILL)
        self.stop(signal.SIGKILL)

    def remove(self) -> None:
        self.stop()
        os.close(self._lock)
        shutil.rmtree(self.base, ignore_errors=True)

    def freeze(self) -> None:
        """Its sockets stay open, and nothing answers any more."""
        for pid in self._family():
            signal_if_alive(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._family():
            signal_if_alive(pid, signal.SIGCONT)

    async def admin(self, *statements: str, database: str = "postgres") -> Any:
        """Runs statements as the superuser; the first value of the last one, if it has any."""
        connection = await asyncpg.connect(
            host=str(self.base), port=self.port, user="boss", database=database
        )
        try:
            for statement in statements[:-1]:
                await connection.execute(statement)
            return await connection.fetchval(statements[-1])
        finally:
            await connection.close()

    async def found(self) -> None:
        """The roles, and an empty database `memory`: what a server's owner makes."""
        await self.admin(
            *(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORDS[role]}'" for role in RUNTIME_ROLES),
            "SELECT 1",
        )
        await self.create("memory")

    async def create(self, name: str) -> None:
        """An empty database with pgvector."""
        await self.admin(f"CREATE DATABASE {name} OWNER memory_owner", "SELECT 1")
        await self.admin("CREATE EXTENSION vector", "SELECT 1", database=name)

    async def drop(self, name: str) -> None:
        await self.admin(f"DROP DATABASE {name} WITH (FORCE)", "SELECT 1")

    async def prepare(self, name: str = "memory") -> None:
        """Migrates, and gives the runtime roles their rights."""
        owner = self.database("memory_owner", name)
        await migrate.prepare(
            owner, profile=HASHING.id, dims=HASHING.dims, hot="memory_hot", cold="memory_cold"
        )
        await owner.close()

    def _answer(self) -> bytes:
        """R for a request to authenticate, E for a refusal, nothing without a server."""
        words = b"user\x00boss\x00database\x00postgres\x00\x00"
        try:
            with socket.create_connection((HOST, self.port), timeout=START_WITHIN_S) as line:
                line.sendall(struct.pack("!ii", 8 + len(words), _PROTOCOL_3) + words)
                return line.recv(1)
        except OSError:
            return b""

    def _family(self) -> list[int]:
        if self._process is None:
            return []
        parent = self._process.pid
        return [parent, *(pid for pid, of in _parents().items() if of == parent)]


class RemotePool:
    """A migrated database of its own on a foreign server, for one test."""

    def __init__(self, server: ForeignServer, name: str) -> None:
        self.server = server
        self.name = name

    def url(self, role: str) -> str:
        return self.server.url(role, self.name)

    def database(self, role: str, **options: Any) -> Database:
        return self.server.database(role, self.name, **options)

    async def admin(self, *statements: str) -> Any:
        return await self.server.admin(*statements, database=self.name)


def _parents() -> dict[int, int]:
    """Every process with its parent."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    return {int(pid): int(parent) for pid, parent in map(str.split, listed.splitlines())}
