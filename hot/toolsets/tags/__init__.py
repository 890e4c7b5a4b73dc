"""The toolset `tags`: the registry of projects and what is suggested for it."""

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from hot.app import App
from hot.toolsets.tags import manage


def tools(app: App) -> list[Tool]:
    """The one tool."""
    return [manage.tool(app)]


def prompts() -> list[Prompt]:
    """None: the tool says it all."""
    return []
