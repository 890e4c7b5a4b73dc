"""The MCP server of one client: the toolsets that are switched on, over one app."""

from functools import partial
from importlib import import_module
from typing import BinaryIO, Protocol, cast

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool

from agents_memory import __version__
from hot.app import App
from hot.toolkit import briefing_middleware, serve
from hot.wire import Wire

# Clients join it with the tool names and cut at 64 characters.
NAME = "memory"


class Toolset(Protocol):
    """What each of these packages holds."""

    def tools(self, app: App) -> list[Tool]: ...

    def prompts(self) -> list[Prompt]: ...


def tools_of(app: App) -> list[Tool]:
    """The tools of the toolsets that are switched on."""
    return [tool for toolset in _toolsets(app) for tool in toolset.tools(app)]


def build_server(app: App) -> MCPServer:
    """The server; its instructions are written when a client connects."""
    server: MCPServer = MCPServer(
        NAME,
        title="Agents Memory",
        version=__version__,
        tools=tools_of(app),
        middleware=[briefing_middleware(app.instructions)],
    )
    for toolset in _toolsets(app):
        for prompt in toolset.prompts():
            server.add_prompt(prompt)
    return server


def _toolsets(app: App) -> list[Toolset]:
    # Each costs a start something, so only those that are on are imported.
    return [cast(Toolset, import_module(f"hot.toolsets.{name}")) for name in app.settings.toolsets]


async def serve_stdio(app: App, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serves one client on two pipes until it hangs up."""
    server = build_server(app)
    await Wire(stdin, stdout).serve(partial(serve, server))
