"""With a database that cannot be used, what works by itself ends with the command line's code."""

from pathlib import Path

import pytest

from agents_memory.cli.output import EXIT_DATABASE
from tests.conftest import Pool
from tests.integration.capturers import Machine

PROCESSES = {
    "cold": ["--once"],
    "ingest.backfill": ["claude-code", "--run"],
}


@pytest.mark.parametrize("module", PROCESSES)
async def test_a_missing_database_and_one_without_a_pool_end_with_three(
    empty_pool: Pool, tmp_path: Path, module: str
) -> None:
    """As docs/operations.md says of all commands."""
    machine = Machine(tmp_path, empty_pool.url("memory_hot"))
    machine.say("The heron stood in the shallow water.")
    missing = empty_pool.url("memory_hot").replace(empty_pool.name, f"{empty_pool.name}_not_made")
    for url, told in ((machine.environ["DATABASE_URL"], "is empty"), (missing, "no such database")):
        async with machine.capturer(module, *PROCESSES[module], DATABASE_URL=url) as process:
            output, said = await process.process.communicate()
        assert process.process.returncode == EXIT_DATABASE
        assert output == b""
        assert told in said.decode()
