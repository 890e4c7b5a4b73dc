"""The schemas that lie ready, and what they were made from."""

from pathlib import Path

import pytest

from agents_memory.settings.table import TOOLSETS
from hot import schemas
from hot.published import render_schemas
from hot.server import tools_of
from hot.toolkit import StrictTool
from tests.unit.hot.conftest import House

FILE = Path(schemas.__file__).with_name("schemas.json")


def test_the_file_of_schemas_is_what_the_code_says() -> None:
    """Renew it with: python -m hot.published > hot/schemas.json"""
    assert FILE.read_text("utf-8") == render_schemas()


async def test_a_start_builds_no_model_of_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is published lies ready for every tool; the first call makes what checks it."""

    def refuse(*_: object) -> None:
        raise AssertionError("the schemas lie ready")

    monkeypatch.setattr("hot.toolkit.generated", refuse)
    monkeypatch.setattr("hot.toolkit.func_metadata", refuse)
    app = House(None, tmp_path, "auto").app(toolsets=TOOLSETS)
    tools = tools_of(app)
    assert {tool.name for tool in tools} == schemas.published().keys()
    assert all(isinstance(tool, StrictTool) for tool in tools)
    await app.close()
