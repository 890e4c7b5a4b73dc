"""Values that this program writes where others write theirs: no erasure changes them.

The program tells things apart by them, and they say nothing of anybody. What a client chose in the
same places is erased like any other text. A test compares them with those who write them.
"""

from collections.abc import Mapping

CLIENTS = frozenset(
    (
        *("antigravity", "claude-code", "claude-desktop", "cline", "codex", "copilot-cli"),
        *("cursor", "gemini-cli", "grok", "hermes", "opencode", "vscode"),
    )
)

OWN_VALUES: Mapping[str, frozenset[str]] = {
    "platform": CLIENTS | {"buzz", "unknown"},
    "client": CLIENTS,
    "source": CLIENTS | {"buzz", "manage_knowledge", "memory_record_event", "conversation"},
    "store_id": frozenset(("any", "agent")),
    "scope": frozenset(("default",)),
    "subject": frozenset(("user",)),
    "actor": frozenset(("agent", "owner", "daemon", "cold/dedupe", "cold/librarian")),
    "tool": frozenset(
        (
            *("manage_knowledge", "remember", "digest", "revise", "memory_apply"),
            *("cli", "redact", "compare_memory", "librarian", "persona_write"),
        )
    ),
}
"""By the name of the field or column, in whatever table."""


def is_own(field: str, value: object) -> bool:
    """Whether a value of a field is one of ours."""
    return isinstance(value, str) and value in OWN_VALUES.get(field, ())
