"""Arguments that several tools of this toolset take."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from hot.toolsets.arguments import FromJson


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number, not true or false")
    return value


def _in_words(range_in_words: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        try:
            float(_no_truth_value(value))
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"should be a number {range_in_words}") from error
        return value

    return BeforeValidator(check)


VALENCE_RANGE = "from -1 (bad) to 1 (good)"
INTENSITY_RANGE = "from 0 (calm) to 1 (strong)"


def affect_problems(
    valence: float | None, intensity: float | None, *, needed: bool = False
) -> list[str]:
    """What is wrong with an affect, in words; NaN is in no range."""
    problems = []
    for name, value, lowest, said in (
        ("valence", valence, -1, VALENCE_RANGE),
        ("intensity", intensity, 0, INTENSITY_RANGE),
    ):
        if value is None:
            problems += [f"{name} is needed: a number {said}"] if needed else []
        elif not lowest <= value <= 1:
            problems.append(f"{name} goes {said}, and {value:g} is no number between them")
    return problems


MOOD_RANGE = "from -1 (low) to 1 (good), or words for it"


def _mood(value: Any) -> Any:
    # A union would be told by its parts, which are no names of ours.
    try:
        if isinstance(value, str | None):
            return value
        return float(_no_truth_value(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"should be a number {MOOD_RANGE}") from error


# Bounds are checked by the tool, so that what is out of them is refused in words.
Number = Annotated[float, BeforeValidator(_no_truth_value)]
Mood = Annotated[float | str | None, BeforeValidator(_mood)]
Valence = Annotated[float, _in_words(VALENCE_RANGE)]
Intensity = Annotated[float, _in_words(INTENSITY_RANGE)]
Words = Annotated[list[str], FromJson]

MemoryKind = Literal["fact", "preference", "decision", "promise", "milestone", "pattern", "note"]
# One list, since what is wrong with a union is told for each of its parts.
ItemKind = Literal[MemoryKind, "message", "summary"]
Link = Literal["related", "supports", "contradicts", "causes", "part_of", "follows"]
LINKS = "related, supports, contradicts, causes, part_of or follows"
