"""Reading settings: environment over file, unknown and misspelt names refused, all at once."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import dotenv
from agents_memory.settings.surroundings import Surroundings
from agents_memory.settings.values import FLAG, LONGEST_VALUE, PATH, Wrong
from agents_memory.settings.variables import Group, Variable

CONFIG_PATH = "MEMORY_CONFIG_PATH"
IGNORE_ENV = "AGENTS_MEMORY_IGNORE_ENV"
# Nobody else's names begin like this, so an unknown one is ours, misspelt. DB_ is not among them:
# half of all programs use it.
PREFIXES = (
    "AGENTS_MEMORY_",
    "ARCHIVE_AFTER_",
    "COLD_DATABASE_",
    "COLD_PATH_",
    "EMBEDDED_LINGER",
    "INSTRUCTIONS_MAX_",
    "MEMORY_CONFIG",
    "MEMORY_DATA",
    "OWNER_DATABASE_",
    "SEARCH_EMBED_",
    "SEARCH_FALLBACK_",
    "SHORT_TERM_",
)
# Close to a name of ours, and well known to be another's (login shells, Debian, coding agents).
FOREIGN = frozenset({"USERNAME", "TIMEZONE", "AGENT_MODE"})
# Everybody's names: OPENAI_API_KEY_2 is another key, and no mistake.
COMMON = frozenset({"OPENAI_API_KEY", "XAI_API_KEY"})
# How alike a name in the environment must be to count as ours misspelt (difflib's ratio):
# one letter changed, lost or doubled in ten. In our own file and under our prefixes a looser
# likeness is enough for a suggestion, since the name is wrong anyhow.
MISSPELT = 0.9
# DB_ and three to five letters: one of them wrong is less alike than that.
MISSPELT_SHORT = 0.8
SUGGESTED = 0.7
_PLACEHOLDER = re.compile(r"\$\{.*\}")


class Given(NamedTuple):
    """A value as it was written, and where."""

    value: str
    origin: str
    hint: str = ""

    def __repr__(self) -> str:
        return f"Given({self.origin})"


def read(variables: Sequence[Variable], here: Surroundings) -> tuple[dict[str, Any], list[str]]:
    """The value of every field, and notes for the owner.

    Raises ConfigurationError, one line for each thing that is wrong.
    """
    notes: list[str] = []
    known = {variable.name: variable for variable in variables}
    path = _config_file(here)
    lines = dotenv.parse(dotenv.read_private(path), path) if path else []
    file = _meant({line.name: line.value for line in lines}, known, str(path), notes)
    ignored = here.environ.get(IGNORE_ENV) or file.get(IGNORE_ENV, "")
    foreign = {name.strip() for name in ignored.split(",")}
    environ = _meant(
        {name: value for name, value in here.environ.items() if name not in foreign},
        known,
        "the environment",
        notes,
    )
    given = {
        line.name: Given(file[line.name], f"line {line.number} of {path}")
        for line in lines
        if line.name in file
    }
    given |= {
        name: Given(environ[name], "the environment", _hint(name))
        for name in known
        if name in environ
    }
    problems = [
        *_unknown_in_file(lines, known, path),
        *_unknown_in_environment(environ, known, given),
        *_tunnel(given),
    ]
    values: dict[str, Any] = {}
    for variable in variables:
        if variable.field is None:
            continue
        try:
            values[variable.field] = _value(variable, given.get(variable.name), here)
        except Wrong as wrong:
            problems.append(str(wrong))
    if problems:
        raise ConfigurationError("\n".join(problems))
    return values | {"config_path": path}, notes


def _meant(
    written: Mapping[str, str], known: Mapping[str, Variable], origin: str, notes: list[str]
) -> dict[str, str]:
    """What counts as set: not the empty string, nor a reference that an editor left unexpanded."""
    meant = {}
    for name, value in written.items():
        if name in known and _PLACEHOLDER.fullmatch(value.strip()):
            notes.append(
                f"{name} came from {origin} as an unexpanded ${{…}} reference and counts as unset; "
                "define what it refers to, or remove it."
            )
        elif value.strip():
            meant[name] = value
    return meant


def _config_file(here: Surroundings) -> Path | None:
    named = here.environ.get(CONFIG_PATH, "").strip()
    if not named or _PLACEHOLDER.fullmatch(named):
        usual = here.config_file()
        try:
            usual.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            # Something is there; reading it says what is wrong with it.
            return usual
        return usual
    try:
        path = here.expand(Path(str(PATH.read(_legal(named)))))
    except Wrong as wrong:
        raise ConfigurationError(f"{CONFIG_PATH} must be {PATH.expects}: {wrong}") from None
    if not path.exists():
        raise ConfigurationError(
            f"{CONFIG_PATH} names {path}, which is not there; create it, or unset {CONFIG_PATH}"
        )
    return path


def _value(variable: Variable, given: Given | None, here: Surroundings) -> object:
    if given is None:
        return variable.default_in(here)
    try:
        raw = _legal(given.value)
        value = variable.kind.read(raw if variable.kind.secret else raw.strip())
    except Wrong as wrong:
        mend = f"write {variable.name}={variable.default}" if variable.default else "correct it"
        detail = f": {wrong}" if str(wrong) else ""
        raise Wrong(
            f"{variable.name} must be {variable.kind.expects}{detail}. "
            f"It is set in {given.origin}; {mend}, or remove it{given.hint}"
        ) from None
    return here.expand(value) if isinstance(value, Path) else value


def _legal(raw: str) -> str:
    if len(raw) > LONGEST_VALUE:
        raise Wrong(f"it is longer than {LONGEST_VALUE} characters")
    if re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", raw):
        raise Wrong("it holds a control character, or bytes that are not UTF-8")
    return raw


def _hint(name: str) -> str:
    if name.startswith(PREFIXES):
        return ""
    return f" ({IGNORE_ENV}={name} if it belongs to another program)"


def _unknown_in_file(
    lines: Iterable[dotenv.Line], known: Mapping[str, Variable], path: Path | None
) -> Iterator[str]:
    for line in lines:
        if line.name == CONFIG_PATH:
            yield f"line {line.number} of {path} sets {CONFIG_PATH}, which only the environment can"
        elif line.name not in known:
            # A secret pasted without its name may look like a name; ours are upper case.
            shown = line.name if re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", line.name) else "a name"
            yield (
                f"line {line.number} of {path} sets {shown}, which is no setting; "
                f"{_suggestion(line.name, known) or 'remove the line'}"
            )


def _unknown_in_environment(
    environ: Mapping[str, str], known: Mapping[str, Variable], given: Mapping[str, Given]
) -> Iterator[str]:
    # LOGLEVEL and its kin are everybody's, and the names without effect do no harm.
    unset = {
        name: variable
        for name, variable in known.items()
        if name not in given
        and name not in COMMON
        and variable.group not in (Group.ACCEPTED, Group.LOGGING)
    }
    misnomers = {wrong: name for name, variable in unset.items() for wrong in variable.misnomers}
    letters = {name: frozenset(name) for name in unset}
    for name in environ:
        if name in known or name in FOREIGN:
            continue
        if name.startswith(PREFIXES):
            suggestion = _suggestion(name, known) or "remove it"
        elif name in misnomers or _misspelt(name.upper(), letters):
            suggestion = _suggestion(name, unset)
        else:
            continue
        shown = name if re.fullmatch(r"\w{1,64}", name, re.ASCII) else ascii(name[:64])
        yield (
            f"{shown} in the environment is no setting; {suggestion} "
            f"({IGNORE_ENV}={shown} if it belongs to another program)"
        )


def _misspelt(name: str, unset: Mapping[str, Set[str]]) -> bool:
    """Whether a name is like one of those that are not set, which are given with their letters."""
    likeness = MISSPELT_SHORT if name.startswith("DB_") else MISSPELT
    letters, size = set(name), len(name)
    # What two names so alike may differ by, be it in length or in letters that only one has.
    most = math.ceil(2 * size * (1 / likeness - 1))
    near = [
        other
        for other, theirs in unset.items()
        if abs(size - len(other)) <= most and len(letters ^ theirs) <= most
    ]
    return bool(near) and bool(_closest(name, near, likeness))


def _closest(name: str, names: Iterable[str], likeness: float) -> list[str]:
    """The one of `names` that is most like `name`, if any is like it."""
    # Here, as few environments hold a name that is at all like one of ours.
    from difflib import get_close_matches

    return get_close_matches(name, list(names), 1, likeness)


def _suggestion(name: str, known: Mapping[str, Variable]) -> str:
    for variable in known.values():
        if name.upper() in variable.misnomers:
            return f"write {variable.name}"
    close = _closest(name.upper(), known, SUGGESTED)
    return f"did you mean {close[0]}?" if close else ""


def _tunnel(given: Mapping[str, Given]) -> Iterator[str]:
    """A host meant for the far end of a tunnel would be another database on this end."""
    enabled = given.get("SSH_ENABLED")
    try:
        if enabled and FLAG.read(enabled.value.strip()):
            yield (
                "SSH_ENABLED is true, but this version opens no tunnel; run ssh -L yourself, "
                "point DB_HOST and DB_PORT at its near end, and set SSH_ENABLED=false"
            )
    except Wrong:
        return
