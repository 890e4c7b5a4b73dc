"""revise: resolve, pin, supersede, retag or delete a memory."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.text import is_blank
from hot.app import App
from hot.hints import CHANGES
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import ItemId
from hot.toolsets.conflicts import shown_refusal
from hot.toolsets.mind.answers import ReviseAnswer
from hot.toolsets.mind.arguments import Words
from hot.toolsets.mind.present import render_revise

if TYPE_CHECKING:
    from agents_memory.domain.memories import MemoryView
    from agents_memory.domain.patches import OnMemory
    from agents_memory.services.knowledge import Remembered

TOOL = "revise"

DESCRIPTION = """\
Change a memory: resolve a promise, pin or unpin, supersede what is outdated, retag, or delete.

Call it when a promise was kept or dropped, when a statement holds no longer, or when the user \
asks to keep something in view or to forget it. recall shows the id.

Examples: {"id": 17, "action": "resolve"}; {"id": 17, "action": "supersede", "content": "Mara \
lives in Lisbon."}; {"id": 17, "action": "retag", "tags": ["home"]}.

Returns id, version, patch_id, the state after it and the `diff`; `note` and no patch_id when it \
was so already. delete archives: the memory is recalled no more; delete once more and it is \
removed. Words and evidence stay in the history, from where the owner can bring it back. \
VERSION_CONFLICT: somebody changed it since you saw it; the error holds its state."""

Action = Literal["resolve", "pin", "unpin", "supersede", "retag", "delete"]
SO_ALREADY = {
    "resolve": "it was resolved already; nothing was written",
    "pin": "it was pinned already; nothing was written",
    "unpin": "it was not pinned; nothing was written",
    "supersede": "it said so already; nothing was written",
    "retag": "it had these tags already; nothing was written",
}
REMOVED = (
    "it is removed: recalled no more, and kept in the history alone. Nobody erases that but its "
    "owner, with `mcp-agents-memory redact --memory ID`"
)
TAKES = {"supersede": "content", "retag": "tags"}


def tool(app: App) -> Tool:
    """The tool over `Knowledge.revise`."""

    async def revise(
        context: Context,
        id: Annotated[ItemId, Field(description="Which memory.")],  # noqa: A002 (its name in Patina)
        action: Annotated[
            Action, Field(description="resolve, pin, unpin, supersede, retag or delete.")
        ],
        content: Annotated[
            str | None,
            Field(
                description="For supersede: what holds now, at most 20000 characters. Default none."
            ),
        ] = None,
        tags: Annotated[
            Words | None,
            Field(description="For retag: all its tags from now on, at most 20. Default: none."),
        ] = None,
    ) -> ReviseAnswer | Refusal:
        wrong = _wrong(action, content, tags)
        if wrong is not None:
            return wrong
        # With the service itself, which a start does without.
        from agents_memory.domain.messages import Role
        from agents_memory.services.knowledge import Unchanged

        services = await app.services()
        knowledge, seen = services.knowledge, app.session.shown.get(id)
        done: Remembered | Unchanged | Refusal
        if action == "delete":
            done = await knowledge.delete_memory(services.user_id, id, seen, tool=TOOL)
        else:
            said = app.session.draft(Role.ASSISTANT, content or "", client_name(context))
            operation = _operation(id, action, content or "", tags or [], seen)
            done = await knowledge.revise(said, services.user_id, operation, tool=TOOL)
        if isinstance(done, Refusal):
            if action == "delete" and done.details.get("status") == "removed":
                done = replace(done, message=REMOVED)
            return shown_refusal(app.session, done)
        if isinstance(done, Unchanged):
            return _answer(app, action, done.memory, note=SO_ALREADY[action])
        current = await knowledge.find(id, services.user_id)
        assert current is not None, "it was just changed"
        return _answer(app, action, current, done)

    return make_tool(
        revise,
        answer=ReviseAnswer,
        render=render_revise,
        title="Revise a memory",
        description=DESCRIPTION,
        annotations=CHANGES,
    )


def _answer(
    app: App,
    action: Action,
    current: "MemoryView",
    done: "Remembered | None" = None,
    *,
    note: str | None = None,
) -> ReviseAnswer:
    version = current.version if done is None else done.applied.changes[0].version
    app.session.show([(current.id, version)])
    resolved = current.resolved_at
    return ReviseAnswer(
        action=action,
        id=current.id,
        version=version,
        patch_id=None if done is None else done.applied.patch_id,
        message_id=None if done is None else done.message_id,
        status=current.status,
        pinned=current.pinned,
        resolved_at=None if resolved is None else app.moment(resolved),
        tags=list(current.tags) or None,
        note=note,
        diff="" if done is None else escape(done.applied.diff),
    )


def _wrong(action: Action, content: str | None, tags: list[str] | None) -> Refusal | None:
    given = {"content": content, "tags": tags}
    needed = TAKES.get(action)
    extra = [name for name, value in given.items() if value is not None and name != needed]
    if extra:
        return Refusal(
            Code.INVALID_INPUT, f"{action} takes no {' and no '.join(extra)}; leave it out"
        )
    if needed is not None and given[needed] is None:
        return Refusal(Code.INVALID_INPUT, f"to {action}, pass {needed}")
    if content is not None and is_blank(content):
        return Refusal(Code.INVALID_INPUT, "content is empty; say what holds now")
    return None


def _operation(
    memory_id: int, action: Action, content: str, tags: list[str], version: int | None
) -> "OnMemory":
    from agents_memory.domain.patches import Pin, Resolve, Retag, Supersede

    match action:
        case "resolve":
            return Resolve(memory_id, version)
        case "pin" | "unpin":
            return Pin(memory_id, action == "pin", version)
        case "retag":
            return Retag(memory_id, tuple(tags), version)
        case _:
            return Supersede(memory_id, content, version)
