"""How one value is read: a secret that never shows itself, and the kinds of settings."""

import re
from collections.abc import Callable
from datetime import UTC, tzinfo
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

LONGEST_VALUE = 4096


class Secret:
    """A text that `repr`, `str`, JSON and pickle never show; `reveal()` gives it out."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The text itself; hand it to the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self._value == other._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, _memo: dict[int, object]) -> "Secret":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled; let the other process load its own settings")


class Wrong(ValueError):
    """A value is not of its kind; the text, if any, says in what way, and never shows the value."""


class Kind(NamedTuple):
    """What a value must be and how it is read (`read` may raise Wrong).

    `expects` is a noun phrase for errors, `bounds` the short form for `.env.example`.
    """

    expects: str
    read: Callable[[str], object]
    bounds: str = ""
    secret: bool = False


def whole(low: int, high: int, unit: str = "") -> Kind:
    """A whole number from `low` to `high`."""

    def read(raw: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,12}", raw) or not low <= int(raw) <= high:
            raise Wrong
        return int(raw)

    bounds = f"{low} to {high}{f' {unit}' if unit else ''}"
    return Kind(f"a whole number, {bounds}", read, bounds)


def decimal(low: float, high: float) -> Kind:
    """A decimal number from `low` to `high`."""

    def read(raw: str) -> float:
        if not re.fullmatch(r"-?[0-9]{0,9}(\.[0-9]{0,9})?", raw) or not re.search("[0-9]", raw):
            raise Wrong
        if not low <= float(raw) <= high:
            raise Wrong
        return float(raw)

    return Kind(f"a number, {low:g} to {high:g}", read, f"{low:g} to {high:g}")


def _truth(raw: str) -> bool:
    match raw.lower():
        case "true" | "yes" | "on" | "1":
            return True
        case "false" | "no" | "off" | "0":
            return False
        case _:
            raise Wrong


FLAG = Kind("true or false", _truth, "true or false")
# https://no-color.org: any value but the empty one.
PRESENCE = Kind("any value", lambda _raw: True)


def choice(*words: str, **synonyms: str) -> Kind:
    """One of `words`, in any case; `synonyms` maps what others call it."""

    def read(raw: str) -> str:
        word = synonyms.get(raw.lower(), raw.lower())
        if word not in words:
            raise Wrong
        return word

    listed = f"{', '.join(words[:-1])} or {words[-1]}"
    return Kind(listed, read, listed)


def words_of(*words: str) -> Kind:
    """A comma list of `words`, each once, in the order given."""

    def read(raw: str) -> tuple[str, ...]:
        listed = tuple(dict.fromkeys(w.strip().lower() for w in raw.split(",") if w.strip()))
        if not listed or not set(listed) <= set(words):
            raise Wrong
        return listed

    bounds = f"comma list of {' and '.join(filter(None, (', '.join(words[:-1]), words[-1])))}"
    return Kind(f"a {bounds}", read, bounds)


def _names(raw: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in raw.split(",") if name.strip())
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) for name in names):
        raise Wrong
    return names


NAMES = Kind("a comma list of variable names", _names, "comma list")


def text(limit: int) -> Kind:
    """Words of any script, at most `limit` characters."""

    def read(raw: str) -> str:
        if len(raw) > limit:
            raise Wrong
        return raw

    return Kind(f"a text of at most {limit} characters", read)


def _identifier(raw: str) -> str:
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,47}", raw):
        raise Wrong
    if raw.startswith("pg_") or raw == "information_schema":
        raise Wrong("the name belongs to Postgres")
    return raw


IDENTIFIER = Kind(
    "a schema name of lower-case letters, digits and _, at most 48 characters",
    _identifier,
    "lower-case letters, digits and _",
)


def _path(raw: str) -> Path:
    # An editor starts us in whatever project is open, so a relative path would wander.
    if not raw.startswith("~/") and not Path(raw).is_absolute():
        raise Wrong("it is a relative path")
    return Path(raw)


PATH = Kind("an absolute path, or one that begins with ~/", _path)


def zone(name: str) -> tzinfo:
    """The zone of an IANA name; UTC is there even without a time-zone database. May raise Wrong."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Wrong("no such zone in the system's time-zone database (package tzdata)") from None


ZONE = Kind("an IANA time zone such as Europe/Berlin", zone, "such as Europe/Berlin")
PASSWORD = Kind("a password", Secret, secret=True)


def _api_key(raw: str) -> Secret:
    # It becomes a header of a request, which takes nothing else.
    if not raw.isascii() or not raw.isprintable() or " " in raw.strip():
        raise Wrong
    return Secret(raw.strip())


API_KEY = Kind("a key of printable ASCII characters without spaces", _api_key, secret=True)


def _endpoint(raw: str) -> str:
    try:
        parts = urlsplit(raw)
        legal = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise Wrong from None
    if "@" in parts.netloc:
        raise Wrong("a key has a setting of its own and does not belong here")
    if not legal or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise Wrong
    return raw.rstrip("/")


ENDPOINT = Kind("an http or https URL without a question mark", _endpoint, "http or https URL")
