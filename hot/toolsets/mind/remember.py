"""remember: one statement, and how it felt."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.text import is_blank
from hot.app import App
from hot.hints import ADDS
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import Count, ItemIds
from hot.toolsets.conflicts import shown_refusal
from hot.toolsets.filing import project_for
from hot.toolsets.mind.answers import RememberAnswer
from hot.toolsets.mind.arguments import (
    Intensity,
    MemoryKind,
    Valence,
    Words,
    affect_problems,
)
from hot.toolsets.mind.present import render_remember

TOOL = "remember"

DESCRIPTION = """\
Remember one lasting statement, with how much it matters and how it felt.

Call it when something is worth keeping: one statement a call, in a full sentence that makes sense \
years later. valence and intensity are never left out: without them nothing is written.

Example: {"content": "Mara was promised the harbour photos.", "kind": "promise", "importance": 7, \
"valence": 0.7, "intensity": 0.3, "tags": ["harbour"]}.

Returns memory_id, version and `outcome`: add; support when a memory said the same already, which \
now rests on these words too; supersede when one about the same subject and attribute said \
something older. message_id is the evidence stored with it, unless you cite `evidence`."""


def tool(app: App) -> Tool:
    """The tool over `Knowledge.remember`."""

    async def remember(
        context: Context,
        content: Annotated[str, Field(description="The statement, at most 20000 characters.")],
        valence: Annotated[
            Valence | None,
            Field(description="Needed: how it felt, from -1 (bad) to 1 (good). No default."),
        ] = None,
        intensity: Annotated[
            Intensity | None,
            Field(description="Needed: how strongly, from 0 (calm) to 1 (strong). No default."),
        ] = None,
        importance: Annotated[
            Count, Field(description="From 1 (trifle) to 10 (life). Default 5.")
        ] = 5,
        kind: Annotated[
            MemoryKind,
            Field(
                description="fact, preference, decision, promise, milestone, pattern or note. "
                "Default note."
            ),
        ] = "note",
        pinned: Annotated[
            bool, Field(description="Shown in every wake, and never fades. Default false.")
        ] = False,
        tags: Annotated[
            Words | None,
            Field(description="At most 20 tags. Default: made from the words."),
        ] = None,
        p_tag: Annotated[
            str | None, Field(description="The project. Default: that of the working directory.")
        ] = None,
        evidence: Annotated[
            ItemIds | None,
            Field(description="Ids of the messages it rests on. Default: these words themselves."),
        ] = None,
        subject: Annotated[
            str | None, Field(description='Whom or what it is about. Default "user".')
        ] = None,
        attribute: Annotated[
            str | None,
            Field(
                description="What of the subject it states, if there is one value at a time "
                '("employer"); replaces the older. Default nothing.'
            ),
        ] = None,
    ) -> RememberAnswer | Refusal:
        wrong = _wrong(content, valence, intensity, importance)
        if wrong is not None:
            return wrong
        # With the service itself, which a start does without.
        from agents_memory.domain.memories import Kind
        from agents_memory.domain.messages import Role
        from agents_memory.domain.patches import Add
        from agents_memory.services.knowledge import SUBJECT

        services = await app.services()
        project = await project_for(app, services, p_tag)
        if isinstance(project, Refusal):
            return project
        said = app.session.draft(Role.ASSISTANT, content, client_name(context))
        add = Add(
            subject or SUBJECT,
            content,
            Kind(kind),
            importance=importance,
            valence=valence,
            intensity=intensity,
            pinned=pinned,
            tags=tuple(tags or ()),
            attribute=attribute,
        )
        done = await services.knowledge.remember(
            said,
            services.user_id,
            add,
            project=project,
            evidence=tuple(evidence or ()),
            tool=TOOL,
        )
        if isinstance(done, Refusal):
            return shown_refusal(app.session, done)
        # A memory that was supported or superseded may have been pinned by the same patch.
        first, last = done.applied.changes[0], done.applied.changes[-1]
        app.session.show([(last.item_id, last.version)])
        current = await services.knowledge.find(last.item_id, services.user_id)
        return RememberAnswer(
            memory_id=last.item_id,
            version=last.version,
            outcome=first.operation,
            patch_id=done.applied.patch_id,
            message_id=done.message_id,
            pinned=current is not None and current.pinned,
            embedded="ok" if done.embedded else "pending",
            diff=escape(done.applied.diff),
        )

    return make_tool(
        remember,
        answer=RememberAnswer,
        render=render_remember,
        title="Remember",
        description=DESCRIPTION,
        annotations=ADDS,
    )


def _wrong(
    content: str, valence: float | None, intensity: float | None, importance: int
) -> Refusal | None:
    """What keeps it from being written, before anything is stored."""
    problems = []
    if is_blank(content):
        problems.append("content is empty: say what is to be remembered")
    problems += affect_problems(valence, intensity, needed=True)
    if not 1 <= importance <= 10:
        problems.append("importance goes from 1 to 10")
    if not problems:
        return None
    return Refusal(
        Code.INVALID_INPUT,
        f"nothing was written; {'; '.join(problems)}",
        {"valence": [-1, 1], "intensity": [0, 1], "importance": [1, 10]},
    )
