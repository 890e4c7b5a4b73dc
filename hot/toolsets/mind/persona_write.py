"""persona_write: one page of the persona anew."""

from dataclasses import replace
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.persona import MAX_PERSONA_CHARS
from hot.app import App
from hot.hints import SETS
from hot.services import Services
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import Count, ItemIds
from hot.toolsets.mind.persona import SIDES, Dimension, PersonaWriteAnswer, render_write

DESCRIPTION = """\
Write one page of the persona anew: agent, user or shared. It is shown whenever anybody wakes.

Call it when the user asks you to change one. The page is replaced as a whole, so pass all that \
still holds; the user can bring any older version back.

Examples: {"dimension": "agent", "content": "- Is called Iris.\\n- Answers in German."}; \
{"dimension": "shared", "content": "…", "expected_version": 3}.

Returns version, patch_id and the diff. VERSION_CONFLICT means that you have not seen the page as \
it stands: read `current`, keep what holds, and pass its version. What you write counts as your \
word, not the user's; for a suggestion that the user decides on, call persona_regen."""


def tool(app: App) -> Tool:
    """The tool over `Profiles.write`."""

    async def persona_write(
        context: Context,
        dimension: Annotated[Dimension, Field(description=f"{SIDES}.")],
        content: Annotated[
            str,
            Field(
                description=f"The whole page in Markdown, at most {MAX_PERSONA_CHARS} characters."
            ),
        ],
        expected_version: Annotated[
            Count | None,
            Field(
                description="The version you have seen; 0: there is none yet. Default: the one "
                "last shown whole in this session."
            ),
        ] = None,
        evidence: Annotated[
            ItemIds | None,
            Field(description="Ids of the messages it rests on. Default: these words themselves."),
        ] = None,
    ) -> PersonaWriteAnswer | Refusal:
        # With the services themselves, which a start does without.
        from agents_memory.domain.messages import Role
        from agents_memory.services.profiles import AGENT, unseen

        services = await app.services()
        kind = f"persona.{dimension}"
        current = (await services.profiles.list(services.user_id)).get(kind)
        if expected_version is None:
            if current is None:
                expected_version = 0
            elif current.content:
                expected_version = app.session.shown.get(current.id)
                if expected_version is None:
                    return await _shown(app, services, kind, unseen(kind, current))
        said = app.session.draft(Role.ASSISTANT, "", client_name(context))
        done = await services.profiles.write(
            services.user_id,
            kind,
            content,
            said,
            AGENT,
            expected_version=expected_version,
            evidence=tuple(evidence or ()),
        )
        if isinstance(done, Refusal):
            return await _shown(app, services, kind, done)
        app.session.show([(done.id, done.version)])
        return PersonaWriteAnswer(
            dimension=dimension,
            version=done.version,
            written=done.patch_id is not None,
            patch_id=done.patch_id,
            message_id=done.message_id,
            diff=escape(done.diff),
        )

    return make_tool(
        persona_write,
        answer=PersonaWriteAnswer,
        render=render_write,
        title="Write a page of the persona",
        description=DESCRIPTION,
        annotations=SETS,
    )


async def _shown(app: App, services: Services, kind: str, refusal: Refusal) -> Refusal:
    """The refusal with the page as data; the session has seen that version then."""
    current: dict[str, Any] | None = refusal.details.get("current")
    if current is None:
        return refusal
    page = (await services.profiles.list(services.user_id)).get(kind)
    if page is not None:
        app.session.show([(page.id, current["version"])])
    escaped = {**current, "content": escape(current["content"])}
    return replace(refusal, details={**refusal.details, "current": escaped})
