"""Which database: the variables that say it, and the URLs that follow from them."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents_memory.settings.address import (
    DEFAULT_PORT,
    HOST,
    SSL_MODE,
    URL,
    Address,
    from_parts,
    parse,
)
from agents_memory.settings.surroundings import Surroundings
from agents_memory.settings.values import (
    FLAG,
    IDENTIFIER,
    NAMES,
    PASSWORD,
    PATH,
    Secret,
    text,
    whole,
)
from agents_memory.settings.variables import Group, setting


# Without the methods of a dataclass, as all of Settings: `Settings.__init__` says why.
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class DatabaseSettings:
    """The part of Settings that decides where memories go; `home` is where it was read."""

    home: Path

    config_path: Path | None = setting(
        "MEMORY_CONFIG_PATH",
        Group.SOURCES,
        "A file like this one, in place of the usual one",
        PATH,
        unset="~/.config/mcp-agents-memory/.env (under XDG_CONFIG_HOME), if it is there",
        misnomers=("AGENTS_MEMORY_CONFIG", "MEMORY_CONFIG", "MEMORY_CONFIG_FILE"),
    )
    ignore_env: tuple[str, ...] = setting(
        "AGENTS_MEMORY_IGNORE_ENV",
        Group.SOURCES,
        "Names in the environment that belong to other programs, such as DATABASE_URI",
        NAMES,
        default="",
    )

    database_url: Secret | None = setting(
        "DATABASE_URL",
        Group.DATABASE,
        "The database, as the role of the editors' servers",
        URL,
        unset="the embedded database",
        misnomers=("DATABASE_URI", "DATABASE_DSN", "AGENTS_MEMORY_DATABASE_URL"),
    )
    db_host: str | None = setting(
        "DB_HOST",
        Group.DATABASE,
        "The database in parts: its host, or the folder of its socket",
        HOST,
        misnomers=("DB_HOSTNAME", "DB_SERVER"),
    )
    db_port: int = setting("DB_PORT", Group.DATABASE, "Its port", whole(1, 65535), default="5432")
    db_user: str | None = setting(
        "DB_USER", Group.DATABASE, "The role", text(63), misnomers=("DB_USERNAME",)
    )
    db_pass: Secret | None = setting(
        "DB_PASS", Group.DATABASE, "Its password", PASSWORD, misnomers=("DB_PASSWORD", "DB_PASSWD")
    )
    db_name: str | None = setting(
        "DB_NAME",
        Group.DATABASE,
        "The name of the database",
        text(63),
        misnomers=("DB_DATABASE", "DATABASE_NAME"),
    )
    db_ssl: str | None = setting(
        "DB_SSL",
        Group.DATABASE,
        "How the connection is encrypted",
        SSL_MODE,
        unset="what the URL says, else verify-full to another machine and prefer on this one",
        misnomers=("DB_SSLMODE", "DB_SSL_MODE"),
    )
    database_pooled: bool = setting(
        "DATABASE_POOLED",
        Group.DATABASE,
        "Whether DATABASE_URL leads through a pooler that hands one server session to several "
        "clients, such as PgBouncer in transaction mode",
        FLAG,
        default="false",
        misnomers=("DB_POOLED",),
    )
    database_direct_url: Secret | None = setting(
        "DATABASE_DIRECT_URL",
        Group.DATABASE,
        "The same database and role around that pooler, for the lead of the daemon, its hints and "
        "migrations",
        URL,
        unset="DATABASE_URL",
    )
    owner_database_url: Secret | None = setting(
        "OWNER_DATABASE_URL",
        Group.DATABASE,
        "The database, as the role that owns the schema (migrate, redact, embedding); not through "
        "a pooler",
        URL,
        unset="DATABASE_URL",
    )
    cold_database_url: Secret | None = setting(
        "COLD_DATABASE_URL",
        Group.DATABASE,
        "The database, as the role of the daemon; not through a pooler",
        URL,
        unset="DATABASE_URL",
    )
    db_schema: str = setting(
        "DB_SCHEMA", Group.DATABASE, "The pool's schema", IDENTIFIER, default="agents_memory"
    )
    db_pool_max: int = setting(
        "DB_POOL_MAX",
        Group.DATABASE,
        "Connections one process may hold",
        whole(1, 50),
        default="8",
        misnomers=("DB_POOL_SIZE", "DB_MAX_CONNECTIONS"),
    )
    data_dir: Path = setting(
        "MEMORY_DATA_DIR",
        Group.DATABASE,
        "The folder of the embedded database and of everything else this machine keeps",
        PATH,
        computed=Surroundings.data_dir,
        unset="~/.local/share/mcp-agents-memory (under XDG_DATA_HOME; on macOS "
        "~/Library/Application Support/mcp-agents-memory)",
        misnomers=("AGENTS_MEMORY_DATA_DIR", "AGENTS_MEMORY_HOME"),
    )
    embedded_linger_sec: int = setting(
        "EMBEDDED_LINGER_SEC",
        Group.DATABASE,
        "How long the embedded database stays after its last client",
        whole(0, 86_400, "seconds"),
        default="60",
    )

    spool_max_mb: int = setting(
        "SPOOL_MAX_MB",
        Group.DATABASE,
        "How much may wait on this machine's disk while the database is away",
        whole(1, 1_000_000, "MiB"),
        default="256",
    )

    @property
    def embedded(self) -> bool:
        """Whether the database is the private one on this machine."""
        return self.database_url is None and self.db_host is None

    @property
    def hot_url(self) -> Secret | None:
        """The complete URL for the editors' servers; None: the embedded database knows it."""
        return self._complete(self.database_url)

    @property
    def direct_url(self) -> Secret | None:
        """The complete URL around the pooler that `hot_url` leads through; None: not set."""
        url = self.database_direct_url
        return None if url is None else self._complete(url)

    @property
    def cold_url(self) -> Secret | None:
        """The complete URL for the daemon; None: the embedded database knows it."""
        return self._complete(self.cold_database_url or self.database_url)

    @property
    def owner_url(self) -> Secret | None:
        """The complete URL for the schema's owner; None: the embedded database knows it."""
        return self._complete(self.owner_database_url or self.database_url)

    def describe_database(self) -> str:
        """`embedded at /path` or `host:port/database`; no secret."""
        url = self._written(self.database_url)
        return f"embedded at {self.data_dir}" if url is None else parse(url).describe()

    def _written(self, url: Secret | None) -> str | None:
        if url is not None:
            return url.reveal()
        if self.db_host is None:
            return None
        return from_parts(
            self.db_host, self.db_port, self.db_user or "", self.db_pass, self.db_name or ""
        )

    def _complete(self, url: Secret | None) -> Secret | None:
        written = self._written(url)
        if written is None:
            return None
        return Secret(parse(written).url(self.db_ssl, self.home))

    def _addresses(self) -> Iterator[tuple[str, Address]]:
        """What each variable that names a database says, by the variable's name."""
        for name, url in (
            ("DATABASE_URL", self.database_url),
            ("DATABASE_DIRECT_URL", self.database_direct_url),
            ("OWNER_DATABASE_URL", self.owner_database_url),
            ("COLD_DATABASE_URL", self.cold_database_url),
        ):
            if url is not None:
                yield name, parse(url.reveal())
        if self.db_host is not None and self.database_url is None:
            yield "DB_HOST", parse(self._written(None) or "")

    def _parts(self) -> list[str]:
        """The DB_ parts that are set and mean nothing without DB_HOST."""
        parts = {
            "DB_PORT": self.db_port != DEFAULT_PORT,
            "DB_USER": self.db_user is not None,
            "DB_PASS": self.db_pass is not None,
            "DB_NAME": self.db_name is not None,
        }
        return [name for name, given in parts.items() if given]

    def contradictions(self) -> Iterator[str]:
        """What keeps these settings from naming one database, and how to mend it."""
        if self.db_host is not None:
            if self.database_url is not None:
                yield "DATABASE_URL and DB_HOST are both set; keep the one that is meant"
            if self.db_user is None or self.db_name is None:
                yield "DB_HOST needs DB_USER and DB_NAME too (and mostly DB_PASS); set them"
                return
        if self.embedded:
            stray = [*self._parts(), *(name for name, _ in self._addresses())]
            if self.db_ssl is not None:
                stray.append("DB_SSL")
            if self.database_pooled:
                stray.append("DATABASE_POOLED")
            if stray:
                yield (
                    f"{', '.join(stray)} set, but neither DATABASE_URL nor DB_HOST: an empty "
                    "embedded database would be used. Set DATABASE_URL, or remove the others (what "
                    f"belongs to another program: AGENTS_MEMORY_IGNORE_ENV={','.join(stray)})"
                )
        for name, address in self._addresses():
            if self.db_ssl and address.ssl_mode and address.ssl_mode != self.db_ssl:
                yield f"DB_SSL and the sslmode in {name} differ; keep one of them"

    def database_notes(self) -> Iterator[str]:
        """What the owner should know about the way to the database."""
        if self.database_url is not None and self._parts():
            yield f"No effect beside DATABASE_URL: {', '.join(self._parts())}."
        for name, address in self._addresses():
            yield from address.notes(name, self.db_ssl)
