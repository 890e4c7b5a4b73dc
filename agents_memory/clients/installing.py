"""What installing into a client, or leaving it, would change; and doing it."""

import difflib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_memory.clients import config_file, document
from agents_memory.clients.entry import CONFIG_PATH, Entry
from agents_memory.clients.json_text import APPEND
from agents_memory.clients.known import Client, Hook, Place
from agents_memory.clients.machine import Machine
from agents_memory.domain.errors import MemoryFault
from agents_memory.domain.redaction import redact

# By these words a hook of ours is known again, whatever Python it names.
HOOK_WORDS = ("-m", "agents_memory", "brief", "--hook")

Run = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Edit:
    """One file, before (None: not there) and after."""

    file: Path
    before: str | None
    after: str

    def diff(self) -> str:
        """The change for a person; what looks like a secret nearby is not shown."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            self.after.splitlines(),
            str(self.file),
            str(self.file),
            lineterm="",
            n=2,
        )
        return redact("\n".join(lines)).text


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: the client's own commands first, then the files as they shall be."""

    client: Client
    commands: list[list[str]]
    edits: list[Edit]
    remarks: list[str] = field(default_factory=list)

    @property
    def nothing_to_do(self) -> bool:
        """Whether all is already as it shall be."""
        return not self.edits


def plan_install(
    client: Client, scope: str, entry: Entry, machine: Machine, *, with_brief: bool
) -> Plan:
    """How `client` comes to start our server. Raises MemoryFault (a file that we can't change)."""
    place = client.places[scope](machine)
    files = _Files()
    found = document.find(place.file, files.text(place.file), place.keys)
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


def plan_removal(client: Client, scope: str, machine: Machine) -> Plan:
    """How `client` forgets our server and our hook. Raises MemoryFault."""
    place = client.places[scope](machine)
    files = _Files()
    commands: list[list[str]] = []
    if document.find(place.file, files.text(place.file), place.keys) is not None:
        if client.own_removal is not None and (command := client.own_removal(scope)):
            commands = [command]
        files.drop(place.file, place.keys)
    if client.hook is not None:
        _drop_hooks(client.hook.place(machine, scope), files)
    return Plan(client, commands, files.edits())


def carry_out(plan: Plan, run: Run, now: datetime) -> list[Path]:
    """Do it; the copies of the files that were replaced. Raises MemoryFault.

    `run` runs a command and says whether there is such a program and it succeeded. Whatever a
    client's own command did, the files are made what the plan says.
    """
    used_own = False
    for command in plan.commands:
        used_own = run(command) or used_own
    copies = []
    for edit in plan.edits:
        before, after = edit.before, edit.after
        if used_own:
            before = config_file.load(edit.file)
            after = _again(plan, edit, before)
        if before != after:
            copies.append(config_file.replace(edit.file, before, after, now))
    return [copy for copy in copies if copy is not None]


def hook_command(entry: Entry, client: str, max_chars: int) -> str:
    """The line that a client's shell runs at the start of a session."""
    given = [f"{CONFIG_PATH}={value}" for name, value in entry.env.items() if name == CONFIG_PATH]
    words = ["env", *given] if given else []
    words += [entry.command, "-I", *HOOK_WORDS, "--client", client, "--max-chars", str(max_chars)]
    return shlex.join(words)


def is_our_hook(command: object) -> bool:
    """Whether a hook's command line is ours, of this or another installation."""
    return isinstance(command, str) and " ".join(HOOK_WORDS) in command


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

    def drop(self, file: Path, keys: Sequence[str | int]) -> None:
        self._after[file] = document.without_member(file, self.text(file), keys)

    def edits(self) -> list[Edit]:
        return [
            Edit(file, before, self._after[file])
            for file, before in self._before.items()
            if (before or "") != self._after[file]
        ]


def _again(plan: Plan, edit: Edit, now_there: str | None) -> str:
    """What `edit` meant, on top of what the client's own command has made of the file."""
    if now_there is None or now_there == edit.before:
        return edit.after
    meant = document.find(edit.file, edit.after, ())
    text = now_there
    for keys, value in _differences(document.find(edit.file, edit.before or "", ()) or {}, meant):
        if value is _GONE:
            if _present(document.find(edit.file, text, ()), keys):
                text = document.without_member(edit.file, text, keys)
        elif not _holds(document.find(edit.file, text, keys), value):
            text = document.with_member(edit.file, text, keys, value)
    return text


_GONE = object()


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], at: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key, _GONE), after.get(key, _GONE)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _differences(old, new, (*at, key))
        elif old != new:
            found.append(((*at, key), new))
    return found


def _holds(found: Any, wanted: Any) -> bool:
    """Whether `found` is `wanted`, give or take what a client writes into every entry."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(found.get(key) == value for key, value in wanted.items())
    return bool(found == wanted)


def _present(value: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


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
    if isinstance(groups, list) and [one for one in groups if _is_ours(one)] == [group]:
        return []
    _drop_hooks(place, files)
    groups = document.find(place.file, files.text(place.file), place.keys)
    if isinstance(groups, list):
        files.put(Place(place.file, (*place.keys, APPEND)), group)
    else:
        files.put(place, [group])
    return [hook.remark] if hook.remark else []


def _group(client: Client, hook: Hook, entry: Entry) -> dict[str, Any]:
    # No matcher: resume, clear and compact lose the brief as well.
    command = hook_command(entry, client.name, hook.max_chars)
    return {"hooks": [{"type": "command", "command": command, "timeout": hook.timeout}]}


def _drop_hooks(place: Place, files: _Files) -> None:
    groups = document.find(place.file, files.text(place.file), place.keys)
    if groups is None:
        return
    if not isinstance(groups, list):
        raise MemoryFault(f"{place.file} keeps its hooks in a form we don't know; edit it by hand")
    for at in reversed(range(len(groups))):
        if _is_ours(groups[at]):
            files.drop(place.file, (*place.keys, at))


def _is_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(
        is_our_hook(one.get("command")) for one in hooks if isinstance(one, dict)
    )
