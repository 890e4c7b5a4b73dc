"""save_message: one turn, stored as it was said."""

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Queued, Role
from hot.answers import SavedAnswer
from hot.app import App
from hot.hints import ADDS
from hot.present import render_saved
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import (
    AgentModel,
    AgentPlatform,
    Subagent,
    SubagentModel,
    SubagentRole,
)

DESCRIPTION = """\
Store one turn of the conversation, word for word, in the memory that all of the user's agents \
share.

Call it for turns worth finding again (a request, a decision and its reasons, a result, a \
promise), once for the user's words and once for yours. Do not call it for what you just read \
from this server, for tool output, or where the user's client is already captured by itself.

Examples: {"role": "user", "message": "Let's keep the queue in Postgres, Redis is one more thing \
to run"}; {"role": "assistant", "message": "Done: sessions are opaque tokens now, 12 tests \
added", "agent_model": "claude-sonnet-5"}.

Returns the message's id, role and created_at. `stored` false with `skipped`: this session is \
captured anyway, so save nothing more in it. `queued` true: the database is away, and the turn is \
safe on this machine's disk; it is stored by itself later, so do not save it again. \
`redactions` counts passwords and keys that were taken out before storing. What is saved this way \
counts as an agent's account (trust "agent"), whatever role it names; it can be searched at once \
by its words, by its meaning a little later.

To state a lasting fact, preference or decision, use manage_knowledge instead."""


CAPTURED = "this session is captured as it is written, so this turn is stored without you"

QUEUED = (
    "the database cannot take it now, so the turn is kept on this machine's disk and stored, once, "
    "when the database is back; until then no search finds it. Do not save it again. Why: {why}"
)


def tool(app: App) -> Tool:
    """The tool over `Saving.save`."""

    async def save_message(
        context: Context,
        role: Annotated[
            Literal["user", "assistant"], Field(description='Who said it: "user" or "assistant".')
        ],
        message: Annotated[
            str, Field(description="The words as they were said, any language, at most 16 MiB.")
        ],
        agent_model: AgentModel = None,
        agent_platform: AgentPlatform = None,
        subagent: Subagent = False,
        subagent_model: SubagentModel = None,
        subagent_role: SubagentRole = None,
    ) -> SavedAnswer | Refusal:
        draft = app.session.draft(
            Role(role),
            message,
            client_name(context),
            platform=agent_platform,
            model=agent_model,
            subagent=subagent,
            subagent_model=subagent_model,
            subagent_role=subagent_role,
        )
        saved = await app.saving.save(draft, app.session.client_session)
        if isinstance(saved, Refusal):
            return saved
        if saved is None:
            return SavedAnswer(stored=False, role=role, skipped=CAPTURED)
        if isinstance(saved, Queued):
            return SavedAnswer(
                stored=False,
                queued=True,
                intake_id=str(saved.intake_id),
                role=saved.role,
                created_at=app.moment(saved.at),
                redactions=saved.redactions,
                note=QUEUED.format(why=saved.why),
            )
        return SavedAnswer(
            stored=True,
            id=saved.id,
            role=saved.role,
            created_at=app.moment(saved.created_at),
            duplicate=saved.duplicate,
            redactions=saved.redactions,
        )

    return make_tool(
        save_message,
        answer=SavedAnswer,
        render=render_saved,
        title="Save one turn of the conversation",
        description=DESCRIPTION,
        annotations=ADDS,
    )
