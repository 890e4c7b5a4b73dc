"""What the tool of this toolset answers. Fields that are None are left out of what is sent."""

from typing import Annotated, Any

from pydantic import Field

from hot.answers import NOTICE, Answer, Part


class Tag(Part):
    """A project tag."""

    name: str
    messages: Annotated[int, Field(description="Filed under this very name")]
    description: str | None = None
    alias_of: Annotated[str | None, Field(description="The tag it stands for")] = None
    aliases: Annotated[list[str] | None, Field(description="Tags that stand for it")] = None


class Suggested(Part):
    """What the daemon suggests: a new project, or that one tag stands for another."""

    suggestion_id: int
    kind: Annotated[str, Field(description="new, or alias: `tag` would stand for `target_tag`")]
    tag: str
    target_tag: str | None = None
    confidence: Annotated[float | None, Field(description="0 to 1, of an alias")] = None
    description: Annotated[str | None, Field(description="What an agent says of it")] = None
    reasons: Annotated[dict[str, Any], Field(description="Numbers and labels")]
    judged_by: Annotated[str, Field(description="rules, a model, or agent: one proposed it")]
    status: Annotated[str, Field(description="pending, confirmed or rejected")]


class TagsAnswer(Answer):
    """The registry, the suggestions, or what became of a change."""

    notice: str = NOTICE
    action: str
    count: Annotated[int | None, Field(description="How many there are")] = None
    tags: list[Tag] | None = None
    suggestions: list[Suggested] | None = None
    left_out: Annotated[int | None, Field(description="More than limit allowed")] = None
    tag: Annotated[str | None, Field(description="The tag that was changed, as it is spelled")] = (
        None
    )
    target_tag: str | None = None
    suggestion_id: int | None = None
    changed: Annotated[bool | None, Field(description="false: it was so before")] = None
    filing: Annotated[
        bool | None,
        Field(description="Messages that carry this very name and have no project follow soon"),
    ] = None
