"""To another machine the connection is encrypted and the server's certificate verified."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agents_memory.domain.errors import DatabaseUnavailable
from agents_memory.services.opening import open_pool
from agents_memory.services.reachability import knock
from agents_memory.settings import Settings
from agents_memory.storage import messages
from tests.integration.foreign_server import HOST, PASSWORDS, RemotePool
from tests.integration.tls_front import Certificates, certify, tls_front

NAME, ALIAS = "db.example.test", "alias.example.test"


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of another machine, which is this one."""
    resolve = socket.getaddrinfo

    def resolved(host: Any, *rest: Any, **more: Any) -> Any:
        return resolve(HOST if host in (NAME, ALIAS) else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return certify(tmp_path, NAME)


@pytest.fixture
async def port(remote: RemotePool, certificates: Certificates) -> AsyncIterator[int]:
    async with tls_front(remote.server.port, certificates) as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without certificates; the driver looks there too."""
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    return found


def _settings(
    home: Path, remote: RemotePool, port: int, *, host: str = NAME, **more: str
) -> Settings:
    parameters = more.pop("parameters", "")
    password = quote(PASSWORDS["memory_hot"], safe="")
    url = f"postgresql://memory_hot:{password}@{host}:{port}/{remote.name}{parameters}"
    return Settings.load({"DATABASE_URL": url, **more}, home=home)


async def _count(settings: Settings) -> int:
    opened = await open_pool(settings, "hot", application="test")
    try:
        own = await opened.database.connect()
        await own.close()
        return await opened.database.run(messages.count_messages)
    finally:
        await opened.close()


async def _refused(settings: Settings) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        await open_pool(settings, "hot", application="test")
    with pytest.raises(DatabaseUnavailable):
        await knock(settings, "test")
    return str(caught.value)


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    home: Path, remote: RemotePool, port: int
) -> None:
    """Without a word about encryption in the settings."""
    said = await _refused(_settings(home, remote, port))
    assert "certificate is not to be trusted (SSLCertVerificationError)" in said
    assert "sslrootcert=/path" in said
    assert "DB_SSL" in said


async def test_its_root_certificate_in_the_url_lets_us_in(
    home: Path, remote: RemotePool, port: int, certificates: Certificates
) -> None:
    settings = _settings(home, remote, port, parameters=f"?sslrootcert={certificates.root}")
    assert await _count(settings) == 0
    assert settings.notes == ()


async def test_its_root_certificate_in_the_home_folder_lets_us_in(
    home: Path, remote: RemotePool, port: int, certificates: Certificates
) -> None:
    (home / ".postgresql").mkdir()
    (home / ".postgresql/root.crt").write_bytes(certificates.root.read_bytes())
    assert await _count(_settings(home, remote, port)) == 0


async def test_a_certificate_for_another_host_is_refused_unless_the_host_does_not_matter(
    home: Path, remote: RemotePool, port: int, certificates: Certificates
) -> None:
    parameters = f"?sslrootcert={certificates.root}"
    said = await _refused(_settings(home, remote, port, host=ALIAS, parameters=parameters))
    assert "the host name it was made for" in said
    lower = {"parameters": parameters, "DB_SSL": "verify-ca"}
    assert await _count(_settings(home, remote, port, host=ALIAS, **lower)) == 0


async def test_lowering_the_demand_lets_us_in_and_is_noted(
    home: Path, remote: RemotePool, port: int
) -> None:
    settings = _settings(home, remote, port, DB_SSL="require")
    assert await _count(settings) == 0
    assert any("not verified" in note for note in settings.notes)


async def test_a_server_without_encryption_is_refused(home: Path, remote: RemotePool) -> None:
    said = await _refused(_settings(home, remote, remote.server.port))
    assert "does not take up encryption" in said
    assert "lower DB_SSL" in said
    plain = _settings(home, remote, remote.server.port, DB_SSL="disable")
    assert await _count(plain) == 0


async def test_a_root_certificate_that_is_missing_is_named(
    home: Path, remote: RemotePool, port: int
) -> None:
    said = await _refused(_settings(home, remote, port, parameters="?sslrootcert=/nowhere/ca.pem"))
    assert "a file they name is missing" in said
    assert "correct sslrootcert" in said
