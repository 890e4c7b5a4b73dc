"""The toolset `core`: what every agent needs, and nothing more."""

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from hot.app import App
from hot.toolsets.core import cite, knowledge, save, search, startup


def tools(app: App) -> list[Tool]:
    """The five tools, in the order an agent meets them."""
    return [module.tool(app) for module in (startup, search, knowledge, save, cite)]


def prompts() -> list[Prompt]:
    """None: the instructions of the server say it all."""
    return []
