"""link: a typed, weighted edge between two items."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.edges import EdgeKind
from agents_memory.domain.errors import Refusal
from hot.app import App
from hot.hints import SETS
from hot.toolkit import make_tool
from hot.toolsets.arguments import ItemId
from hot.toolsets.mind.answers import LinkAnswer
from hot.toolsets.mind.arguments import LINKS, Link, Number
from hot.toolsets.mind.present import render_link
from hot.toolsets.mind.views import edge_of

DESCRIPTION = """\
Link two items (memories, messages or summaries), so that recalling one brings up the other.

Call it when you see that one thing belongs to, explains, contradicts or follows another. The edge \
goes from what is, to what it is that for. Circles are fine; an item is not linked to itself.

Example: {"from_id": 17, "to_id": 42, "kind": "supports", "weight": 0.8}: 17 supports 42.

Returns the edge, and `was`, its weight before, if it stood already."""


def tool(app: App) -> Tool:
    """The tool over `Graph.link`."""

    async def link(
        context: Context,
        from_id: Annotated[ItemId, Field(description="The item that the edge starts from.")],
        to_id: Annotated[ItemId, Field(description="The item that it leads to.")],
        kind: Annotated[Link, Field(description=f"{LINKS}. Default related.")] = "related",
        weight: Annotated[
            Number,
            Field(description="How strong it is, from above 0 to 1. Default 1."),
        ] = 1.0,
    ) -> LinkAnswer | Refusal:
        services = await app.services()
        done = await services.graph.link(from_id, to_id, EdgeKind(kind), weight, services.user_id)
        if isinstance(done, Refusal):
            return done
        was = None if done.was is None else round(done.was, 4)
        return LinkAnswer(edge=edge_of(done.edge), was=was)

    return make_tool(
        link,
        answer=LinkAnswer,
        render=render_link,
        title="Link two items",
        description=DESCRIPTION,
        annotations=SETS,
    )
