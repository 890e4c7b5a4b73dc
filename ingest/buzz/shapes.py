"""What Buzz's program answers, taken apart and checked; more fields than these are welcome."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_memory.domain.brief import one_line
from ingest.buzz.cli import unexpected

CHAT = 9
EDIT = 40003
DELETE = 5
MODERATE = 9005
CHANGES = (EDIT, DELETE, MODERATE)
UNSUPPORTED = (40002, 40008, 45001, 45003)

_KEY = re.compile(r"[0-9a-f]{64}")
_ROOM_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
# Seconds of the year 5138.
_LATEST = 10**11
_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class Room:
    """A room that the identity is a member of."""

    id: str
    name: str
    private: bool

    @property
    def venue(self) -> str:
        """Where its messages were said: `buzz:<room>`, or `buzz:dm` for a private one named DM."""
        return "buzz:dm" if self.private and self.name.casefold() == "dm" else f"buzz:{self.name}"


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `at` is in seconds since 1970, `targets` are the events it speaks of, in order."""

    id: str
    author: str
    kind: int
    content: str
    at: int
    targets: tuple[str, ...]

    @property
    def order(self) -> tuple[int, str]:
        """By time, ties by id."""
        return self.at, self.id


def rooms_of(name: str, answer: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The names of rooms by their ids. Raises MemoryFault."""
    rooms: dict[str, str] = {}
    for one in answer:
        room, title = one.get("channel_id"), one.get("name")
        if not isinstance(room, str) or not _ROOM_ID.fullmatch(room) or room in rooms:
            raise unexpected(name, "a room has no id of its own")
        if not isinstance(title, str):
            raise unexpected(name, "a room has no name")
        rooms[room] = one_line(title, _NAME_CHARS) or room
    return rooms


def events_of(
    name: str, answer: Sequence[Mapping[str, Any]], kinds: Collection[int]
) -> list[Event]:
    """Events of these kinds. Raises MemoryFault."""
    return [_event(name, one, kinds) for one in answer]


def names_of(
    name: str, answer: Sequence[Mapping[str, Any]], asked: Collection[str] | None
) -> dict[str, str]:
    """How people call themselves, by key; `asked` None: one's own profile alone.

    Those without a name are left out. Raises MemoryFault, also for a profile nobody asked for.
    """
    names: dict[str, str] = {}
    for one in answer:
        key = one.get("pubkey")
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise unexpected(name, "a profile has no key")
        if key in names or (asked is not None and key not in asked):
            raise unexpected(name, "it holds a profile that was not asked for")
        names[key] = _called(one)
    if asked is None and len(names) != 1:
        raise unexpected(name, "it is not your own profile")
    return names


def short(key: str) -> str:
    """What stands for somebody without a name."""
    return key[:8]


def _called(profile: Mapping[str, Any]) -> str:
    for field in ("display_name", "name"):
        value = profile.get(field)
        if isinstance(value, str):
            # A bracket would end the name before the text.
            value = one_line(re.sub(r"[\[\]]", "", value), _NAME_CHARS)
            if value:
                return value
    return short(str(profile["pubkey"]))


def _event(name: str, one: Mapping[str, Any], kinds: Collection[int]) -> Event:
    key, author, kind = one.get("id"), one.get("pubkey"), one.get("kind")
    content, at, tags = one.get("content"), one.get("created_at"), one.get("tags")
    for value in (key, author):
        if not isinstance(value, str) or not _KEY.fullmatch(value):
            raise unexpected(name, "an event has no id or no author")
    if type(kind) is not int or kind not in kinds:
        raise unexpected(name, "an event is of a kind that was not asked for")
    if not isinstance(content, str) or type(at) is not int or not 0 <= at < _LATEST:
        raise unexpected(name, "an event has no text or no time")
    if not isinstance(tags, list) or not all(isinstance(tag, list) for tag in tags):
        raise unexpected(name, "an event has no tags")
    # What a tag holds is for its writer to choose, and no reason to stop.
    targets = tuple(
        tag[1]
        for tag in tags
        if len(tag) > 1 and tag[0] == "e" and isinstance(tag[1], str) and _KEY.fullmatch(tag[1])
    )
    return Event(str(key), str(author), kind, content, at, targets)
