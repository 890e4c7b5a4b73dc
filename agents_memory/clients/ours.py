"""What in a client's configuration is ours, of this or another installation."""

from typing import Any

# By these words an entry and a hook of ours are known again, whatever Python they name.
SERVER_WORDS = ("-I", "-m", "hot")
HOOK_WORDS = ("-m", "agents_memory", "brief", "--hook")


def is_our_entry(entry: Any) -> bool:
    """Whether an entry starts our server, in the form of any client."""
    words = command_line(entry)
    return len(words) == 1 + len(SERVER_WORDS) and tuple(words[1:]) == SERVER_WORDS


def is_our_hook(command: object) -> bool:
    """Whether a hook's command line is ours."""
    return isinstance(command, str) and " ".join(HOOK_WORDS) in command


def is_our_group(group: Any) -> bool:
    """Whether a group of hooks holds one of ours."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(
        is_our_hook(one.get("command")) for one in hooks if isinstance(one, dict)
    )


def command_line(entry: Any) -> list[str]:
    """The words that an entry starts a server with; empty where it names none."""
    if not isinstance(entry, dict):
        return []
    command, args = entry.get("command"), entry.get("args")
    words: list[Any] = command if isinstance(command, list) else [command]
    words = [*words, *(args if isinstance(args, list) else [])]
    return words if all(isinstance(word, str) and word for word in words) else []
