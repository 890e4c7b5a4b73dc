"""`.env.example` is rendered from the table of settings, and is a file of settings itself."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from agents_memory.settings import VARIABLES, Group, Settings
from agents_memory.settings.example import render_env_example

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def example() -> str:
    return (ROOT / ".env.example").read_text("utf-8")


def test_the_example_is_what_the_table_renders(example: str) -> None:
    """Renew it with: python -m agents_memory.settings > .env.example"""
    assert example == render_env_example()


def test_every_variable_is_in_the_example_once(example: str) -> None:
    settable = re.findall(r"^#([A-Z_]+)=", example, re.MULTILINE)
    used = [v.name for v in VARIABLES if v.group is not Group.ACCEPTED]
    assert settable == used
    accepted = [v.name for v in VARIABLES if v.group is Group.ACCEPTED]
    assert [name for name in accepted if not re.search(rf"\b{name}\b", example)] == []


def test_names_and_misnomers_are_unique() -> None:
    names = [name for v in VARIABLES for name in (v.name, *v.misnomers)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("uncommented", [False, True])
def test_the_example_as_it_is_and_with_every_line_in_force_sets_the_defaults(
    tmp_path: Path, uncommented: bool
) -> None:
    path = tmp_path / ".config/mcp-agents-memory/.env"
    path.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / ".env.example", path)
    if uncommented:
        named = "#MEMORY_CONFIG_PATH="
        text = path.read_text("utf-8").replace(named, "# ")
        path.write_text(re.sub(r"^#([A-Z_]+=)", r"\1", text, flags=re.MULTILINE), "utf-8")
    path.chmod(0o600)
    settings = Settings.load({}, home=tmp_path)
    path.unlink()
    defaults = Settings.load({}, home=tmp_path)
    for variable in VARIABLES:
        if variable.field not in (None, "config_path"):
            assert getattr(settings, variable.field) == getattr(defaults, variable.field)


def test_lines_fit_a_screen(example: str) -> None:
    assert [line for line in example.splitlines() if len(line) > 100] == []


def test_the_environment_is_read_in_one_place() -> None:
    """Everything else is given its settings; a child's environment is passed on explicitly."""
    readers = {
        path.relative_to(ROOT).parent.as_posix()
        for package in ("agents_memory", "hot", "cold", "ingest")
        for path in (ROOT / package).rglob("*.py")
        if _reads_environment(ast.parse(path.read_text("utf-8")))
    }
    assert readers == {"agents_memory/settings"}


def _reads_environment(tree: ast.Module) -> bool:
    words = {"environ", "environb", "getenv", "getenvb"}
    return any(
        (isinstance(node, ast.Attribute) and node.attr in words and ast.unparse(node.value) == "os")
        or (isinstance(node, ast.ImportFrom) and words & {name.name for name in node.names})
        for node in ast.walk(tree)
    )
