"""Where a database is: URLs read, completed, and described without their secrets."""

import ipaddress
import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from agents_memory.settings.values import Kind, Secret, Wrong, choice

DEFAULT_PORT = 5432
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
SSL_MODE = choice(*SSL_MODES, true="require", false="disable")
_VERIFYING = ("verify-ca", "verify-full")
# Understood by libpq or by other programs only; the driver would hand them to the server, which
# refuses the connection.
FOREIGN_PARAMETERS = frozenset(
    {"channel_binding", "connect_timeout", "connection_limit", "gssencmode", "keepalives"}
    | {"fallback_application_name", "gssdelegation", "load_balance_hosts", "require_auth"}
    | {"sslcertmode"}
    | {"keepalives_idle", "keepalives_interval", "keepalives_count", "pgbouncer", "pool_timeout"}
    | {"schema", "sslcompression", "sslsni", "tcp_user_timeout"}
)
# Where the certificates of public authorities lie when OpenSSL's own default is a folder.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


@dataclass(frozen=True, slots=True)
class Address:
    """One Postgres database on one or more hosts (`(host, port)`; a host may be a socket folder).

    `login` is the user part of the URL as it was written, `parameters` its query without what the
    other fields hold.
    """

    login: str
    hosts: tuple[tuple[str, int], ...]
    database: str
    parameters: tuple[tuple[str, str], ...]
    ssl_mode: str | None

    def __repr__(self) -> str:
        return f"Address({self.describe()})"

    @property
    def local(self) -> bool:
        """Whether every host is this machine."""
        return all(_is_local(host) for host, _ in self.hosts)

    def describe(self) -> str:
        """`host:port/database`, several hosts with commas."""
        hosts = (f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.hosts)
        return f"{','.join(hosts)}/{self.database}"

    def url(self, ssl_mode: str | None, home: Path) -> str:
        """The complete URL: host, port, database and `sslmode` are always written out.

        The driver would otherwise take what is missing from PGHOST, PGPORT, PGDATABASE or
        PGSSLMODE. `ssl_mode` is what the settings ask for beside the URL.
        """
        mode = self.ssl_mode or ssl_mode or ("prefer" if self.local else "verify-full")
        query = {k: v for k, v in self.parameters if k not in FOREIGN_PARAMETERS}
        if mode in _VERIFYING and query.get("sslrootcert", "system") == "system":
            # libpq knows the word `system`; the driver wants a file.
            query.pop("sslrootcert", None)
            query |= _root_certificates(home)
        hosts = ",".join(_host_port(*host) for host in self.hosts)
        return (
            f"postgresql://{f'{self.login}@' if self.login else ''}{hosts}"
            f"/{quote(self.database, safe='')}?{urlencode({**query, 'sslmode': mode})}"
        )

    def notes(self, name: str, ssl_mode: str | None) -> Iterable[str]:
        """What the owner should know about the address that variable `name` gave."""
        mode = self.ssl_mode or ssl_mode
        if mode and mode not in _VERIFYING and not self.local:
            yield (
                f"{name} connects to another machine with sslmode={mode}: the server's "
                "certificate is not verified; verify-full is safe."
            )
        for key, _ in self.parameters:
            if key in FOREIGN_PARAMETERS:
                yield f"{name} carries {key}, which has no effect here."


def parse(url: str) -> Address:
    """The address in a Postgres URL. Raises Wrong, never with a part of the URL in the text."""
    try:
        split = urlsplit(url)
        query = dict(parse_qsl(split.query, strict_parsing=True)) if split.query else {}
    except ValueError:
        raise Wrong("it is not a well-formed URL; special characters need %-encoding") from None
    if split.scheme not in ("postgresql", "postgres"):
        raise Wrong("it does not begin with postgresql://")
    if split.netloc.count("@") > 1 or split.fragment:
        raise Wrong("special characters in the user or the password need %-encoding (@ is %40)")
    mode = query.pop("sslmode", None)
    if mode is not None and mode not in SSL_MODES:
        raise Wrong(f"its sslmode is none of {', '.join(SSL_MODES)}")
    database = unquote(split.path.removeprefix("/"))
    database = database or query.pop("dbname", "") or query.pop("database", "")
    if not database:
        raise Wrong("it names no database")
    return Address(
        login=split.netloc.rpartition("@")[0],
        hosts=_hosts(split, query),
        database=database,
        parameters=tuple(query.items()),
        ssl_mode=mode,
    )


def from_parts(host: str, port: int, user: str, password: Secret | None, database: str) -> str:
    """A URL from the DB_* settings; `host` may be a socket folder."""
    login = quote(user, safe="")
    if password is not None:
        login += ":" + quote(password.reveal(), safe="")
    return f"postgresql://{login}@{_host_port(host, port)}/{quote(database, safe='')}"


def _read(raw: str) -> Secret:
    parse(raw.strip())
    return Secret(raw.strip())


def _host(raw: str) -> str:
    try:
        parse(from_parts(raw, DEFAULT_PORT, "user", None, "database"))
    except Wrong:
        # What is wrong with the URL made of it would only puzzle.
        raise Wrong from None
    return raw


URL = Kind(
    "a URL such as postgresql://user:password@host:5432/database",
    _read,
    bounds="postgresql://user:password@host:5432/database",
    secret=True,
)
HOST = Kind("one host name, IP address or socket folder, without a port", _host)


def _hosts(split: SplitResult, query: dict[str, str]) -> tuple[tuple[str, int], ...]:
    written = split.netloc.rpartition("@")[2]
    hosts, ports = query.pop("host", ""), query.pop("port", "")
    if written and hosts:
        raise Wrong("it names its host twice")
    listed = [unquote(part) for part in written.split(",")] if written else hosts.split(",")
    found = []
    for index, part in enumerate(listed):
        socket = re.fullmatch(r"(/.*?)(?::([0-9]+))?", part)
        bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.%]+)\](?::([0-9]*))?", part)
        named = re.fullmatch(r"([^\[\]/@:,\s]+)(?::([0-9]*))?", part)
        match = socket or bracketed or named
        if match is None:
            raise Wrong("it names no host, or its port is not a number")
        shared = ports.split(",")
        port = match[2] or shared[min(index, len(shared) - 1)] or str(DEFAULT_PORT)
        if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65536:
            raise Wrong("its port is not a number from 1 to 65535")
        found.append((match[1], int(port)))
    return tuple(found)


def _host_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{quote(host, safe='')}:{port}"


def _is_local(host: str) -> bool:
    if host.startswith("/") or host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _root_certificates(home: Path) -> dict[str, str]:
    """The public authorities, unless the user has a root certificate where libpq looks for it."""
    if (home / ".postgresql" / "root.crt").exists():
        return {}
    for bundle in (ssl.get_default_verify_paths().cafile, *_BUNDLES):
        if bundle and Path(bundle).is_file():
            return {"sslrootcert": bundle}
    return {}
