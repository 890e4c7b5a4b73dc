"""What the tools of this toolset take: events, and operations that each have one shape."""

from datetime import datetime, tzinfo
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hot.toolsets.arguments import Count, FromJson, ItemId, ItemIds

# At the ends of what a time can be, its zone would lead out of it.
YEARS = range(2, 9999)


def _possible(value: datetime) -> datetime:
    if value.year not in YEARS:
        raise ValueError(f"should lie between the years {YEARS[0]} and {YEARS[-1]}")
    return value


Moment = Annotated[datetime, AfterValidator(_possible)]
Seen = Annotated[ItemId, Field(description="Its version as you last read it.")]
Cited = Annotated[ItemIds, Field(description="Ids of the messages this rests on.")]
Target = Annotated[ItemId, Field(description="The memory to change.")]
Tags = Annotated[list[str], FromJson]


class Arguments(BaseModel):
    """A part of the arguments; a name that is not known is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Event(Arguments):
    """What was said or seen."""

    role: Annotated[
        Literal["user", "assistant", "system", "tool"],
        Field(description='Who said it: "user", "assistant", "system" or "tool".'),
    ]
    content: Annotated[str, Field(description="The words as they were said, at most 16 MiB.")]
    external_id: Annotated[
        str | None,
        Field(
            description="Your own id of the event, at most 200 characters: recorded once, however "
            "often it is sent."
        ),
    ] = None
    occurred_at: Annotated[
        Moment | None, Field(description="When it was said, ISO 8601. Default: now.")
    ] = None


class SearchRequest(Arguments):
    """Which memories to find."""

    query: Annotated[
        str, Field(description="Words that must all be in the memory, at most 1000 characters.")
    ]
    subject: Annotated[
        str | None, Field(description="Only memories about exactly this. Default: any.")
    ] = None
    include_removed: Annotated[
        bool, Field(description="Also removed and superseded ones. Default false.")
    ] = False
    limit: Annotated[
        Count, Field(ge=1, le=100, description="Memories at most, 1 to 100. Default 20.")
    ] = 20


class Add(Arguments):
    """A new statement."""

    type: Literal["ADD"]
    subject: Annotated[str, Field(description="Whom or what it is about, at most 200 characters.")]
    content: Annotated[
        str, Field(description="One statement, at most 20000 characters, clear years later.")
    ]
    evidence_event_ids: Cited
    kind: Literal["fact", "preference", "decision", "promise", "milestone", "pattern", "note"] = (
        "note"
    )
    attribute: Annotated[str | None, Field(description="Which property of the subject.")] = None
    importance: Annotated[Count, Field(ge=1, le=10, description="1 to 10. Default 5.")] = 5
    valence: Annotated[
        float | None, Field(ge=-1, le=1, description="-1 bad to 1 good. Default: estimated.")
    ] = None
    intensity: Annotated[
        float | None, Field(ge=0, le=1, description="0 to 1. Default: estimated.")
    ] = None
    pinned: bool = False
    tags: Annotated[Tags, Field(description="At most 20.")] = []
    occurred_at: Annotated[Moment | None, Field(description="When it happened, ISO 8601.")] = None


class Reword(Arguments):
    """UPDATE: a better wording; SUPERSEDE: what holds now in place of what is outdated."""

    type: Literal["UPDATE", "SUPERSEDE"]
    memory_id: Target
    expected_version: Seen
    new_content: Annotated[str, Field(description="The whole new statement.")]
    evidence_event_ids: Cited


class Remove(Arguments):
    """It holds no longer, and nothing in its place; the history keeps it."""

    type: Literal["REMOVE"]
    memory_id: Target
    expected_version: Seen
    evidence_event_ids: Cited = []


class Mark(Arguments):
    """PIN and UNPIN; RESOLVE: a promise was kept, a question settled."""

    type: Literal["PIN", "UNPIN", "RESOLVE"]
    memory_id: Target
    expected_version: Seen


class Retag(Arguments):
    """Other tags in place of all it has."""

    type: Literal["RETAG"]
    memory_id: Target
    expected_version: Seen
    tags: Tags


Operation = Annotated[Add | Reword | Remove | Mark | Retag, Field(discriminator="type")]


class ApplyRequest(Arguments):
    """One patch: all of it, or nothing."""

    operations: Annotated[
        list[Operation], FromJson, Field(description="1 to 50 operations, applied in order.")
    ]
    reason: Annotated[str, Field(description="Why, in a sentence; at most 1000 characters.")]
    idempotency_key: Annotated[
        str | None,
        Field(
            description="A key of your own, at most 200 characters: the same request sent again "
            "under it is not applied again."
        ),
    ] = None


def aware(moment: datetime | None, zone: tzinfo) -> datetime | None:
    """A time whose zone is known: the one it names, else that of the settings."""
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=zone)
