"""The toolset `mind`: a memory that feels, forgets and associates, as Patina's users know it."""

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from hot.app import App
from hot.toolsets.mind import (
    duplicates,
    fading,
    forget,
    graph,
    link,
    recall,
    remember,
    revise,
    status,
    unlink,
    wake,
)


def tools(app: App) -> list[Tool]:
    """All of it but `cite`, which the toolset `core` has."""
    make = (wake, recall, remember, revise, link, unlink, graph, status, forget, duplicates, fading)
    return [module.tool(app) for module in make]


def prompts() -> list[Prompt]:
    """None: each tool says what it is for."""
    return []
