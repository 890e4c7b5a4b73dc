"""What the tools of this toolset answer. Fields that are None are left out of what is sent."""

from typing import Annotated

from pydantic import Field

from hot.answers import NOTICE, Answer, Part

Cut = Annotated[bool | None, Field(description="Only the beginning is shown")]
Operation = Annotated[str, Field(description="ADD, UPDATE, SUPERSEDE, REMOVE, RESTORE…")]
Cited = Annotated[list[int], Field(description="Ids of the messages that were cited")]
LeftOut = Annotated[
    int | None, Field(description="Later versions there was no room for; see after_version")
]


class RecordedAnswer(Answer):
    """An event that is stored, and can be cited."""

    event_id: int
    role: str
    created_at: str
    duplicate: Annotated[bool | None, Field(description="It was there before, the very same")] = (
        None
    )
    redactions: Annotated[
        dict[str, int] | None, Field(description="Secrets taken out before storing, by sort")
    ] = None


class Memory(Part):
    """A memory as it is now."""

    memory_id: int
    version: int
    status: Annotated[str, Field(description="active, superseded or removed")]
    kind: str
    subject: str
    content: str
    content_cut: Cut = None
    importance: int
    trust: Annotated[str, Field(description="owner, agent, other or tool: whose word it is")]
    pinned: bool
    tags: list[str]
    project: str | None = None
    platform: str | None = None
    at: Annotated[str, Field(description="When it happened or was said, ISO 8601 with zone")]
    resolved_at: str | None = None
    superseded_by: int | None = None


class Version(Part):
    """One version of a memory, and what made it."""

    version: int
    operation: Operation
    patch_id: int
    evidence_event_ids: Cited
    actor: str
    tool: str
    reason: str
    at: Annotated[str, Field(description="When it was made")]
    status: str
    ended_by: Annotated[
        str | None, Field(description="Operation of the next version; none for the current one")
    ] = None
    diff: str
    diff_cut: Cut = None


class FoundAnswer(Answer):
    """Memories that hold every word, the best first."""

    notice: str = NOTICE
    count: int
    memories: list[Memory]


class HistoryAnswer(Answer):
    """The versions of a memory, the oldest first."""

    notice: str = NOTICE
    memory_id: int
    count: Annotated[int, Field(description="How many versions there are")]
    versions: list[Version]
    left_out: LeftOut = None


class ReadAnswer(Answer):
    """One memory, with its versions if they were asked for."""

    notice: str = NOTICE
    memory: Memory
    versions: list[Version] | None = None
    left_out: LeftOut = None


class Done(Part):
    """What became of one memory."""

    type: str
    memory_id: int
    version: int


class AppliedAnswer(Answer):
    """A patch that is committed."""

    patch_id: int
    memory_id: Annotated[int | None, Field(description="Of the only operation")] = None
    version: Annotated[int | None, Field(description="Of the only operation")] = None
    operations: Annotated[list[Done], Field(description="In the order of the request")]
    replayed: Annotated[
        bool | None, Field(description="It was applied before, under this idempotency_key")
    ] = None
    diff: Annotated[str, Field(description="Unified diff of what is believed")]
    diff_cut: Cut = None


class PatchOperation(Part):
    """What a patch did to one memory or profile."""

    operation: Operation
    memory_id: int | None = None
    profile_id: int | None = None
    from_version: int | None = None
    to_version: int
    evidence_event_ids: Cited


class PatchAnswer(Answer):
    """A committed patch."""

    notice: str = NOTICE
    patch_id: int
    actor: str
    tool: str
    reason: str
    at: str
    operations: list[PatchOperation]
    rollback_of: Annotated[int | None, Field(description="The patch that this took back")] = None
    rolled_back_by: Annotated[int | None, Field(description="The patch that took it back")] = None
    diff: str
    diff_cut: Cut = None
