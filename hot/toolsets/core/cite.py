"""cite: which recalled items an answer really used."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Refusal
from hot.answers import Citation, CitedAnswer
from hot.app import App
from hot.hints import ADDS
from hot.present import render_cited
from hot.toolkit import make_tool
from hot.toolsets.arguments import ItemIds

DESCRIPTION = """\
Say which recalled items your answer really used, so that useful memories stay near and unused \
ones fade.

Call it right after an answer or an action that rested on results of search_memory or on entries \
of memory_startup, with their ids. Leave out what you only read. Call it once an answer.

Example: {"ids": [17, 42]}.

Returns `cited`, each id with what it names (message, memory or summary), and `unknown`, the \
ids that name none of these. Nothing needs to be done about it."""


def tool(app: App) -> Tool:
    """The tool over `Citing.cite`."""

    async def cite(
        context: Context,
        ids: Annotated[
            ItemIds, Field(description="1 to 100 ids of results that were used, such as [17, 42].")
        ],
    ) -> CitedAnswer | Refusal:
        services = await app.services()
        done = await services.citing.cite(ids, services.user_id, app.session.id)
        if isinstance(done, Refusal):
            return done
        return CitedAnswer(
            cited=[Citation(id=number, kind=kind) for number, kind in sorted(done.cited.items())],
            unknown=list(done.unknown),
        )

    return make_tool(
        cite,
        answer=CitedAnswer,
        render=render_cited,
        title="Cite what was used",
        description=DESCRIPTION,
        annotations=ADDS,
    )
