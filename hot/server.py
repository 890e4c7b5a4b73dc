"""The MCP server of one client: the toolsets that are switched on, over one app."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import BinaryIO

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool

from agents_memory import __version__
from agents_memory.domain.errors import ConfigurationError
from hot.app import App
from hot.toolkit import briefing_middleware, serve
from hot.toolsets import core
from hot.wire import Wire

# Clients join it with the tool names and cut at 64 characters.
NAME = "memory"
TOOLSETS: Mapping[str, Callable[[App], list[Tool]]] = {"core": core.tools}


def build_server(app: App) -> MCPServer:
    """The server; its instructions are written when a client connects.

    Raises ConfigurationError for a toolset that this version does not have.
    """
    missing = [name for name in app.settings.toolsets if name not in TOOLSETS]
    if missing:
        raise ConfigurationError(
            f"AGENTS_MEMORY_TOOLSETS names {', '.join(missing)}, which this version does not have; "
            f"it has {', '.join(TOOLSETS)}"
        )
    return MCPServer(
        NAME,
        title="Agents Memory",
        version=__version__,
        tools=[tool for name in app.settings.toolsets for tool in TOOLSETS[name](app)],
        middleware=[briefing_middleware(app.instructions)],
    )


async def serve_stdio(app: App, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serves one client on two pipes until it hangs up."""
    server = build_server(app)
    await Wire(stdin, stdout).serve(partial(serve, server))
