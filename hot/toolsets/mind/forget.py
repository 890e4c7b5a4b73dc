"""forget: how present everything still is, computed now."""

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool

from agents_memory.domain.errors import Refusal
from hot.app import App
from hot.hints import SETS
from hot.toolkit import make_tool
from hot.toolsets.mind.answers import ForgetAnswer
from hot.toolsets.mind.present import render_forget

DESCRIPTION = """\
Let time pass over the memory: recompute from use, time and affect how present everything still is.

Call it when the user asks for it; the daemon does it every day. Nothing is deleted: what fades \
sinks in recall and is still found. Doing it twice changes nothing but `recomputed_at`.

Returns as of when, how many items were looked at, how many activations changed, how many \
memories have faded by it, and how many fade in all; find_fading names them."""


def tool(app: App) -> Tool:
    """The tool over `Upkeep.forget`."""

    async def forget(context: Context) -> ForgetAnswer | Refusal:
        services = await app.services()
        done = await services.upkeep.forget(services.user_id)
        return ForgetAnswer(
            recomputed_at=app.moment(done.recomputed_at),
            items=done.items,
            changed=done.changed,
            faded=done.faded,
            fading=done.fading,
        )

    return make_tool(
        forget,
        answer=ForgetAnswer,
        render=render_forget,
        title="Recompute what fades",
        description=DESCRIPTION,
        annotations=SETS,
    )
