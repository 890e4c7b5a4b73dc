"""From a conversation on disk to receipts that name the model which filed it."""

from pathlib import Path

import pytest

from agents_memory.services.receipts import Receipt, Receipts, StageState
from agents_memory.storage.connections import Database
from tests.acceptance.command_line import on_pool
from tests.conftest import Pool
from tests.integration.cold_daemons import daemon, query
from tests.local.small_models import CONTEXT, tiny

pytestmark = pytest.mark.local

CONVERSATION = "2026-09-16-harbor-queue.jsonl"
TRIES = 3


async def test_a_model_in_the_daemon_files_an_imported_conversation(
    pool: Pool, cold_database: Database, tmp_path: Path, repository: Path
) -> None:
    """F64, F71, F88, F104: import, daemon, llama.cpp, receipts."""
    source = repository / "examples" / "conversations" / CONVERSATION
    ended = on_pool(pool, tmp_path).run("message", "import", str(source), "--json")
    assert ended.code == 0, ended.stderr
    ids = [row["id"] for row in await query(cold_database, "SELECT id FROM messages ORDER BY id")]
    assert len(ids) == ended.json["stored"] > 5
    told = {"LOCAL_LLM_MODEL_PATH": str(tiny(tmp_path)), "LOCAL_LLM_CONTEXT": str(CONTEXT)}
    for _ in range(TRIES):
        async with daemon(pool, tmp_path, "--once", **told) as running:
            assert await running.ended() in (0, 4)
        # What the guard refused is asked about again a minute later.
        await query(cold_database, "UPDATE work SET run_after = now() RETURNING 1")
    by_model = 0
    for item in ids:
        receipt = await Receipts(cold_database).receipt(item)
        assert isinstance(receipt, Receipt)
        [stage] = [one for one in receipt.stages if one.stage == "tag"]
        assert stage.state is StageState.SETTLED
        [settled] = stage.settled
        assert settled.backend in ("local:tiny.gguf", "rules")
        by_model += settled.backend == "local:tiny.gguf"
    assert by_model >= len(ids) * 3 // 4
