"""Asking questions as an editor's agent does: a server started over stdio, and its search tool."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agents_memory.cli.running import finished, module_command
from agents_memory.domain.errors import MemoryFault

ANSWERS_WITHIN_S = 180.0
SOURCES_SHOWN = 3


async def ask(questions: Sequence[str]) -> dict[str, Any]:
    """What `hot.probe --json` reports: `tools`, `server`, and for each of `questions` its results.

    Raises MemoryFault when no server answers.
    """
    asked = [word for question in questions for word in ("--ask", question)]
    end = await finished(module_command("hot.probe", "--json", *asked), within_s=ANSWERS_WITHIN_S)
    if end is None:
        raise MemoryFault(
            f"no answer over MCP within {ANSWERS_WITHIN_S:.0f} seconds; "
            "run `mcp-agents-memory doctor`"
        )
    try:
        report: dict[str, Any] = json.loads(end.stdout)
        error = report["error"]
    except (ValueError, KeyError, TypeError):
        error = f"the client ended with code {end.code}"
    if error:
        said = end.stderr.decode("utf-8", "replace").strip()[-1500:]
        raise MemoryFault(f"{error}; it said last:\n{said}\nRun `mcp-agents-memory doctor`.")
    return report


def unanswered(report: Mapping[str, Any]) -> list[str]:
    """The questions for which nothing was found."""
    return [asked["ask"] for asked in report["questions"] if not asked["results"]]


def render_answers(report: Mapping[str, Any]) -> str:
    """Each question with the best sources that were found for it."""
    lines = [f"server     {len(report['tools'])} tools over MCP: {', '.join(report['tools'])}"]
    for asked in report["questions"]:
        lines += ["", f"? {asked['ask']}"]
        if "error" in asked:
            lines.append(f"  error: {asked['error']}")
            continue
        lines.append(f"  {len(asked['results'])} found, searched: {asked['used']}")
        if asked["degraded"]:
            lines.append(f"  degraded: {asked['degraded']}")
        for item in asked["results"][:SOURCES_SHOWN]:
            lines += [f"  {_source(item)}", f"      {' '.join(item['text'].split())}"]
    return "\n".join(lines)


def _source(item: Mapping[str, Any]) -> str:
    moment = str(item["at"])[:16].replace("T", " ")
    named = (item.get(key) for key in ("role", "project", "platform", "device"))
    return " · ".join([f"[{item['id']}] {moment}", *filter(None, named), f"trust {item['trust']}"])
