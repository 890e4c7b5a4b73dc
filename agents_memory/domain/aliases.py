"""Which tag may stand for which other: never itself, and never in a circle."""

from collections.abc import Mapping
from enum import StrEnum

# How far aliases of aliases are followed when a name is resolved (`resolve_projects`).
MAX_DEPTH = 15


class Problem(StrEnum):
    """Why a tag cannot stand for another."""

    SELF = "self"
    CYCLE = "cycle"
    TOO_DEEP = "too_deep"


def alias_problem(aliases: Mapping[int, int], tag: int, target: int) -> Problem | None:
    """What is wrong with `tag` standing for `target`; None when nothing is.

    `aliases` maps each tag that is an alias to what it stands for.
    """
    if tag == target:
        return Problem.SELF
    up = _chain(aliases, target)
    if tag in up:
        return Problem.CYCLE
    below = max((len(c) for one in aliases if tag in (c := _chain(aliases, one))), default=1)
    return Problem.TOO_DEEP if len(up) + below > MAX_DEPTH else None


def _chain(aliases: Mapping[int, int], tag: int) -> list[int]:
    chain = [tag]
    while (above := aliases.get(chain[-1])) is not None and above not in chain:
        chain.append(above)
    return chain
