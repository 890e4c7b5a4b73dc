"""What installing into a client would change."""

import shlex
from pathlib import Path
from typing import Any

from agents_memory.clients import config_file, document
from agents_memory.clients.entry import CONFIG_PATH, Entry
from agents_memory.clients.json_text import APPEND
from agents_memory.clients.known import Client, Hook, Place
from agents_memory.clients.machine import Machine
from agents_memory.clients.ours import HOOK_WORDS, command_line, is_our_entry, is_our_group
from agents_memory.clients.plan import Edit, Plan
from agents_memory.domain.errors import MemoryFault
from agents_memory.domain.redaction import redact


class NameTaken(MemoryFault):
    """Another server has the name that our entry would get."""


def plan_install(
    client: Client, scope: str, entry: Entry, machine: Machine, *, with_brief: bool
) -> Plan:
    """How `client` comes to start our server.

    Raises NameTaken, and MemoryFault for a file that we can't change.
    """
    place = client.places[scope](machine).named(entry.name)
    files = _Files()
    found = document.find(place.file, files.text(place.file), place.keys)
    if found is not None and not is_our_entry(found):
        raise _taken(client, scope, place, found)
    wanted = _merged(found, client.shape(entry))
    commands: list[list[str]] = []
    if wanted != found:
        if client.own is not None:
            commands = client.own(entry, scope, found is not None)
        files.put(place, wanted)
    remarks = [client.remark] if client.remark else []
    if with_brief:
        remarks += _plan_hook(client, scope, entry, machine, files)
    return Plan(client, commands, files.edits(), remarks)


def hook_command(entry: Entry, client: str, max_chars: int) -> str:
    """The line that a client's shell runs at the start of a session."""
    given = [f"{CONFIG_PATH}={value}" for name, value in entry.env.items() if name == CONFIG_PATH]
    words = ["env", *given] if given else []
    words += [entry.command, "-I", *HOOK_WORDS, "--client", client, "--max-chars", str(max_chars)]
    return shlex.join(words)


class _Files:
    """Several changes of several files, each file read once."""

    def __init__(self) -> None:
        self._before: dict[Path, str | None] = {}
        self._after: dict[Path, str] = {}

    def text(self, file: Path) -> str:
        if file not in self._before:
            self._before[file] = config_file.load(file)
            self._after[file] = self._before[file] or ""
        return self._after[file]

    def put(self, place: Place, value: object) -> None:
        text = self.text(place.file)
        self._after[place.file] = document.with_member(place.file, text, place.keys, value)

    def add_group(self, place: Place, group: Any) -> None:
        if isinstance(document.find(place.file, self.text(place.file), place.keys), list):
            self.put(Place(place.file, (*place.keys, APPEND)), group)
        else:
            self.put(place, [group])

    def drop(self, place: Place, at: int) -> None:
        text = self.text(place.file)
        self._after[place.file] = document.without_member(place.file, text, (*place.keys, at))

    def edits(self) -> list[Edit]:
        return [
            Edit(file, before, self._after[file])
            for file, before in self._before.items()
            if (before or "") != self._after[file]
        ]


def _taken(client: Client, scope: str, place: Place, found: Any) -> NameTaken:
    name = place.keys[-1]
    words = command_line(found)
    starts = f" ({redact(words[0]).text[:100]})" if words else ""
    again = ["mcp-agents-memory", "install-client", client.name, "--scope", scope]
    return NameTaken(
        f"{place.file} has another server named {name!r}{starts}, which was left as it is. Give "
        f"ours another name: `{shlex.join(again)} --name agents-{name}`, or rename that one"
    )


def _merged(found: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """The entry as it shall be, with what its owner added to ours."""
    if not isinstance(found, dict):
        return wanted
    merged = {**found, **wanted}
    for key in ("env", "environment"):
        if isinstance(found.get(key), dict):
            kept = {name: value for name, value in found[key].items() if name != CONFIG_PATH}
            merged[key] = kept | wanted.get(key, {})
    return merged


def _plan_hook(
    client: Client, scope: str, entry: Entry, machine: Machine, files: _Files
) -> list[str]:
    hook = client.hook
    if hook is None:
        return [
            f"{client.label} has no hook that could bring the brief; it gets the short one with "
            "the server's instructions, and the whole with the tool memory_startup."
        ]
    place = hook.place(machine, scope)
    group = _group(client, hook, entry)
    groups = document.find(place.file, files.text(place.file), place.keys)
    groups = [] if groups is None else groups
    if not isinstance(groups, list):
        raise MemoryFault(f"{place.file} keeps its hooks in a form we don't know; edit it by hand")
    ours = [at for at, one in enumerate(groups) if is_our_group(one)]
    if [groups[at] for at in ours] == [group]:
        return []
    for at in reversed(ours):
        files.drop(place, at)
    files.add_group(place, group)
    return [hook.remark] if hook.remark else []


def _group(client: Client, hook: Hook, entry: Entry) -> dict[str, Any]:
    # No matcher: resume, clear and compact lose the brief as well.
    command = hook_command(entry, client.name, hook.max_chars)
    return {"hooks": [{"type": "command", "command": command, "timeout": hook.timeout}]}
