"""Arguments that several tools of this toolset take."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from hot.toolsets.arguments import FromJson


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number, not true or false")
    return value


# Bounds are checked by the tool, so that what is out of them is refused in words.
Number = Annotated[float, BeforeValidator(_no_truth_value)]
Words = Annotated[list[str], FromJson]

MemoryKind = Literal["fact", "preference", "decision", "promise", "milestone", "pattern", "note"]
ItemKind = MemoryKind | Literal["message", "summary"]
Link = Literal["related", "supports", "contradicts", "causes", "part_of", "follows"]
LINKS = "related, supports, contradicts, causes, part_of or follows"
