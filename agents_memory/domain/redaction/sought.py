"""Patterns that are sought fast: names in a text, and alternatives by their first letters."""

import re
from collections.abc import Iterator


def by_letter(alternatives: str, *, not_behind: str = "") -> str:
    """A pattern's alternatives, those with one first letter together, to be tried with it alone.

    Their order is kept only among those; a letter that `?` or `*` follows is no first one. None
    matches behind a character of the class `not_behind`: a search skips fast to the first letters,
    but not if a look behind precedes them.
    """
    behind = f"(?<![{not_behind}]%s)" if not_behind else "%.0s"
    return "|".join(
        f"{letter}{behind % letter}(?:{'|'.join(one.removeprefix(letter) for one in ones)})"
        for letter, ones in _grouped(alternatives).items()
    )


class Names:
    """Finds alternatives as the pattern of all would, but seeks only what begins like one.

    Each begins with letters that are in every match. Names that begin in another one are skipped.
    """

    def __init__(self, alternatives: str, after: str = "") -> None:
        self._groups = tuple(
            (
                _shortest(set(map(_beginning, ones))),
                re.compile(f"({letter}(?:{'|'.join(one[1:] for one in ones)})){after}"),
            )
            for letter, ones in _grouped(alternatives).items()
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in their order; group 1 is the name."""
        found = [
            match
            for beginnings, pattern in self._groups
            if any(map(text.__contains__, beginnings))
            for match in pattern.finditer(text)
        ]
        done = 0
        for match in sorted(found, key=re.Match.start):
            if match.start() >= done:
                done = match.end()
                yield match


def _beginning(one: str) -> str:
    letters = re.match(r"[^\W_]+(?![?*{])", one)
    assert letters, one
    return letters[0]


def _shortest(beginnings: set[str]) -> tuple[str, ...]:
    return tuple(one for one in beginnings if not any(other in one for other in beginnings - {one}))


def _grouped(alternatives: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for one in _parted(alternatives):
        begins = one[0] if one[0].isalnum() and one[1:2] not in ("?", "*", "{") else ""
        groups.setdefault(begins, []).append(one)
    return groups


def _parted(alternatives: str) -> list[str]:
    """One by one; those in groups stay in them."""
    parts, depth = [""], 0
    for sign in re.findall(r"\\?.", alternatives):
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
