"""F92: hash embeddings only where they are allowed, the same everywhere, spelling only."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.hashing import encode
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import HASHING
from agents_memory.embedding.unit import unit

TEXT = "The bridge was closed. 다리는 닫혔어요. 桥关了。 🌉"
HASH_IN_ANOTHER_PROCESS = """
import hashlib, sys
from agents_memory.embedding.hashing import encode
print(hashlib.sha256(encode(sys.argv[1]).tobytes()).hexdigest())
"""


@pytest.mark.parametrize("name", ["hashing", HASHING.id])
def test_hashing_is_refused_unless_it_is_allowed(name: str) -> None:
    """F92."""
    with pytest.raises(ConfigurationError) as refused:
        open_embedder(name)
    assert "AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS=1" in str(refused.value)
    assert "spelling only" in str(refused.value)


async def test_an_allowed_embedder_answers_unit_vectors() -> None:
    """F92."""
    embedder = open_embedder("hashing", allow_hashing=True)
    assert embedder.profile is HASHING
    vectors = await embedder.embed([TEXT, "", "\0\ud800", "x" * 1_000_000])
    assert [vector.shape for vector in vectors] == [(256,)] * 4
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(vectors[0], await embedder.embed_query(TEXT))
    await embedder.close()


def test_processes_with_other_hash_seeds_make_the_same_vector() -> None:
    """F92."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", HASH_IN_ANOTHER_PROCESS, TEXT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert printed == [hashlib.sha256(encode(TEXT).tobytes()).hexdigest()] * 2


@pytest.mark.parametrize(
    ("text", "misspelt", "synonym"),
    [
        ("cancelled subscription", "canceled subscriptions", "stopped paying monthly"),
        ("Überweisung fehlgeschlagen", "überweisungen fehlgeschlagen", "Zahlung klappte nicht"),
        ("집주인이 월세를 올렸어요", "집주인은 월세 올렸어요", "주거비가 늘었다"),
        ("房东把房租涨了", "房东又把房租涨了", "居住开销更高"),
    ],
)
def test_spelling_is_matched_and_meaning_is_not(text: str, misspelt: str, synonym: str) -> None:
    one, near, far = (unit(encode(each), HASHING) for each in (text, misspelt, synonym))
    assert HASHING.calibration(float(one @ near)) > 0.3
    assert HASHING.calibration(float(one @ far)) < 0.1


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_has_a_direction(text: str) -> None:
    assert np.linalg.norm(unit(encode(text), HASHING)) == pytest.approx(1.0, abs=1e-5)
