"""`.env.example`, rendered from the table of variables."""

import textwrap
from collections.abc import Iterator
from itertools import groupby

from agents_memory.settings.table import VARIABLES
from agents_memory.settings.variables import Group, Variable

HEAD = """\
# Settings of Agents Memory. Nothing here is needed to begin with: every line shows its default.
#
# Copy this file to ~/.config/mcp-agents-memory/.env, make it private (chmod 600), and remove the
# mark in front of what you change. A variable of the environment wins over the file; a .env in
# the working directory is never read. KEY=VALUE, quotes and comments; no interpolation.
"""
WIDTH = 98


def render_env_example() -> str:
    """The text of `.env.example`, which a test keeps equal to the file."""
    parts = [HEAD]
    for group, variables in groupby(VARIABLES, key=lambda variable: variable.group):
        title, intro = group.value
        parts.append(f"\n# ── {title} ".ljust(WIDTH, "─") + "\n" + _comment(intro))
        if group is Group.ACCEPTED:
            parts.extend(_accepted(variables))
        else:
            parts.extend(f"\n{_entry(variable)}" for variable in variables)
    return "".join(parts)


def _entry(variable: Variable) -> str:
    about = variable.about
    if variable.kind.bounds:
        about += f" ({variable.kind.bounds})"
    about += "."
    if variable.unset:
        about += f" Unset: {variable.unset}."
    return f"{_comment(about)}#{variable.name}={variable.default or ''}\n"


def _accepted(variables: Iterator[Variable]) -> Iterator[str]:
    for about, topic in groupby(variables, key=lambda variable: variable.about):
        names = " ".join(variable.name for variable in topic)
        yield "#\n" + _comment(f"{about.partition(': ')[0]}: {names}")


def _comment(text: str) -> str:
    return (
        textwrap.fill(
            text,
            WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
    )
