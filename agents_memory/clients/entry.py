"""What a client's configuration has to say so that it starts our server."""

from dataclasses import dataclass
from typing import Any

from agents_memory.clients.ours import SERVER_WORDS
from agents_memory.settings import Settings

# Short, because clients join it with each tool's name and cut what gets long.
SERVER_NAME = "memory"
CONFIG_PATH = "MEMORY_CONFIG_PATH"


@dataclass(frozen=True, slots=True)
class Entry:
    """How a client starts the server; `env` names the file of settings and holds no secret.

    `name` is what the client calls it.
    """

    command: str
    args: tuple[str, ...]
    env: dict[str, str]
    name: str = SERVER_NAME

    @property
    def words(self) -> list[str]:
        """The whole command line."""
        return [self.command, *self.args]

    def as_json(self) -> dict[str, Any]:
        """The object that most clients take under `mcpServers`."""
        start = {"command": self.command, "args": list(self.args)}
        return start | ({"env": self.env} if self.env else {})


def entry_for(settings: Settings, python: str, name: str = SERVER_NAME) -> Entry:
    """An absolute command, since clients start it in any folder with any PATH.

    Isolated (-I): the folder may hold a `hot/` of its own, and PYTHONPATH may lead anywhere.
    """
    env = {} if settings.config_path is None else {CONFIG_PATH: str(settings.config_path)}
    return Entry(python, SERVER_WORDS, env, name)
