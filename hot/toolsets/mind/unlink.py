"""unlink: takes an edge away again."""

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.edges import EdgeKind
from agents_memory.domain.errors import Refusal
from hot.app import App
from hot.hints import REMOVES
from hot.toolkit import make_tool
from hot.toolsets.arguments import ItemId
from hot.toolsets.mind.answers import UnlinkAnswer
from hot.toolsets.mind.arguments import LINKS, Link
from hot.toolsets.mind.present import render_unlink

DESCRIPTION = """\
Take away the edges from one item to another, of one kind or of all kinds.

Call it when a link was wrong. The direction counts: graph shows from_id and to_id of each edge. \
The items themselves stay.

Example: {"from_id": 17, "to_id": 42, "kind": "supports"}.

Returns `removed`, the kinds of the edges that stood; empty, with a note, when there was none."""


def tool(app: App) -> Tool:
    """The tool over `Graph.unlink`."""

    async def unlink(
        context: Context,
        from_id: Annotated[ItemId, Field(description="The item that the edge starts from.")],
        to_id: Annotated[ItemId, Field(description="The item that it leads to.")],
        kind: Annotated[Link | None, Field(description=f"{LINKS}. Default: every kind.")] = None,
    ) -> UnlinkAnswer | Refusal:
        services = await app.services()
        wanted = None if kind is None else EdgeKind(kind)
        gone = await services.graph.unlink(from_id, to_id, wanted, services.user_id)
        if isinstance(gone, Refusal):
            return gone
        note = None if gone else "no such edge stood; graph shows those of an item"
        return UnlinkAnswer(from_id=from_id, to_id=to_id, removed=list(gone), note=note)

    return make_tool(
        unlink,
        answer=UnlinkAnswer,
        render=render_unlink,
        title="Unlink two items",
        description=DESCRIPTION,
        annotations=REMOVES,
    )
