"""Real questions to real models, in this process and over HTTP: form is kept, whatever they say."""

from pathlib import Path

import pytest

from agents_memory.storage.connections import Database
from tests.local.small_models import CONTEXT, check, rates, smollm2, tiny

pytestmark = [pytest.mark.local, pytest.mark.timeout(900)]

BACKENDS = ("llama_cpp", "openai_compatible")
CALLS, FEW_CALLS = 20, 2


@pytest.mark.parametrize("backend", BACKENDS)
async def test_every_answer_of_the_tiny_model_is_valid_or_a_counted_failure(
    cold_database: Database, tmp_path: Path, backend: str
) -> None:
    found = await rates(
        cold_database, backend, tiny(tmp_path), context=CONTEXT, calls=CALLS, max_tokens=2048
    )
    check(found, CALLS)
    # The grammar leaves it no other form.
    assert all(one.misshapen == 0 for one in found.values())
    assert all(one.valid >= CALLS // 2 for one in found.values())


@pytest.mark.parametrize("backend", BACKENDS)
async def test_every_answer_of_smollm2_is_valid_or_a_counted_failure(
    cold_database: Database, backend: str
) -> None:
    """Of 135 million parameters: it can write, and knows little."""
    found = await rates(
        cold_database, backend, smollm2(), context=4096, calls=FEW_CALLS, max_tokens=384
    )
    check(found, FEW_CALLS)
    assert sum(one.valid for one in found.values()) > 0
