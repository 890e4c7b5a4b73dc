"""manage_knowledge: what a person asks to remember, correct or forget."""

from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.memories import Kind
from agents_memory.domain.messages import Role
from agents_memory.domain.text import is_blank
from hot.answers import KnowledgeAnswer
from hot.app import App
from hot.hints import CHANGES
from hot.present import render_knowledge
from hot.services import Services
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import (
    AgentModel,
    AgentPlatform,
    ItemId,
    Subagent,
    SubagentModel,
    SubagentRole,
)
from hot.toolsets.conflicts import shown_refusal

if TYPE_CHECKING:
    from agents_memory.services.knowledge import Remembered

DESCRIPTION = """\
Remember, correct or forget a lasting statement, or keep the page about the user's current work.

Call it when the user says to remember or forget something, when a decision or promise is made, \
when a preference shows, or when a remembered statement turns out wrong. One statement a call, in \
a full sentence that makes sense years later: names and dates, no "it" or "tomorrow".

target "memory": add (content; kind and subject help), update (memory_id and the whole new \
content), remove (memory_id; it and the words told for it are recalled no more). target \
"sub_profile", the page of current work in every brief: add (one line), update (replaces the \
page), remove (the line in content, or without content the page).

Examples: {"action": "add", "target": "memory", "content": "Mara prefers pytest to unittest.", \
"kind": "preference", "subject": "Mara"}; {"action": "update", "target": "memory", "memory_id": \
17, "content": "…"}; {"action": "remove", "target": "memory", "memory_id": 17}.

Returns memory_id, version, patch_id and the `diff` of what is believed; message_id is the \
evidence stored with it. Added memories are pinned and tagged. `embedded` pending: found by its \
words now, by meaning soon. `outcome` of add: add; support when a memory said the same already and \
now rests on these words too; supersede when it was about the same attribute and now says this. \
VERSION_CONFLICT: somebody changed it since you saw it; the error holds the current state: decide \
again, then repeat the call."""


def tool(app: App) -> Tool:
    """The tool over `Knowledge`."""

    async def manage_knowledge(
        context: Context,
        action: Annotated[
            Literal["add", "update", "remove"], Field(description='"add", "update" or "remove".')
        ],
        target: Annotated[
            Literal["memory", "sub_profile"], Field(description='"memory" or "sub_profile".')
        ],
        content: Annotated[
            str | None,
            Field(
                description="The statement, or the line or page of the profile; at most 20000 "
                "characters. Needed except to remove; a profile line to remove only that."
            ),
        ] = None,
        memory_id: Annotated[
            ItemId | None, Field(description="Which memory to update or remove.")
        ] = None,
        agent_platform: AgentPlatform = None,
        agent_model: AgentModel = None,
        subagent: Subagent = False,
        subagent_model: SubagentModel = None,
        subagent_role: SubagentRole = None,
        kind: Annotated[
            Literal["fact", "preference", "decision", "promise", "milestone", "pattern", "note"]
            | None,
            Field(
                description="Of a memory to add: fact, preference, decision, promise, milestone, "
                "pattern or note. Default note."
            ),
        ] = None,
        subject: Annotated[
            str | None,
            Field(description='Of a memory to add: whom or what it is about. Default "user".'),
        ] = None,
        attribute: Annotated[
            str | None,
            Field(
                description="Of a memory to add: what of the subject it states, if there is one "
                'value at a time ("employer", "deploy day"); replaces the older. Default nothing.'
            ),
        ] = None,
    ) -> KnowledgeAnswer | Refusal:
        wrong = _missing(action, target, content, memory_id)
        if wrong is None and action != "add" and (kind or subject or attribute):
            wrong = _invalid("kind, subject and attribute are set by add only; leave them out")
        if wrong is not None:
            return wrong
        draft = app.session.draft(
            Role.ASSISTANT,
            content or "",
            client_name(context),
            platform=agent_platform,
            model=agent_model,
            subagent=subagent,
            subagent_model=subagent_model,
            subagent_role=subagent_role,
        )
        services = await app.services()
        knowledge, user_id = services.knowledge, services.user_id
        expected = None if memory_id is None else app.session.shown.get(memory_id)
        match target, action:
            case "memory", "add":
                done = await knowledge.add_memory(
                    draft,
                    user_id,
                    kind=Kind(kind or Kind.NOTE),
                    subject=subject,
                    project=app.session.project,
                    attribute=attribute,
                )
            case "memory", "update":
                done = await knowledge.update_memory(draft, user_id, memory_id or 0, expected)
            case "memory", _:
                done = await knowledge.remove_memory(user_id, memory_id or 0, expected)
            case _, "add":
                done = await knowledge.add_to_profile(content or "", user_id)
            case _, "remove" if content is not None and not is_blank(content):
                done = await knowledge.remove_from_profile(content, user_id)
            case _, "remove":
                done = await knowledge.write_profile("", user_id)
            case _:
                done = await knowledge.write_profile(content or "", user_id)
        if isinstance(done, Refusal):
            return shown_refusal(app.session, done)
        return await _answer(app, services, done, action, target)

    return make_tool(
        manage_knowledge,
        answer=KnowledgeAnswer,
        render=render_knowledge,
        title="Remember, correct or forget",
        description=DESCRIPTION,
        annotations=CHANGES,
    )


def _invalid(message: str) -> Refusal:
    return Refusal(Code.INVALID_INPUT, message)


def _missing(
    action: str, target: str, content: str | None, memory_id: int | None
) -> Refusal | None:
    if action != "remove" and (content is None or is_blank(content)):
        return _invalid(f"to {action} a {target}, pass its words as content")
    if target == "memory" and action != "add" and memory_id is None:
        return _invalid(
            f"to {action} a memory, pass its memory_id; search_memory shows the id of each memory"
        )
    if memory_id is not None and (target, action) == ("memory", "add"):
        return _invalid("add makes a new memory; leave memory_id out, or use update")
    if memory_id is not None and target == "sub_profile":
        return _invalid("the sub_profile has no memory_id; leave it out, or use target memory")
    return None


async def _answer(
    app: App, services: Services, done: "Remembered", action: str, target: str
) -> KnowledgeAnswer:
    # A memory that was supported or superseded may have been pinned by the same patch.
    first, change = done.applied.changes[0], done.applied.changes[-1]
    answer = KnowledgeAnswer(
        action=action,
        target=target,
        outcome=first.operation if (target, action) == ("memory", "add") else None,
        version=change.version,
        patch_id=done.applied.patch_id,
        message_id=done.message_id,
        diff=escape(done.applied.diff),
    )
    if target == "sub_profile":
        return answer
    app.session.show([(change.item_id, change.version)])
    current = await services.knowledge.find(change.item_id, services.user_id)
    answer = answer.model_copy(
        update={"memory_id": change.item_id, "pinned": current is not None and current.pinned}
    )
    if action == "remove":
        return answer
    # What is pending, the daemon does; it was told. Tags are made of the first words only.
    soon = {"embedded": "ok" if done.embedded else "pending"}
    return answer.model_copy(update=soon | ({"tagged": "ok"} if action == "add" else {}))
