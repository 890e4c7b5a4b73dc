"""One module a client, behind the protocol of `protocol`."""

from types import MappingProxyType

from ingest.transcripts.claude_code import ClaudeCode
from ingest.transcripts.protocol import Client

CLIENTS: MappingProxyType[str, Client] = MappingProxyType(
    {client.name: client for client in (ClaudeCode(),)}
)
"""Every client that can be captured, by the name it has in settings and in stored messages."""
