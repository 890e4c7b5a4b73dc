"""Writes the schemas of all tools: `python -m hot.published > hot/schemas.json`."""

import json
import sys
from pathlib import Path

from agents_memory.settings.table import TOOLSETS, Settings
from hot.app import compose
from hot.schemas import Schemas
from hot.server import tools_of
from hot.toolkit import StrictTool


def schemas() -> dict[str, Schemas]:
    """What follows from the code of every tool, by name."""
    # Without the settings of whoever runs it.
    settings = Settings.load({"AGENTS_MEMORY_TOOLSETS": ",".join(TOOLSETS)}, home=Path("/"))
    app = compose(settings)
    return {tool.name: tool.generated() for tool in tools_of(app) if isinstance(tool, StrictTool)}


def render_schemas() -> str:
    """The file, a line a tool."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}"
        for name, found in schemas().items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(render_schemas())
