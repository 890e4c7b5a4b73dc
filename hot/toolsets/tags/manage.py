"""manage_project_tags: the registry of projects, as the user would keep it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from hot.app import App
from hot.hints import CHANGES
from hot.toolkit import make_tool
from hot.toolsets.arguments import Count, ItemId
from hot.toolsets.tags.answers import Suggested, Tag, TagsAnswer
from hot.toolsets.tags.present import render_tags

if TYPE_CHECKING:
    from agents_memory.services.project_tags import ProjectTags, Registered
    from agents_memory.storage.registry import Entry
    from agents_memory.storage.suggestions import Suggestion

MAX_LIMIT = 100

DESCRIPTION = """\
Keep the registry of projects that messages are filed under: list it, add or describe a tag, let \
one tag stand for another, decide what the daemon suggests.

Call it when the user names a new project, says that two names mean one, or asks about tags. \
Confirm, reject, alias and unalias only as the user says: you act for them, a rejection is final, \
and who changed what is kept. An alias works wherever a project is asked for and can be taken \
back; messages keep the tag they have.

Examples: {"action": "list"}; {"action": "alias", "tag": "harbour", "target_tag": "harbor"}; \
{"action": "confirm", "suggestion_id": 17}.

Returns `tags` (name, messages, aliases, description), or `suggestions` (suggestion_id, kind, \
tag, target_tag, confidence, reasons), or the tag that was changed and whether it was."""

Action = Literal["list", "add", "describe", "alias", "unalias", "suggestions", "confirm", "reject"]
# What each action needs, and may be given besides.
NEEDS: dict[str, tuple[str, ...]] = {
    "list": (),
    "add": ("tag",),
    "describe": ("tag", "description"),
    "alias": ("tag", "target_tag"),
    "unalias": ("tag",),
    "suggestions": (),
    "confirm": ("suggestion_id",),
    "reject": ("suggestion_id",),
}
TAKES: dict[str, tuple[str, ...]] = {"add": ("description",), "suggestions": ("status",)}


def tool(app: App) -> Tool:
    """The tool over `ProjectTags`."""

    async def manage_project_tags(
        context: Context,
        action: Annotated[
            Action,
            Field(
                description="list, add, describe, alias, unalias, suggestions, confirm or reject."
            ),
        ],
        tag: Annotated[
            str | None, Field(description="The project: for add, describe, alias and unalias.")
        ] = None,
        target_tag: Annotated[
            str | None, Field(description="For alias: the project that `tag` stands for.")
        ] = None,
        description: Annotated[
            str | None,
            Field(
                description="For add and describe: what it is about, at most 200 characters; an "
                "empty text takes it back."
            ),
        ] = None,
        suggestion_id: Annotated[
            ItemId | None, Field(description="For confirm and reject: which suggestion.")
        ] = None,
        status: Annotated[
            Literal["pending", "confirmed", "rejected"] | None,
            Field(description="For suggestions: pending, confirmed or rejected. Default pending."),
        ] = None,
        limit: Annotated[
            Count,
            Field(ge=1, le=MAX_LIMIT, description="Entries of a list, 1 to 100. Default 20."),
        ] = 20,
    ) -> TagsAnswer | Refusal:
        given = {
            "tag": tag,
            "target_tag": target_tag,
            "description": description,
            "suggestion_id": suggestion_id,
            "status": status,
        }
        if (wrong := _wrong(action, given)) is not None:
            return wrong
        tags = (await app.services()).project_tags
        if action == "list":
            return _listed(await tags.list(), limit)
        if action == "suggestions":
            # With the storage itself, which a start does without.
            from agents_memory.storage.suggestions import Status

            found = await tags.suggestions(Status(status or Status.PENDING), limit + 1)
            return _suggested(found, limit)
        done = await _change(
            tags, action, tag or "", target_tag or "", description or "", suggestion_id or 0
        )
        return done if isinstance(done, Refusal) else _done(done)

    return make_tool(
        manage_project_tags,
        answer=TagsAnswer,
        render=render_tags,
        title="Keep the registry of projects",
        description=DESCRIPTION,
        annotations=CHANGES,
    )


def _wrong(action: str, given: Mapping[str, object]) -> Refusal | None:
    missing = [name for name in NEEDS[action] if given[name] is None]
    taken = (*NEEDS[action], *TAKES.get(action, ()))
    extra = [name for name, value in given.items() if value is not None and name not in taken]
    if missing:
        return Refusal(Code.INVALID_INPUT, f"to {action}, pass {' and '.join(missing)}")
    if extra:
        return Refusal(
            Code.INVALID_INPUT, f"{action} takes no {' and no '.join(extra)}; leave it out"
        )
    return None


async def _change(
    tags: "ProjectTags", action: Action, tag: str, target: str, description: str, suggestion: int
) -> "Registered | Refusal":
    match action:
        case "add":
            return await tags.add(tag, description)
        case "describe":
            return await tags.describe(tag, description)
        case "alias":
            return await tags.alias(tag, target)
        case "unalias":
            return await tags.unalias(tag)
        case "confirm":
            return await tags.confirm(suggestion)
        case _:
            return await tags.reject(suggestion)


def _listed(entries: "Sequence[Entry]", limit: int) -> TagsAnswer:
    aliases: dict[str, list[str]] = {}
    for entry in entries:
        if entry.alias_of is not None:
            aliases.setdefault(entry.alias_of, []).append(entry.name)
    shown = [
        Tag(
            name=entry.name,
            messages=entry.messages,
            description=entry.description or None,
            alias_of=entry.alias_of,
            aliases=aliases.get(entry.name),
        )
        for entry in entries[:limit]
    ]
    left_out = len(entries) - len(shown)
    return TagsAnswer(action="list", count=len(shown), tags=shown, left_out=left_out or None)


def _suggested(found: "Sequence[Suggestion]", limit: int) -> TagsAnswer:
    shown = [
        Suggested(
            suggestion_id=one.id,
            kind=one.kind,
            tag=one.name,
            target_tag=one.target,
            description=escape(one.description) or None,
            confidence=None if one.confidence is None else round(one.confidence, 3),
            reasons=one.reasons,
            judged_by=one.judged_by,
            status=one.status,
        )
        for one in found[:limit]
    ]
    left_out = len(found) - len(shown)
    return TagsAnswer(
        action="suggestions", count=len(shown), suggestions=shown, left_out=left_out or None
    )


def _done(done: "Registered") -> TagsAnswer:
    return TagsAnswer(
        action=done.action,
        tag=done.tag,
        target_tag=done.target,
        suggestion_id=done.suggestion,
        changed=done.changed,
        filing=done.filing or None,
    )
