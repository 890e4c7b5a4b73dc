"""A text file with front matter: `key: value` lines between two lines of `---` at its top."""

import re
from dataclasses import dataclass, field

from agents_memory.domain.errors import Code, Refusal

_FENCE = "---"
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?\Z")
# A comment, an item of a list, or what goes on with the line above: of keys that are not ours.
_GOES_ON = re.compile(r"\s*#|\s+\S|-\s")


@dataclass(frozen=True, slots=True)
class Page:
    """What a file says: its text, and the front matter as text by key."""

    content: str
    keys: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def read_page(name: str, text: str) -> Page | Refusal:
    """The page in a file, whose `name` is for messages; refuses broken front matter.

    A text that does not begin with a line of `---` has none. Details: `file`, and `line` from 1.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return Page("\n".join(lines).strip())
    keys: dict[str, str] = {}
    places: dict[str, int] = {}
    for number, raw in enumerate(lines[1:], 2):
        line = raw.rstrip()
        if line == _FENCE:
            return Page("\n".join(lines[number:]).strip(), keys, places)
        found = _KEY.match(line)
        if found is not None:
            key = found["key"]
            if key in keys:
                return broken(name, number, f"{key} stands there twice; keep one of them")
            keys[key] = (found["value"] or "").strip().strip("\"'")
            places[key] = number
        elif line and not (_GOES_ON.match(line) and (keys or line.lstrip().startswith("#"))):
            return broken(name, number, "write `key: value`, or end the front matter with ---")
    return broken(name, 1, "the front matter that begins here has no end; add a line of ---")


def broken(name: str, line: int, why: str) -> Refusal:
    """The refusal of a file, at one of its lines."""
    return Refusal(
        Code.INVALID_INPUT,
        f"{name}, line {line}: {why}; nothing was written",
        {"file": name, "line": line},
    )
