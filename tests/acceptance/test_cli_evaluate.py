"""`evaluate`, as a user runs it."""

import asyncio
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agents_memory.domain.activation import INFERRED, TRACE_WEIGHTS, USED
from agents_memory.evaluation.store import TRACE_KINDS
from agents_memory.evaluation.synthetic import generate
from agents_memory.storage import users
from agents_memory.storage.connections import Database
from tests.acceptance.command_line import CommandLine, on_pool
from tests.conftest import Pool

SCORES = {"activation", "exponential", "recency", "frequency", "exposure"}
MEMORIES = """\
INSERT INTO memories (user_id, subject, content, content_key, kind, importance, valence, intensity,
    trust, lexemes, lexeme_count)
SELECT $1, 'test', 'memory ' || n, sha256(convert_to(n::text, 'UTF8')), kind, importance, valence,
    intensity, 'agent', '', 0
FROM unnest($2::text[], $3::int[], $4::float8[], $5::float8[])
    WITH ORDINALITY AS made (kind, importance, valence, intensity, n) ORDER BY n
RETURNING id"""
TRACES = """\
INSERT INTO traces (item_id, kind, weight, inferred, hour, at)
SELECT item_id, kind, weight, inferred, n, now() + make_interval(secs => (day - 120) * 86400)
FROM unnest($1::bigint[], $2::text[], $3::real[], $4::boolean[], $5::float8[])
    WITH ORDINALITY AS made (item_id, kind, weight, inferred, day, n)"""


async def _fill(database: Database) -> None:
    """The pool lives through 120 days of a made-up store."""
    store = generate(1, items=600, days=120).store
    user_id = await database.run(lambda connection: users.ensure_user(connection, "mara"))
    kinds = [TRACE_KINDS[kind] for kind in store.trace_kind]
    async with database.acquire() as connection:
        rows = await connection.fetch(
            MEMORIES,
            user_id,
            list(store.kinds),
            [int(value) for value in store.importance],
            store.valence.tolist(),
            store.intensity.tolist(),
        )
        await connection.execute(
            TRACES,
            [rows[item]["id"] for item in store.trace_item],
            [USED if kind == INFERRED else kind for kind in kinds],
            [TRACE_WEIGHTS[kind] for kind in kinds],
            [kind == INFERRED for kind in kinds],
            store.trace_at.tolist(),
        )


def _ordered(estimate: dict[str, Any]) -> bool:
    return bool(0.0 <= estimate["low"] <= estimate["mean"] <= estimate["high"] <= 1.0)


def test_made_up_stores_need_no_pool(tmp_path: Path) -> None:
    """F27, F117: one object with means and intervals, of stores with and without structure."""
    ended = CommandLine(tmp_path).run("evaluate", "--synthetic", "--seeds", "3", "--json")
    assert ended.code == 0, ended.stderr
    told = ended.json
    assert told["seeds"] == 3
    for auc in (told["auc"], told["structureless"]["auc"]):
        assert set(auc) >= SCORES | {"oracle"}
        assert all(map(_ordered, auc.values()))
    assert told["auc"]["activation"]["mean"] > 0.75
    assert abs(told["structureless"]["auc"]["activation"]["mean"] - 0.5) < 0.04
    assert set(told["adds"]) >= {"decay", "use", "affect", "mood", "inferred_use"}
    assert "activation - exponential" in told["gaps"]
    assert told["suggestion"]["applied"] is False
    assert not list(tmp_path.rglob("*.svg"))


async def test_a_pool_is_measured_and_drawn(
    pool: Pool, owner_database: Database, tmp_path: Path
) -> None:
    """F27: its own traces, the window that was seen, intervals, and a private picture."""
    await _fill(owner_database)
    line = on_pool(pool, tmp_path)
    arguments = ("evaluate", "--horizon", "30", "--plot", "auc.svg")
    ended = await asyncio.to_thread(line.run, *arguments, "--json")
    assert ended.code == 0, ended.stderr
    told = ended.json
    assert told["enough"] is True
    assert told["window"]["items"] == 600
    assert told["window"]["holdout_at"] < told["window"]["until"]
    assert set(told["auc"]) >= SCORES
    assert "oracle" not in told["auc"]
    assert all(map(_ordered, told["auc"].values()))
    assert told["auc"]["activation"]["low"] > 0.5
    assert told["suggestion"]["applied"] is False
    drawn = tmp_path / "auc.svg"
    assert stat.S_IMODE(drawn.stat().st_mode) == 0o600
    assert "activation" in drawn.read_text()
    assert ElementTree.parse(drawn).getroot().tag.endswith("svg")
    shown = await asyncio.to_thread(line.run, *arguments)
    assert "held out from" in shown.stdout
    assert "never applied" in shown.stdout


async def test_a_young_pool_is_told_that_there_is_too_little(pool: Pool, tmp_path: Path) -> None:
    """F27: no number that means nothing; nothing failed either."""
    line = on_pool(pool, tmp_path)
    ended = await asyncio.to_thread(line.run, "evaluate", "--json")
    assert ended.code == 0, ended.stderr
    assert ended.json["enough"] is False
    assert "no traces yet" in ended.json["why"]
    shown = await asyncio.to_thread(line.run, "evaluate")
    assert shown.stdout.startswith("too little data: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--synthetic", "--horizon", "7"], "--horizon is for a pool"),
        (["--seeds", "5"], "add --synthetic"),
        (["--synthetic", "--seeds", "2"], "--seeds"),
        (["--synthetic", "--plot", "auc.png"], ".svg"),
        (["--synthetic", "--plot", "nowhere/auc.svg"], "there is no folder"),
    ],
)
def test_what_cannot_be_is_a_usage_error(tmp_path: Path, arguments: list[str], said: str) -> None:
    ended = CommandLine(tmp_path).run("evaluate", *arguments)
    assert ended.code == 2
    assert said in ended.stderr
    assert ended.stdout == ""
