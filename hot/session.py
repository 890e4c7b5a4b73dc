"""Who is at the other end, where, and what they were shown."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from agents_memory.domain.messages import Draft, Origin, Role, Trust
from agents_memory.domain.tags import normalise_tag, project_from_directory
from agents_memory.domain.text import repair
from agents_memory.domain.viewer import Viewer
from agents_memory.settings import Settings
from agents_memory.settings.inherited import client_session

UNKNOWN_PLATFORM = "unknown"
# What clients call themselves, as one name each; others keep their own.
PLATFORMS = {
    "claude": "claude-desktop",
    "claude-ai": "claude-desktop",
    "claude-cli": "claude-code",
    "codex-cli": "codex",
    "codex-mcp-client": "codex",
    "cursor-vscode": "cursor",
    "gemini": "gemini-cli",
    "gemini-cli-mcp-client": "gemini-cli",
    "open-code": "opencode",
    "visual-studio-code": "vscode",
    "visual-studio-code-insiders": "vscode",
    "vs-code": "vscode",
}
MAX_SHOWN = 10_000


def platform_name(name: str | None) -> str | None:
    """Our name of a client, from what it or somebody else calls it; None when nothing is left."""
    tag = normalise_tag(name) if name else None
    return PLATFORMS.get(tag, tag) if tag else None


def repository_root(directory: Path) -> Path | None:
    """The nearest folder upward that holds `.git` (a folder, or a worktree's file)."""
    for folder in (directory, *directory.parents):
        try:
            if (folder / ".git").exists():
                return folder
        except OSError:
            # Not ours to read; there may still be a repository above.
            continue
    return None


def working_directory() -> str | None:
    """Where the process was started; None when the folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return None


@lru_cache(maxsize=64)
def _without_secrets(name: str | None) -> str | None:
    """A name before it takes the form of a tag, in which no secret would be known any more."""
    if not name:
        return None
    # With the first call that stores something, not with the start.
    from agents_memory.domain.redaction import redact

    return redact(repair(name).text).text


@dataclass(slots=True)
class Session:
    """One client's connection, from its start to its end.

    `shown` holds the version of each memory as this client last saw it. `id` is the client's own
    where it is known: turns handed over and turns captured then belong together.
    """

    device: str
    fallback_platform: str | None = None
    model: str | None = None
    cwd: str | None = None
    project: str | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    # What the client calls the session, where it tells its servers.
    client_session: str | None = None
    shown: dict[int, int] = field(default_factory=dict)

    @classmethod
    def begin(cls, settings: Settings, cwd: str | None) -> "Session":
        """A new session in a working directory."""
        root = None if cwd is None else repository_root(Path(cwd))
        named = client_session()
        return cls(
            id=named or str(uuid4()),
            client_session=named,
            device=settings.device_name,
            fallback_platform=platform_name(settings.agent_platform),
            model=settings.agent_model,
            cwd=cwd,
            project=project_from_directory(cwd, None if root is None else str(root)),
        )

    def platform(self, client: str | None, claimed: str | None = None) -> str:
        """What to write down: what the caller claims, else the client's name, else the setting."""
        return (
            platform_name(_without_secrets(claimed))
            or platform_name(client)
            or self.fallback_platform
            or UNKNOWN_PLATFORM
        )

    def viewer(self, client: str | None) -> Viewer:
        """Who is shown what is recalled, under the names that the turns of this session carry."""
        return Viewer(
            _without_secrets(self.id) or "",
            self.client_session is not None,
            self.platform(client),
            _without_secrets(self.device) or "",
            _without_secrets(self.project),
        )

    def draft(
        self,
        role: Role,
        text: str,
        client: str | None,
        *,
        platform: str | None = None,
        model: str | None = None,
        subagent: bool = False,
        subagent_model: str | None = None,
        subagent_role: str | None = None,
    ) -> Draft:
        """A turn as an agent hands it over: its account of things, whoever it says spoke."""
        return Draft(
            role=role,
            text=text,
            origin=Origin.ASSERTED,
            trust=Trust.AGENT,
            platform=self.platform(client, platform),
            model=model or self.model,
            subagent=subagent or bool(subagent_model or subagent_role),
            subagent_model=subagent_model,
            subagent_role=subagent_role,
            device=self.device,
            session=self.id,
            cwd=self.cwd,
            project_hint=self.project,
        )

    def show(self, versions: Iterable[tuple[int, int | None]]) -> None:
        """Remembers which version of which memory the client has seen."""
        for memory_id, version in versions:
            if version is not None:
                self.shown.pop(memory_id, None)
                self.shown[memory_id] = version
        while len(self.shown) > MAX_SHOWN:
            del self.shown[next(iter(self.shown))]
