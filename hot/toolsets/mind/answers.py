"""What the tools of this toolset answer. Fields that are None are left out of what is sent."""

from typing import Annotated

from pydantic import Field

from hot.answers import NOTICE, Answer, Here, Item, Part


class WakeAnswer(Answer):
    """What holds whatever is at hand."""

    notice: str = NOTICE
    here: Here
    counts: Annotated[dict[str, int], Field(description="Items of each sort")]
    brief: Annotated[str, Field(description="Markdown, between markers that fence it as data")]


class ViaPart(Part):
    """The edge along which an item came."""

    id: Annotated[int, Field(description="The result it is linked with")]
    kind: str
    weight: float


class Recalled(Item):
    """One item of a recall."""

    via: Annotated[
        ViaPart | None, Field(description="It did not match itself; it is linked with one that did")
    ] = None


class RecallAnswer(Answer):
    """What came to mind."""

    notice: str = NOTICE
    used: Annotated[str, Field(description="hybrid, keyword, recency or none")]
    degraded: Annotated[str | None, Field(description="Why a part of the search was off")] = None
    mood: Annotated[float | None, Field(description="The valence it leans towards")] = None
    mood_derived: Annotated[
        bool | None, Field(description="Nobody told the mood; it is that of the last messages here")
    ] = None
    count: Annotated[int, Field(description="Number of results")]
    left_out: Annotated[int | None, Field(description="Matches beyond max_tokens")] = None
    left_out_ids: list[int] | None = None
    note: str | None = None
    results: list[Recalled]


class RememberAnswer(Answer):
    """What became of a statement."""

    memory_id: int
    version: int
    outcome: Annotated[str, Field(description="add, support or supersede")]
    patch_id: int
    message_id: Annotated[int | None, Field(description="The evidence stored for it")] = None
    pinned: bool
    embedded: Annotated[str, Field(description="ok, or pending: follows soon")]
    diff: Annotated[str, Field(description="Unified diff of what is believed")]


class ReviseAnswer(Answer):
    """What became of a memory."""

    action: str
    id: int
    version: int
    patch_id: int | None = None
    message_id: Annotated[int | None, Field(description="The evidence stored for it")] = None
    status: Annotated[str, Field(description="active, archived or removed")]
    pinned: bool
    resolved_at: str | None = None
    tags: list[str] | None = None
    note: str | None = None
    diff: Annotated[str, Field(description="Unified diff of what is believed")]


class EdgePart(Part):
    """A typed, weighted edge."""

    from_id: int
    to_id: int
    kind: str
    weight: float


class LinkAnswer(Answer):
    """The edge that stands now."""

    edge: EdgePart
    was: Annotated[float | None, Field(description="Its weight before, if it stood")] = None


class UnlinkAnswer(Answer):
    """The edges that were taken away."""

    from_id: int
    to_id: int
    removed: Annotated[list[str], Field(description="Kinds of the edges that stood")]
    note: str | None = None


class Node(Item):
    """An item of a graph."""

    distance: Annotated[int, Field(description="Steps from the item asked for")]


class GraphAnswer(Answer):
    """What lies around an item."""

    notice: str = NOTICE
    count: Annotated[int, Field(description="Items beside the one asked for")]
    more: Annotated[bool | None, Field(description="There is more than limit allowed")] = None
    items: list[Node]
    edges: list[EdgePart]


class StatusAnswer(Answer):
    """How much there is, and how it is doing."""

    counts: dict[str, int]
    kinds: Annotated[dict[str, int], Field(description="Active memories of each kind")]
    recomputed_at: Annotated[
        str | None, Field(description="When all activations were last computed")
    ] = None
    health: Annotated[list[str], Field(description="What does not work as it should")]


class ForgetAnswer(Answer):
    """What recomputing changed."""

    recomputed_at: Annotated[str, Field(description="As of when")]
    items: Annotated[int, Field(description="Items looked at")]
    changed: Annotated[int, Field(description="Activations that differ by more than 1 %")]
    faded: Annotated[int, Field(description="Memories that fade now and did not before")]
    fading: Annotated[int, Field(description="All memories that fade")]


class Memory(Part):
    """A memory in a list."""

    id: int
    at: str
    kind: str
    subject: str
    text: str
    truncated: bool | None = None
    trust: str
    version: int
    importance: int
    pinned: bool | None = None
    tags: list[str] | None = None


class Pair(Part):
    """Two memories that lie near each other."""

    similarity: Annotated[float, Field(description="Cosine of their vectors")]
    same: Annotated[bool, Field(description="Their words say the same")]
    older: Memory
    newer: Memory


class DuplicatesAnswer(Answer):
    """Pairs, the nearest first."""

    notice: str = NOTICE
    count: int
    looked_at: Annotated[int, Field(description="Memories compared with all older ones")]
    before_id: Annotated[int | None, Field(description="Pass it to go on with older ones")] = None
    left_out: Annotated[int | None, Field(description="More than limit allowed")] = None
    note: str | None = None
    pairs: list[Pair]


class Fading(Memory):
    """A memory and how present it is."""

    activation: float
    fades: Annotated[bool, Field(description="Below what counts as faded")]
    touched_at: Annotated[str | None, Field(description="About when it was last used or shown")] = (
        None
    )


class FadingAnswer(Answer):
    """Memories, the least present first."""

    notice: str = NOTICE
    count: int
    memories: list[Fading]
