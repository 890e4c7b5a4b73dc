"""The toolset `patch`: exact changes of single memories, with their evidence and history."""

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from hot.app import App
from hot.toolsets.patch import apply, patch_read, protocol, read, record, search


def tools(app: App) -> list[Tool]:
    """The six tools, in the order of the protocol."""
    make = (
        record.tool,
        search.tool,
        read.read_tool,
        apply.tool,
        read.history_tool,
        patch_read.tool,
    )
    return [one(app) for one in make]


def prompts() -> list[Prompt]:
    """How to use them, for an agent that is asked to."""
    return [protocol.prompt()]
