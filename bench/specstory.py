"""Chats of real people with coding agents, as SpecStory writes them down in Markdown.

An archive holds a file a session, at times several copies of one. The questions about them are in
`specstory_questions.toml`; the chats themselves are not ours to give away.
"""

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agents_memory.domain.text import is_blank
from ingest.transcripts.claude_code_lines import without_wrappers

_SESSION = re.compile(r"^<!-- .* Session ([0-9a-f-]{36}) \(", re.M)
_HEADER = re.compile(
    r"_\*\*(User|Agent)(?P<aside> - sidechain)? \((?:\S+ )?"
    r"(?P<day>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d:\d\d)(?:\.\d+)?Z\)\*\*_"
)
# What is between these lines is no prose: what a tool was asked and answered, and thoughts.
_LEFT_OUT = (
    ("<tool-use ", "</details></tool-use>"),
    ("<think>", "</details></think>"),
)
_COMMAND = "<command-name>"
_SKILL = 'data-tool-name="Skill"'
_RULE = re.compile(r"(?:^|\n)---\s*$")


@dataclass(frozen=True, slots=True)
class Said:
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class _Block:
    """A header, the prose below it, and whether the next block is what a command consists of."""

    header: re.Match[str]
    prose: str
    commands: bool


def read(path: Path) -> dict[str, list[Said]]:
    """Session id → its turns; the longest copy of each session, without those that have none."""
    copies: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None or not member.name.endswith(".md"):
                continue
            text = file.read().decode()
            if session := _SESSION.search(text):
                copies[session[1]] = max(copies.get(session[1], ""), text, key=len)
    sessions = {name: list(_turns(text)) for name, text in copies.items()}
    return {name: turns for name, turns in sessions.items() if turns}


def _turns(text: str) -> Iterator[Said]:
    """Every block with words of its own, as capture takes it.

    Sub-agents are other conversations, and the prompt behind a command is nobody's words.
    """
    commanded = False
    for block in _blocks(text):
        header = block.header
        words = _RULE.sub("", without_wrappers(block.prose)[0]).strip()
        is_command = commanded and header[1] == "User"
        commanded = block.commands
        if not is_command and not header["aside"] and not is_blank(words):
            moment = datetime.fromisoformat(f"{header['day']}T{header['time']}")
            yield Said(header[1], words, moment.replace(tzinfo=UTC))


def _blocks(text: str) -> Iterator[_Block]:
    """Blocks in their order; what looks like a header in the output of a tool is none."""
    header, lines, skill, end = None, list[str](), False, None
    for line in text.split("\n"):
        if end is not None:
            end = None if line.endswith(end) else end
        elif found := _HEADER.fullmatch(line):
            if header is not None:
                yield _block(header, lines, skill)
            header, lines, skill = found, [], False
        elif end := _closing(line):
            skill |= _SKILL in line
            end = None if line.endswith(end) else end
        else:
            lines.append(line)
    if header is not None:
        yield _block(header, lines, skill)


def _block(header: re.Match[str], lines: list[str], skill: bool) -> _Block:
    prose = "\n".join(lines)
    return _Block(header, prose, skill or _COMMAND in prose)


def _closing(line: str) -> str | None:
    """What ends the part that this line begins, where that is left out."""
    return next((close for opening, close in _LEFT_OUT if line.startswith(opening)), None)
