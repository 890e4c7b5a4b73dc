"""The environment of this process, to be passed on to a child on purpose."""

import os

HOOK = "_MCP_AGENTS_MEMORY_HOOK"


def client_session() -> str | None:
    """The session that an editor's server belongs to, as the editor itself names it, if it says.

    Claude Code gives its servers CLAUDE_CODE_SESSION_ID, the id its transcripts carry.
    """
    return os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def inherited_environment() -> dict[str, str]:
    """A copy of the environment; what a child process of ours gets."""
    return dict(os.environ)


def enter_hook() -> bool:
    """Mark this process, and what it starts, as run from a client's hook; False when it was."""
    marked = HOOK in os.environ
    os.environ[HOOK] = "1"
    return not marked
