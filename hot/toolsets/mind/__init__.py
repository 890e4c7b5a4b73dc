"""The toolset `mind`: a memory that feels, forgets and associates, as Patina's users know it."""

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from hot.app import App
from hot.toolsets.mind import (
    digest,
    duplicates,
    fading,
    forget,
    graph,
    link,
    monthly_summary,
    persona_regen,
    persona_write,
    propose_canonical_tag,
    recall,
    remember,
    revise,
    status,
    tag_index,
    unlink,
    wake,
)


def tools(app: App) -> list[Tool]:
    """All of it but `cite`, which the toolset `core` has."""
    make = (
        *(wake, recall, remember, digest, revise, link, unlink, graph, status, forget),
        *(duplicates, fading, persona_write, persona_regen),
        *(monthly_summary, tag_index, propose_canonical_tag),
    )
    return [module.tool(app) for module in make]


def prompts() -> list[Prompt]:
    """None: each tool says what it is for."""
    return []
