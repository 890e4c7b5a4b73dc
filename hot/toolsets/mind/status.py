"""status: how much there is, and how it is doing."""

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool

from agents_memory.domain.errors import Refusal
from hot.app import App
from hot.hints import READS
from hot.toolkit import make_tool
from hot.toolsets.mind.answers import StatusAnswer
from hot.toolsets.mind.present import render_status

DESCRIPTION = """\
Count what is remembered and say what does not work.

Call it when the user asks about the memory itself, or when recall seems wrong.

Returns `counts`: messages, summaries, memories (active), superseded, removed, pinned, unresolved \
(open promises), fading, edges, surfaced (shown), used (cited: the number to watch, since what is \
never used fades) and inferred (uses that only a reply shows). `kinds` counts active memories of \
each kind, `health` says what is wrong; empty is good."""


def tool(app: App) -> Tool:
    """The tool over `Upkeep.count`."""

    async def status(context: Context) -> StatusAnswer | Refusal:
        services = await app.services()
        counted = await services.upkeep.count(services.user_id)
        at = counted.recomputed_at
        return StatusAnswer(
            counts=dict(counted.counts),
            kinds=dict(counted.kinds),
            recomputed_at=None if at is None else app.moment(at),
            health=await services.health(),
        )

    return make_tool(
        status,
        answer=StatusAnswer,
        render=render_status,
        title="State of the memory",
        description=DESCRIPTION,
        annotations=READS,
    )
