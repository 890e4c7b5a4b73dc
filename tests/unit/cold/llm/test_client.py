"""What the way to a server is trusted with."""

import ssl
from typing import Any

import pytest

from cold.llm.client import Client


@pytest.mark.parametrize(
    ("url", "needs_certificates"),
    [
        ("http://127.0.0.1:8080/v1", False),
        ("http://localhost:8080/v1", False),
        ("https://localhost:8080/v1", True),
        ("https://models.example/v1", True),
        # A proxy between here and there may be encrypted.
        ("http://models.example/v1", True),
    ],
)
def test_certificates_are_read_where_anything_may_be_encrypted(
    url: str, needs_certificates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr("httpx2.AsyncClient", lambda **options: told.update(options))
    Client(url, None)
    if needs_certificates:
        assert told["verify"] is True
    else:
        # Trusts nobody: what is encrypted after all fails.
        assert told["verify"].verify_mode is ssl.CERT_REQUIRED
        assert told["verify"].get_ca_certs() == []
