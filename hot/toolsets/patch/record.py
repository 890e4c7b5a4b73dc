"""memory_record_event: evidence, stored as it was said."""

from dataclasses import replace
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Refusal
from agents_memory.domain.messages import Role
from hot.app import App
from hot.hints import ADDS
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import FromJson
from hot.toolsets.patch.answers import RecordedAnswer
from hot.toolsets.patch.arguments import Event, aware
from hot.toolsets.patch.present import render_recorded

DESCRIPTION = """\
Store what was said or seen, word for word, as evidence that can be cited and never changes.

Call it before memory_apply for the words a change rests on, unless they are stored already (ids \
of search results can be cited too). Not for what you read from this server.

Example: {"event": {"role": "user", "content": "We moved to Lisbon.", "external_id": "chat-9/4"}}.

Returns event_id: cite it in evidence_event_ids. `duplicate`: this external_id was recorded \
before, and is the same. EVENT_CONFLICT: it names another event. Whatever role it names, it counts \
as an agent's account (trust "agent")."""


def tool(app: App) -> Tool:
    """The tool over `Events.record`."""

    async def memory_record_event(
        context: Context,
        event: Annotated[Event, FromJson, Field(description="What was said, and by whom.")],
    ) -> RecordedAnswer | Refusal:
        draft = app.session.draft(Role(event.role), event.content, client_name(context))
        draft = replace(draft, occurred_at=aware(event.occurred_at, app.settings.time_zone))
        services = await app.services()
        stored = await services.events.record(draft, services.user_id, event.external_id)
        if isinstance(stored, Refusal):
            return stored
        return RecordedAnswer(
            event_id=stored.id,
            role=stored.role,
            created_at=app.moment(stored.created_at),
            duplicate=stored.duplicate or None,
            redactions=stored.redactions or None,
        )

    return make_tool(
        memory_record_event,
        answer=RecordedAnswer,
        render=render_recorded,
        title="Record an event as evidence",
        description=DESCRIPTION,
        annotations=ADDS,
    )
