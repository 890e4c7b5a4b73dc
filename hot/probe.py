"""A real client of this very server: starts it, lists its tools and asks it questions.

python -I -m hot.probe --ask "why did we leave Redis?" --json
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, Implementation, TextContent

from agents_memory import __version__
from agents_memory.domain.text import truncate
from agents_memory.settings.inherited import inherited_environment

SHOWN_CHARS = 200
WITHIN_S = 60.0
SOURCE = ("id", "at", "kind", "role", "platform", "project", "device", "trust", "score")


async def probe(
    questions: Sequence[str], env: Mapping[str, str], *, within_s: float = WITHIN_S
) -> dict[str, Any]:
    """What the server said, in the keys of `--json`; `ok` when every question found something.

    `env` is the environment of the server. Nothing is raised: `error` says what went wrong.
    """
    report: dict[str, Any] = {"ok": False, "error": None, "tools": [], "questions": []}
    server = StdioServerParameters(
        command=sys.executable, args=["-I", "-m", "hot"], env=dict(env), cwd="."
    )
    me = Implementation(name="mcp-agents-memory-probe", version=__version__)
    try:
        async with asyncio.timeout(within_s), Client(server, client_info=me) as client:
            report |= {
                "protocol": client.protocol_version,
                "server": client.server_info and client.server_info.version,
                "instructions_chars": len(client.instructions or ""),
                "tools": [tool.name for tool in (await client.list_tools()).tools],
            }
            for question in questions:
                answer = await client.call_tool("search_memory", {"query": question})
                report["questions"].append({"ask": question, **_sources(answer)})
    except TimeoutError:
        report["error"] = f"no answer within {within_s:g} seconds"
    except (MCPError, OSError, ExceptionGroup) as fault:
        report["error"] = (
            f"the server could not be used ({type(fault).__name__}); see its log above"
        )
    found = all(asked.get("results") for asked in report["questions"])
    report["ok"] = report["error"] is None and found
    return report


def _sources(answer: CallToolResult) -> dict[str, Any]:
    structure: dict[str, Any] = answer.structured_content or {}
    if answer.is_error or not structure.get("ok"):
        said = " ".join(part.text for part in answer.content if isinstance(part, TextContent))
        return {"error": said, "results": []}
    results = [
        {key: item[key] for key in SOURCE if key in item}
        | {"text": truncate(item["text"], SHOWN_CHARS)}
        for item in structure["results"]
    ]
    return {"used": structure["used"], "degraded": structure.get("degraded"), "results": results}


def render(report: Mapping[str, Any]) -> str:
    """The report for a reader."""
    if report["error"]:
        return f"failed: {report['error']}"
    lines = [
        f"server {report['server']}, protocol {report['protocol']}, "
        f"instructions of {report['instructions_chars']} characters",
        f"tools: {', '.join(report['tools'])}",
    ]
    for asked in report["questions"]:
        lines += ["", f"? {asked['ask']}"]
        if "error" in asked:
            lines.append(f"  {asked['error']}")
            continue
        lines.append(f"  {len(asked['results'])} found ({asked['used']})")
        if asked["degraded"]:
            lines.append(f"  degraded: {asked['degraded']}")
        for item in asked["results"]:
            source = " · ".join(str(item[key]) for key in SOURCE[1:] if key in item)
            lines += [f"  [{item['id']}] {source}", f"      {' '.join(item['text'].split())}"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the server answers and every question found something, else 1."""
    parser = argparse.ArgumentParser(prog="hot.probe", description=__doc__.partition("\n")[0])
    parser.add_argument("--ask", action="append", default=[], help="a question; may be repeated")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args(arguments)
    report = asyncio.run(probe(given.ask, inherited_environment()))
    text = json.dumps(report, ensure_ascii=False, indent=2) if given.json else render(report)
    sys.stdout.write(f"{text}\n")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
