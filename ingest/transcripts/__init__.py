"""One module a client, behind the protocol of `protocol`."""

from pathlib import Path
from types import MappingProxyType

from ingest.transcripts.claude_code import ClaudeCode
from ingest.transcripts.cline import Cline
from ingest.transcripts.codex import Codex
from ingest.transcripts.copilot_cli import CopilotCli
from ingest.transcripts.cursor import Cursor
from ingest.transcripts.gemini_cli import GeminiCli
from ingest.transcripts.google_antigravity import Antigravity
from ingest.transcripts.grok import Grok
from ingest.transcripts.hermes import Hermes
from ingest.transcripts.opencode import OpenCode
from ingest.transcripts.protocol import Client

_ALL: tuple[Client, ...] = (
    *(ClaudeCode(), Codex(), GeminiCli(), OpenCode(), CopilotCli()),
    *(Cursor(), Cline(), Grok(), Hermes(), Antigravity()),
)
CLIENTS: MappingProxyType[str, Client] = MappingProxyType({one.name: one for one in _ALL})
"""Every client that can be captured, by the name it has in settings and in stored messages."""

# A name that no folder of a project has: those begin with what stands for a slash or a drive.
_BELOW = {ClaudeCode.name: "projects"}


def root_of(client: str, folder: Path) -> Path:
    """Where a client's transcripts begin, given that folder or the client's own one above it."""
    inner = folder / _BELOW.get(client, "")
    return inner if inner.is_dir() else folder
