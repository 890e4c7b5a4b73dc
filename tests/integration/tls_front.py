"""TLS before a server that knows none, as a provider's proxy gives it; and certificates for it."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.integration.foreign_server import HOST

_SSL_REQUEST_LENGTH = 8


@dataclass(frozen=True)
class Certificates:
    """Files: a root certificate of our own, and what it signed for one host name."""

    root: Path
    server: Path
    key: Path


def certify(folder: Path, host: str) -> Certificates:
    """Makes a root certificate, and one for `host`."""
    found = Certificates(folder / "root.crt", folder / "server.crt", folder / "server.key")
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name, name = _name("a root of our own"), _name(host)
    root = (
        _draft(root_name, root_name, root_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    server = (
        _draft(name, root_name, key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    found.root.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    found.server.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    found.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return found


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


@asynccontextmanager
async def tls_front(port: int, certificates: Certificates) -> AsyncIterator[int]:
    """A port with TLS that leads to `port` of this machine; the block gets its number."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server, certificates.key)
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(_SSL_REQUEST_LENGTH)
            writer.write(b"S")
            await writer.start_tls(context)
            inner, outer = await asyncio.open_connection(HOST, port)
            await asyncio.gather(_pump(reader, outer), _pump(inner, writer))
        writer.close()

    async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while words := await reader.read(65536):
                writer.write(words)
        finally:
            writer.close()

    listener = await asyncio.start_server(accept, HOST, 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        await asyncio.gather(*tasks, return_exceptions=True)
