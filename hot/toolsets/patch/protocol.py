"""The prompt memory_protocol: how an agent should change what is remembered."""

from pathlib import Path

from mcp.server.mcpserver.prompts import Prompt

# docs/agent-instructions.md shows the same file.
TEXT = Path(__file__).with_name("protocol.md")


def prompt() -> Prompt:
    """The prompt; it takes no arguments."""

    async def memory_protocol() -> str:
        return TEXT.read_text("utf-8")

    return Prompt.from_function(
        memory_protocol,
        title="How to change memories",
        description="Search before you write, read before you write, cite what you used.",
    )
