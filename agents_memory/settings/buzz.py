"""Buzz: which relay is asked, as whom, and whose words are the owner's."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

import re
from dataclasses import dataclass

from agents_memory.settings.capturing import CaptureSettings
from agents_memory.settings.values import Kind, Secret, Wrong, text
from agents_memory.settings.variables import Group, setting


def _keys(raw: str) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(key.strip().lower() for key in raw.split(",") if key.strip()))
    if not keys or not all(re.fullmatch(r"[0-9a-f]{64}", key) for key in keys):
        raise Wrong
    return keys


_PUBLIC_KEYS = Kind(
    "a comma list of public keys, 64 hexadecimal digits each", _keys, "comma list of 64 hex digits"
)
# Buzz's own variables: what they may be is for its program to say.
_PRIVATE_KEY = Kind("a private key", lambda raw: Secret(raw.strip()), secret=True)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class BuzzSettings(CaptureSettings):
    """The part of Settings about Buzz; only `buzz-ingest` uses it."""

    buzz_relay_url: str | None = setting(
        "BUZZ_RELAY_URL", Group.BUZZ, "The relay that is asked", text(2048), unset="Buzz's own"
    )
    buzz_private_key: Secret | None = setting(
        "BUZZ_PRIVATE_KEY",
        Group.BUZZ,
        "The key of the identity whose rooms are read; best given to that command alone",
        _PRIVATE_KEY,
    )
    buzz_ingest_owner: tuple[str, ...] = setting(
        "BUZZ_INGEST_OWNER",
        Group.BUZZ,
        "Your own public keys in Buzz: what they said counts as said by you",
        _PUBLIC_KEYS,
        computed=lambda _: (),
        unset="buzz-ingest refuses to run",
    )
    buzz_cli: str = setting(
        "BUZZ_CLI",
        Group.BUZZ,
        "Buzz's program: a name to be found in PATH, or an absolute path",
        text(2048),
        default="buzz",
    )
