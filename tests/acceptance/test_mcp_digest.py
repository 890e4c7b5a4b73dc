"""digest as an agent uses it: over stdio, with a daemon in a process of its own (F59)."""

from pathlib import Path

from tests.acceptance.command_line import on_pool
from tests.acceptance.rpc import Hot
from tests.conftest import Pool
from tests.integration.cold_daemons import daemon

TEXT = """\
# Retro
- Deploys happen on Tuesdays only, after the tide report.
- Mara owns the pager until the end of March.
"""


async def test_a_text_is_digested_by_the_daemon_while_the_call_waits(
    pool: Pool, tmp_path: Path
) -> None:
    line = on_pool(pool, tmp_path)
    agent = Hot({**line.environment, "AGENTS_MEMORY_TOOLSETS": "core,mind"}, line.home)
    async with daemon(pool, tmp_path) as cold:
        await agent.start()
        await cold.said("ready")
        done = await agent.call("digest", text=TEXT, valence=0.2, intensity=0.1)
        assert (done["state"], done["affect"]) == ("done", "given")
        assert [memory["text"] for memory in done["memories"]] == [
            "Retro: Deploys happen on Tuesdays only, after the tide report.",
            "Retro: Mara owns the pager until the end of March.",
        ]
        again = await agent.call("digest", text=TEXT)
        assert [memory["outcome"] for memory in again["memories"]] == ["support", "support"]
        assert [memory["id"] for memory in again["memories"]] == [
            memory["id"] for memory in done["memories"]
        ]
        assert (await agent.call("digest", job_id=done["job_id"]))["state"] == "done"
        assert await agent.stop() == 0
    receipt = line.run("receipt", str(done["job_id"]))
    assert receipt.code == 0, receipt.stderr
    assert "digest" in receipt.stdout
    assert "settled" in receipt.stdout
